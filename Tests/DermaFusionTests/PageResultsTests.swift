import Foundation
import TestModels
import Testing

@testable import DermaFusion
@testable import Files

/// The results that `Tests/BrowserPageTests/wording.test.mjs` puts into words: they are the library's own, to the byte.
@Suite struct PageResultsTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "BrowserPageTests/results.jsonl")

  @Test func theFileHoldsTheLibrarysResults() throws {
    let lines = Self.lines()
    if ProcessInfo.processInfo.environment["DERMAFUSION_WRITE_PAGE_RESULTS"] != nil {
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: Self.file)
    }
    let written = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(written.count == lines.count)
    for (written, line) in zip(written, lines) {
      #expect(written == line, "set DERMAFUSION_WRITE_PAGE_RESULTS to write the file anew")
    }
  }

  /// Each case of risk, concern, urgency and confidence for each name that melanoma goes by, and each reason and warning.
  private static func lines() -> [String] {
    var lines: [String] = []
    for melanoma in ["mel", "MEL", "melanoma"] {
      let cases: [(name: String, given: [String: Float])] = [
        ("low", ["nv": 0.87, "bkl": 0.13]),
        ("melanoma below every threshold", ["nv": 0.91, melanoma: 0.09]),
        ("moderate by melanoma, a nevus likelier", ["nv": 0.88, melanoma: 0.12]),
        ("moderate by a keratosis, a nevus likelier", ["nv": 0.9, "akiec": 0.1]),
        ("moderate by the likeliest", ["akiec": 0.6, "nv": 0.4]),
        ("high by melanoma, a nevus likelier", ["nv": 0.51, melanoma: 0.46, "bcc": 0.03]),
        ("high by melanoma, a keratosis likelier", ["akiec": 0.6, melanoma: 0.4]),
        ("high by the likeliest", [melanoma: 0.81, "nv": 0.19]),
        ("high, the threshold of urgency not passed", [melanoma: 0.95, "nv": 0.05]),
        ("urgent", [melanoma: 0.97, "nv": 0.03]),
        ("certain", [melanoma: 1]),
        ("low confidence", ["nv": 0.18, melanoma: 0.17, "bcc": 0.15, "df": 0.15, "vasc": 0.15, "bkl": 0.15]),
      ]
      let told = labels(melanoma: melanoma, tellMalignancy: true)
      for (name, given) in cases { lines.append(line("\(melanoma): \(name)", given, told)) }
      let untold = labels(melanoma: melanoma, tellMalignancy: false)
      lines.append(line("\(melanoma): no malignancies", ["nv": 0.51, melanoma: 0.49], untold))
      lines.append(line("\(melanoma): no malignancies, urgent", [melanoma: 0.97], untold))
      lines.append(line("\(melanoma): abstains", [melanoma: 0.97], told, reasons: [.outOfDistribution]))
    }
    for reason in AbstentionReason.allCases {
      lines.append(line("abstains: \(reason.rawValue)", ["nv": 1], .ham10000, reasons: [reason]))
    }
    lines.append(line("abstains for every reason", ["nv": 1], .ham10000, reasons: AbstentionReason.allCases))
    for warning in ClassificationWarning.allCases {
      lines.append(line("warning: \(warning.rawValue)", ["nv": 1], .ham10000, warnings: [warning]))
    }
    let many = Labels((0..<256).map { .init(id: "n\($0)", name: "N\($0)", malignancy: nil) })
    let equal = Dictionary(uniqueKeysWithValues: many.ids.map { ($0, Float(1) / 256) })
    lines.append(line("many equal classes", equal, many))
    return lines
  }

  private static func labels(melanoma: String, tellMalignancy: Bool) -> Labels {
    Labels(
      ModelConfiguration.ham10000Classes.map {
        ModelConfiguration.Class(
          id: $0.id == "mel" ? melanoma : $0.id, name: $0.name,
          malignancy: tellMalignancy ? $0.malignancy : nil)
      })
  }

  private static func line(
    _ name: String, _ given: [String: Float], _ labels: Labels, reasons: [AbstentionReason] = [],
    warnings: [ClassificationWarning] = []
  ) -> String {
    let probabilities = ClassScores(labels.map { given[$0.id] ?? 0 }, labels: labels)
    let details: [ClassificationWarning: String] = [.severalPictures: "3", .colorProfile: "Display P3"]
    let result = Classification(
      logits: probabilities, probabilities: probabilities, metadata: .unknown, warnings: warnings,
      warningDetails: details.filter { warnings.contains($0.key) }, imageSHA256: nil,
      model: ModelIdentity(name: "m", version: "1.2.3", sha256: "cd34"),
      abstention: Abstention(reasons: reasons, conformalSet: nil))
    return JSONValue.object([
      "name": .string(name), "classes": .array(labels.map { $0.json }),
      "result": .object(result.members(imageName: "lesion.jpg")),
    ]).text
  }
}
