import DermaFusion
import Files

/// What `doctor` found.
struct DoctorReport: PlainReport {
  enum Verdict: String {
    case fine = "ok"
    case note
    case failed = "fail"
  }

  struct Finding {
    let name: String
    let text: String
    let verdict: Verdict

    init(_ name: String, _ text: String, _ verdict: Verdict = .fine) {
      (self.name, self.text, self.verdict) = (name, text, verdict)
    }
  }

  let findings: [Finding]
  /// Whether images can be classified.
  let isReady: Bool

  var members: [(key: String, value: JSONValue)] {
    let findings = findings.map {
      JSONValue.object([
        "name": .string($0.name), "verdict": .string($0.verdict.rawValue), "text": .string($0.text),
      ])
    }
    return [
      ("version", .string(DermaFusionVersion.current)), ("ready", .bool(isReady)),
      ("findings", .array(findings)),
    ]
  }

  func lines(width: Int?) -> [String] {
    let column = 8 + (findings.map { $0.name.count }.max() ?? 0)
    let lines = findings.map {
      $0.text.printable.labelled(
        "\($0.verdict.rawValue.padding(to: 6))\($0.name)", column: column, width: width)
    }
    let end =
      isReady
      ? "Images can be classified." : "Images cannot be classified; see the lines that begin with fail."
    return lines + ["", end]
  }
}
