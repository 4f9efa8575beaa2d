import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

/// The patient, otherwise the lesion, otherwise the image; what is connected is one unit.
@Suite struct ChanceUnitTests {
  typealias Row = ChanceUnit.Row

  private func units(_ rows: (image: String, lesion: String?, patient: String?)...) -> ChanceUnits {
    ChanceUnits(rows.map { Row(image: $0.image, lesion: $0.lesion, patient: $0.patient) })
  }

  @Test func theLargestUnitThatARowNamesIsDrawn() {
    let found = units(
      ("a", "L1", "P1"), ("b", "L2", nil), ("c", nil, nil), ("d", "L3", "P1"), ("e", "L2", nil))
    #expect(
      found.ofEach == [
        ChanceUnit(.patients, "P1"), ChanceUnit(.lesions, "L2"), ChanceUnit(.images, "c"),
        ChanceUnit(.patients, "P1"), ChanceUnit(.lesions, "L2"),
      ])
    #expect(NameGroups(found.ofEach).count == 3)
    #expect(ChanceUnit.drawn(found.ofEach) == .patients)
    #expect(ChanceUnit.words(found.ofEach) == "patients, and lesions or images where none is named")
    #expect(ChanceUnit.drawn(Array(found.ofEach[1...2])) == .lesions)
    #expect(ChanceUnit.words(Array(found.ofEach[1...2])) == "lesions, and images where none is named")
    #expect(ChanceUnit.words([found.ofEach[2]]) == "images")
  }

  /// A photograph of the lesion without the patient's name belongs to the patient all the same.
  @Test func aLesionWhosePatientIsNamedOnceIsThePatients() {
    let found = units(("a", "L1", nil), ("b", "L1", "P1"), ("c", "L2", "P1"))
    #expect(found.ofEach == Array(repeating: ChanceUnit(.patients, "P1"), count: 3))
    #expect(found.sharedLesions.isEmpty)
  }

  /// P1 and P2 share L2, and P2 and P3 share L3: all their images depend on each other. P4 stays alone.
  @Test func patientsThatShareALesionAreOneUnitAndNamed() {
    let found = units(
      ("a", "L1", "P1"), ("b", "L2", "P1"), ("c", "L4", "P4"), ("d", "L3", "P3"), ("e", "L2", "P2"),
      ("f", "L3", "P2"), ("g", "L2", "P1"))
    #expect(NameGroups(found.ofEach).count == 2)
    #expect(found.ofEach[2] == ChanceUnit(.patients, "P4"))
    #expect(found.ofEach.enumerated().allSatisfy { $0 == 2 || $1 == ChanceUnit(.patients, "P1") })
    #expect(found.sharedLesions.map(\.lesion) == ["L2", "L3"])
    #expect(found.sharedLesions.map(\.patients) == [["P1", "P2"], ["P3", "P2"]])
  }

  /// A patient, a lesion and an image of one name are three units; `é` as one scalar and as two are two names.
  @Test func namesOfDifferentKindsAndBytesAreApart() {
    let found = units(
      ("x", "1", "2"), ("y", "2", nil), ("2", nil, nil), ("z", "3", "\u{E9}"), ("w", "4", "e\u{301}"))
    // The image '2' is of the lesion of its own name.
    #expect(NameGroups(found.ofEach).count == 4)
    #expect(found.ofEach[1] == found.ofEach[2] && found.ofEach[1].kind == .lesions)
    #expect(found.ofEach[0] == ChanceUnit(.patients, "2"))
  }

  /// 40 images of 20 lesions, two of each patient, by patient: the interval of 10 units, wider than that of 20.
  @Test func theBootstrapDrawsUnits() throws {
    func interval(_ unit: (Int) -> ChanceUnit?) throws -> ClosedRange<Double> {
      let images = (0..<40).map { index in
        evaluatedImage(index / 4 % 2 == 0 ? .nv : .mel, as: .nv, lesion: "\(index / 2)", unit: unit(index))
      }
      return try #require(EvaluationSet(images).intervals()[.accuracy])
    }
    let byLesion = try interval { _ in nil }
    let byPatient = try interval { ChanceUnit(.patients, "P\($0 / 4)") }
    // The same draws as of as many lesions of four images.
    #expect(try interval { ChanceUnit(.lesions, "P\($0 / 4)") } == byPatient)
    let width = { (range: ClosedRange<Double>) in range.upperBound - range.lowerBound }
    #expect(width(byPatient) > 1.2 * width(byLesion), "\(byPatient) \(byLesion)")
  }

  /// One in seven resamples has none of a class with two lesions, one in fifty none of one with four.
  @Test func aNumberThatManyResamplesDoNotDefineHasNoInterval() {
    func interval(lesions: Int) -> ClosedRange<Double>? {
      let others = (0..<60).map { evaluatedImage(.nv, as: $0 % 3 == 0 ? .df : .nv, lesion: "\($0)") }
      let rare = (0..<lesions).map {
        evaluatedImage(.df, as: $0 == 0 ? .nv : .df, confidence: 0.6 + 0.1 * Float($0), lesion: "df\($0)")
      }
      return EvaluationSet(others + rare).intervals()[.auroc(LesionLabel.df.index)]
    }
    #expect(interval(lesions: 2) == nil)
    #expect(interval(lesions: 4) != nil)
  }
}
