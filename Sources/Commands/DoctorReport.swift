import CommandLineSupport
import DermaFusion
import JSONModule

/// What `doctor` found.
struct DoctorReport: Report {
  enum Verdict: String {
    case fine = "ok"
    case note
    case failed = "fail"
  }

  struct Finding {
    let name: String
    let verdict: Verdict
    let text: String
  }

  let findings: [Finding]
  /// Whether images can be classified.
  let isReady: Bool

  var json: JSONValue {
    .object([
      "schemaVersion": .integer(Classification.schemaVersion), "version": .string(DermaFusionVersion.current),
      "ready": .bool(isReady),
      "findings": .array(
        findings.map {
          .object([
            "name": .string($0.name), "verdict": .string($0.verdict.rawValue), "text": .string($0.text),
          ])
        }),
      "disclaimer": .string(Wording.disclaimer),
    ])
  }

  func text(width: Int?) -> String {
    let column = 8 + (findings.map { $0.name.count }.max() ?? 0)
    let lines = findings.map {
      $0.text.printable.labelled(
        "\($0.verdict.rawValue.padding(to: 6))\($0.name)", column: column, width: width)
    }
    let end =
      isReady
      ? "Images can be classified." : "Images cannot be classified; see the lines that begin with fail."
    return lines.joined(separator: "\n") + "\n\n\(end)\n\n"
      + Wording.disclaimer.wrapped(width: width, indent: 0) + "\n"
  }
}
