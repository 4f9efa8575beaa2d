import Foundation
import SystemModule
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import Files

/// The text, the JSON and the card of `calibrate` for logits that a test makes up.
@Suite struct CalibrationReportTests {
  /// Photographs of so many lesions of each class, with logits that are twice too sure.
  private static func images(_ counts: [Int], patients: Int? = nil) -> [ModelCalibration.Image] {
    var generator = SplitMix64(seed: 3)
    let labels = zip(Labels.ham10000, counts).flatMap { [LesionLabel](repeating: $0, count: $1) }
    return labels.enumerated().map { index, label in
      var logits = Labels.ham10000.map { _ in Float(generator.index(below: 1000)) / 125 }
      logits[label.index] += 2
      return ModelCalibration.Image(
        lesion: "L\(index)", label: label, logits: ClassScores(logits), distance: Double(index % 50) / 25,
        reasons: [], unit: patients.map { ChanceUnit(.patients, "P\(index % $0)") })
    }
  }

  private static let present = ModelCalibration(
    fit: CalibrationFit(bias: [Double](repeating: 0, count: 7), temperature: 1),
    limits: .init(
      coverage: 0.9, thresholds: [Double](repeating: 0.02, count: 7),
      coverageByClass: [Double?](repeating: 0.9, count: 7), distance: 1.5, outerTenth: 1))

  private func report(
    _ images: [ModelCalibration.Image], present: ModelCalibration = present, keepsAll: Bool = false,
    calibratedBefore: Int = 0
  ) -> CalibrationReport {
    let method = CalibrationMethod(from: present)
    let comparison = CalibrationComparison(images, by: method, keepsAll: keepsAll)
    return CalibrationReport(
      origin: ModelIdentity(name: "m", version: "1.0.0", sha256: String(repeating: "ab", count: 32)),
      labels: .ham10000, listedCount: images.count + 3, images: images, biasType: "F32", present: present,
      fitted: method.fitted(comparison.fittedParts, to: images), comparison: comparison,
      calibratedBefore: calibratedBefore)
  }

  private func json(_ output: CalibrationOutput) throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: Data(JSONValue.object(output.members).text.utf8))
        as? [String: Any])
  }

  @Test func theTextSaysWhatTheJSONSaysValueByValue() throws {
    for report in [
      report(Self.images([12, 20, 30, 9, 30, 60, 9], patients: 60)),
      report(Self.images([0, 9, 8, 1, 30, 60, 0])),
    ] {
      let output = CalibrationOutput(report: report, written: nil)
      let json = try json(output)
      let lines = output.lines(width: nil)
      func columns(_ key: String) throws -> [[String: Any]] {
        try ["before", "afterCrossFitted", "difference"].map { try #require(json[$0] as? [String: Any]) }
      }
      func words(_ column: [String: Any], _ key: String) throws -> String {
        guard let value = column[key] as? Double else { return "undefined" }
        let interval = (column["\(key)CI"] as? [Double]).map {
          String(format: " (%.3f to %.3f)", $0[0], $0[1])
        }
        return String(format: "%.3f", value) + (interval ?? "")
      }
      let rows = report.comparison.rows
      #expect(rows.count == 8)
      for row in rows {
        let line = try #require(lines.last { $0.hasPrefix(row.metric.title) }, "\(row.metric.title)")
        var rest = line[...]
        for column in try columns(row.metric.key) {
          let text = try words(column, row.metric.key)
          let place = try #require(rest.range(of: text), "\(text) in \(line)")
          rest = rest[place.upperBound...]
        }
        #expect(rest.allSatisfy { $0 == " " }, "\(line)")
      }
      let parts = try #require(json["parts"] as? [[String: Any]])
      #expect(parts.map { $0["part"] as? String } == ["probabilities", "sets", "distance"])
      for (part, title) in zip(parts, ["Bias, temp.", "Sets ", "Distance "]) {
        let line = try #require(lines.first { $0.hasPrefix(title) })
        let isBetter = try #require(part["better"] as? Bool)
        #expect(line.contains(isBetter ? " better: " : " no better: "), "\(line)")
        let numbers = try ["before", "after", "differenceUpperBound"].map {
          try #require(part[$0] as? Double)
        }
        let text = String(
          format: " %.3f before, %.3f after; the change is at most %.3f with 95 %% confidence", numbers[0],
          numbers[1], numbers[2])
        #expect(line.contains(text), "\(line), expected \(text)")
        let deciding = part["unitsToDecide"] as? Int
        #expect(line.contains("would decide") == (deciding != nil))
        if let deciding { #expect(line.contains("; about \(deciding) ")) }
      }
      let kept = try #require(json["kept"] as? [String])
      #expect(kept == parts.filter { $0["better"] as? Bool == true }.compactMap { $0["part"] as? String })
      let fitted = try #require(json["fitted"] as? [String: Any])
      let temperature = try #require(fitted["temperature"] as? Double)
      #expect(lines.contains("Temperature  \(temperature) instead of 1.0"))
      let bias = try #require(fitted["bias"] as? [String: Double])
      let biases = Labels.ham10000.ids.map { String(format: "\($0) %+.3f", bias[$0]!) }
      #expect(lines.contains("Bias         " + biases.joined(separator: ", ")), "\(lines)")
      #expect(lines.contains("Verdict      \(try #require(json["verdict"] as? String))"))
      let bootstrap = try #require(json["bootstrap"] as? [String: Any])
      let (n, listed, lesions) = (json["n"] as? Int, json["listed"] as? Int, json["lesions"] as? Int)
      let drawn = try #require(bootstrap["drawn"] as? String).dropLast()
      #expect(
        lines.contains(
          "Images       \(n!) of \(listed!), of \(lesions!) lesions; judged by \(drawn) (\(bootstrap["units"] as! Int))"
        ),
        "\(lines)")
      for note in try #require(json["notes"] as? [String]) { #expect(lines.contains("Note         \(note)")) }
    }
  }

  @Test func unitsOfSeveralKindsAreNotCalledPatients() {
    let images =
      Self.images([8, 8, 8, 0, 0, 0, 0], patients: 6) + Self.images([0, 0, 0, 8, 8, 8, 0])
    let text = CalibrationOutput(report: report(images), written: nil).lines(width: nil)
    #expect(text.contains { $0.hasSuffix("judged by patients, and lesions where none is named (30)") })
    let patients = CalibrationOutput(report: report(Array(images.prefix(24))), written: nil)
    #expect(patients.lines(width: nil).contains { $0.hasSuffix("judged by patient (6)") })
  }

  @Test func aClassOfFewUnitsIsNamedAndNothingIsPromisedOfIt() throws {
    let report = report(Self.images([12, 20, 9, 8, 30, 60, 0]), keepsAll: true)
    let notes = report.notes.joined(separator: "\n")
    #expect(
      notes.contains(
        "Fewer than 9 lesions cannot tell the threshold of a class, which stays as it is: df (8)."),
      "\(notes)")
    #expect(notes.contains("No photograph shows 'vasc': its bias and threshold stay as they are."))
    #expect(
      notes.contains("is not known for 'df', 'vasc', so results have no conformalCoverage."))
    let json = try json(CalibrationOutput(report: report, written: nil))
    let shares = try #require(json["conformalCoverageByClass"] as? [String: Any])
    for id in Labels.ham10000.ids {
      #expect((shares[id] as? Double == 0.9) == !["df", "vasc"].contains(id), "\(id)")
      #expect((shares[id] is NSNull) == ["df", "vasc"].contains(id), "\(id)")
    }
    let card = report.card(of: report.origin, from: "m")
    #expect(
      card.contains(
        "(`conformalCoverageByClass`): akiec 0.9, bcc 0.9, bkl 0.9, df not known, mel 0.9, nv 0.9, vasc not known."
      ))
    #expect(card.contains("df (8)"))
    guard case .object(let record) = report.record else { return #expect(Bool(false)) }
    #expect(record["notes"] == .strings(report.notes))
  }

  /// A lesion that was photographed thrice is one.
  @Test func aClassIsCountedByItsUnits() {
    let few = Self.images([12, 20, 20, 8, 30, 60, 12])
    let again = few + few.filter { $0.label.id == "df" } + few.filter { $0.label.id == "df" }
    #expect(report(again).notes.contains { $0.contains("df (8)") })
    #expect(report(again).imageCounts[3] == 24)
  }

  @Test func whatMakesTheFiguresDoubtfulIsNoted() {
    let images = Self.images([9, 9, 9, 9, 9, 20, 9])
    let plain = report(images)
    let before =
      "The model was selected or calibrated on 3 of these lesions before: the figures before may be too good."
    #expect(report(images, calibratedBefore: 3).notes.contains(before))
    #expect(!plain.notes.contains { $0.contains("too good") })
    let patients = { (report: CalibrationReport) in report.notes.contains { $0.contains("names no patients") }
    }
    #expect(patients(plain))
    let byPatient = report(Self.images([9, 9, 9, 9, 9, 20, 9], patients: 40))
    #expect(!patients(byPatient) && byPatient.unitCount == 40)
    #expect(byPatient.card(of: byPatient.origin, from: "m").contains("95 % intervals by patient."))
  }

  @Test func onlyThePartsThatWereKeptAreInTheModel() {
    // Photographs that are as familiar as they should be, and sets that hold too much.
    let report = report(Self.images([12, 20, 20, 12, 30, 160, 12]))
    #expect(!report.keptParts.isEmpty)
    let isKept = { report.comparison.kept.contains($0) }
    #expect((report.fitted.fit != Self.present.fit) == isKept(.probabilities))
    #expect((report.fitted.limits?.thresholds != Self.present.limits?.thresholds) == isKept(.sets))
    #expect((report.fitted.limits?.distance != Self.present.limits?.distance) == isKept(.distance))
    #expect(report.verdict.hasPrefix("Better than before: "))
  }
}
