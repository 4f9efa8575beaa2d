import Foundation
import SystemModule
import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation
@testable import Files

@Suite struct CalibrationTests {
  /// The output of `python -m dermafusion_training fixtures calibration`.
  private struct Case: Decodable {
    let logits: [[Double]]
    let labels: [Int]
    let melanoma: Int?
    let distances: [Double]
    let bias: [Double]
    let temperature: Double
    let likelyBias: [Double]
    let likelyTemperature: Double
    let thresholds: [Double]
    let distance: Double
  }

  @Test func theFitsAreThoseOfPython() throws {
    let cases = try JSONDecoder().decode([Case].self, from: Data(Fixtures.read("calibration.json")))
    #expect(cases.count == 4)
    #expect(cases.contains { Set($0.labels).count < $0.bias.count }, "no class without images")
    #expect(cases.contains { $0.temperature != 1 })
    for one in cases {
      let likely = CalibrationFit(logits: one.logits, labels: one.labels, temperature: 0.8)
      for (found, expected) in zip(likely.bias, one.likelyBias) {
        #expect(abs(found - expected) < 1e-4, "\(likely.bias), expected \(one.likelyBias)")
      }
      #expect(abs(likely.temperature - one.likelyTemperature) < 1e-4)
      let fit = CalibrationFit(
        logits: one.logits, labels: one.labels, melanoma: one.melanoma, melanomaWeight: 2)
      for (found, expected) in zip(fit.bias, one.bias) {
        #expect(abs(found - expected) < 1e-4, "\(fit.bias), expected \(one.bias)")
      }
      #expect(abs(fit.temperature - one.temperature) < 1e-12)
      // Each image of a lesion of its own, which Python knows nothing of.
      let names = Labels(one.bias.indices.map { .init(id: "\($0)", name: "\($0)", malignancy: nil) })
      let images = zip(one.logits, one.labels).enumerated().map { index, image in
        ModelCalibration.Image(
          lesion: "\(index)", label: names[image.1],
          logits: ClassScores(image.0.map { Float($0) }, labels: names), distance: nil, reasons: [])
      }
      let thresholds = ClassUnits(images).thresholds(of: one.logits.map { fit.probabilities($0) }).map {
        $0 ?? 0
      }
      for (found, expected) in zip(thresholds, one.thresholds) {
        #expect(abs(found - expected) < 1e-4, "\(thresholds), expected \(one.thresholds)")
      }
      let distance = ModelCalibration.distance(one.distances, allBut: ModelCalibration.falseAlarms)
      #expect(abs(distance - one.distance) < 1e-6)
    }
  }

  @Test func foldsKeepLesionsTogether() {
    let lesions = (0..<120).map { ChanceUnit(.lesions, "L\($0 % 40)") }
    let folds = CalibrationComparison.folds(lesions)
    for (index, lesion) in lesions.enumerated() {
      #expect(folds[index] == folds[index % 40], "\(lesion)")
    }
    #expect((0..<10).map { fold in folds.count { $0 == fold } } == [Int](repeating: 12, count: 10))
    #expect(CalibrationComparison.folds(lesions.reversed()) == folds.reversed())
  }

  /// `é` as one scalar and as two is one string to Swift, and two names in a table.
  @Test func namesThatOnlyLookTheSameAreDifferentLesions() {
    let lesions = (0..<64).map { bits in
      (0..<6).map { bits >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
    }
    #expect(Set(lesions).count == 1)
    #expect(NameGroups(lesions).count == 64)
    let folds = CalibrationComparison.folds(lesions.map { ChanceUnit(.lesions, $0) })
    #expect((0..<10).map { fold in folds.count { $0 == fold } } == [7, 7, 7, 7, 6, 6, 6, 6, 6, 6])
  }

  /// A class that nobody can tell from its logits is told by its features: only the last layer's fit finds it.
  @Test func aChangedLastLayerUsesTheFeatures() {
    var generator = SplitMix64(seed: 77)
    func noise() -> Double { Double(generator.index(below: 2001)) / 1000 - 1 }
    let labels = (0..<300).map { $0 % 3 }
    let logits = labels.map { [$0 == 0 ? 2.0 : 0, noise(), noise()] }
    let features = labels.map { [noise(), $0 == 2 ? 3.0 : -3.0, noise(), 1] }
    func loss(_ fit: CalibrationFit) -> Double {
      zip(labels, zip(logits, features)).reduce(0) {
        $0 - Mathematics.log(fit.probabilities($1.1.0, features: $1.1.1)[$1.0]) / 300
      }
    }
    let plain = CalibrationFit(logits: logits, labels: labels, temperature: 1)
    let changed = CalibrationFit(logits: logits, labels: labels, temperature: 1, features: features)
    #expect(loss(changed) < loss(plain) - 0.1, "\(loss(changed)), without features \(loss(plain))")
    #expect(changed.change?.map(\.count) == [4, 4, 4])
  }

  @Test func whatNoImageShowsStays() {
    let labels = Labels.ham10000
    let thresholds = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    let present = ModelCalibration(
      fit: CalibrationFit(bias: [Double](repeating: 0, count: 7), temperature: 0.84),
      limits: ModelCalibration.Limits(
        coverage: 0.9, thresholds: thresholds, coverageByClass: thresholds.map { _ in 0.9 }, distance: 2,
        outerTenth: 1))
    // 30 nevi, 12 melanomas, 8 basal cell carcinomas.
    let images = (0..<50).map { index in
      let label = labels[index < 30 ? 5 : index < 42 ? 4 : 1]
      let values = (0..<7).map { Float(($0 * 31 + index * 17) % 23) / 8 + ($0 == label.index ? 1 : 0) }
      return ModelCalibration.Image(
        lesion: "\(index)", label: label, logits: ClassScores(values, labels: labels),
        distance: Double(index) / 20, reasons: [])
    }
    for melanomaWeight in [nil, 2.0] {
      let fitted = CalibrationMethod(from: present, melanomaWeight: melanomaWeight)
        .fitted([.probabilities, .sets, .distance], to: images)
      for index in 0..<7 {
        let isShown = [1, 4, 5].contains(index)
        #expect((fitted.fit.bias[index] != 0) == isShown, "\(labels[index].id): \(fitted.fit.bias)")
        let isTold = [4, 5].contains(index)
        #expect(
          (fitted.limits?.thresholds[index] == thresholds[index]) == !isTold,
          "\(labels[index].id): \(fitted.limits?.thresholds ?? [])")
      }
    }
  }

  @Test func halvesAreRoundedToTheNearest() {
    let cases: [(Float, UInt16)] = [
      (0, 0), (-0.0, 0x8000), (1, 0x3C00), (-2, 0xC000), (65504, 0x7BFF), (65519.9, 0x7BFF),
      (65520, 0x7C00), (-1e9, 0xFC00),
      // Ties go to the even one.
      (1 + 0x1p-11, 0x3C00), (1 + 3 * 0x1p-11, 0x3C02), (1 + 0x1p-11 + 0x1p-20, 0x3C01),
      // Subnormal ones, and the greatest of them, whose neighbour is normal.
      (0x1p-24, 1), (0x1p-25, 0), (1.5 * 0x1p-24, 2), (0x1p-14 - 0x1p-26, 0x0400), (0x1p-14, 0x0400),
    ]
    for (value, bits) in cases {
      let bytes = TensorDataType.float16.bytes(of: [value])
      #expect(bytes == [UInt8(bits & 0xFF), UInt8(bits >> 8)], "\(value)")
    }
    #expect(TensorDataType.float16.nearest(to: -1.0007) == -1.0009765625)
    #expect(TensorDataType.brainFloat16.bytes(of: [1 + 0x1p-8, 1 + 3 * 0x1p-8]) == [0x80, 0x3F, 0x82, 0x3F])
    #expect(TensorDataType.float32.bytes(of: [-1.5]) == [0, 0, 0xC0, 0xBF])
  }
}
