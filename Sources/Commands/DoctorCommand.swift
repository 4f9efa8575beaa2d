import DermaFusion
import Evaluation
import Files
import ImageCodecs
import SystemModule

/// Says what was found on this machine, what would be run, and what to do about what is wrong.
enum DoctorCommand: Command {
  private typealias Finding = DoctorReport.Finding

  static let name = "doctor"
  static let abstract = "Check this machine, the program and the model, and say how to fix what is wrong."
  static let discussion = """
    Loads the model and classifies a drawn image. A line that begins with "note" names something that costs speed or \
    comfort; one that begins with "fail", something that prevents classification.
    """
  static let options: [any AnyCommandOption] = [
    ModelLocation.option, CommandOption<Int>.threads, OutputFormat.option,
  ]
  static let examples = ["dermafusion doctor", "dermafusion doctor --model MyModel --format json"]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Images can be classified."), ("1", "They cannot; a line says why."),
  ]
  /// The checks include an instruction set that this machine lacks.
  static let runsNetwork = false

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    var findings = program(terminal) + environment(session)
    do {
      let folder = try ModelLocation.folder(arguments, terminal: terminal)
      findings += try model(folder, arguments[CommandOption<Int>.threads], session)
    } catch {
      findings.append(
        Finding(
          "Model", "\(error). Name a model's folder by --model or \(ModelLocation.environmentVariable).",
          .failed))
    }
    findings += [
      Finding(
        "Output",
        terminal.width.map {
          "a terminal, lines of \($0) characters, \(terminal.usesColour ? "with" : "without") colour"
        } ?? "a file or a pipe: no colour, lines are not broken")
    ]
    let hasFailed = findings.contains { $0.verdict == .failed }
    try terminal.write(
      DoctorReport(findings: findings, isReady: !hasFailed), as: arguments.value(of: OutputFormat.option))
    return hasFailed ? .failure : .success
  }

  // MARK: - Looking

  private static func program(_ terminal: Terminal) -> [Finding] {
    var findings = [
      Finding(
        "Program",
        "DermaFusion \(DermaFusionVersion.current)\(terminal.executablePath.map { ", \($0)" } ?? "")")
    ]
    #if DEBUG
      findings.append(
        Finding(
          "Build", "a debug build, which is slower; build with 'swift build -c release' or use Scripts/run",
          .note))
    #else
      findings.append(Finding("Build", "optimised"))
    #endif
    let missing = ImageDecoder.missingLibraries
    findings.append(
      Finding(
        "Images",
        ImageDecoder.formats.joined(separator: ", ")
          + (missing.isEmpty ? "" : "; more with \(missing.joined(separator: ", "))"),
        missing.isEmpty ? .fine : .note))
    return findings
  }

  private static func environment(_ session: Session) -> [Finding] {
    var findings: [Finding] = []
    if let refusal = session.instructionSetRefusal {
      findings.append(Finding("Instructions", refusal, .failed))
    }
    for variable in [
      ModelLocation.environmentVariable, Classifier.instructionSetVariable, "NO_COLOR", "TERM",
    ] {
      if let value = session.terminal.environment(variable), !value.isEmpty {
        findings.append(Finding("$\(variable)", value))
      }
    }
    return findings
  }

  private static func model(_ folder: String, _ threads: Int?, _ session: Session) throws -> [Finding] {
    var start = Progress.seconds()
    let classifier = try session.loadClassifier(folder, threads, nil)
    let loading = Progress.seconds() - start
    let drawing = Benchmark.photograph()
    start = Progress.seconds()
    let result = try classifier.classify(drawing)
    let first = Progress.seconds() - start
    start = Progress.seconds()
    _ = try classifier.classify(drawing)
    let second = Progress.seconds() - start
    let milliseconds = { (seconds: Double) in "\((seconds * 1000).fixed(digits: 0)) ms" }
    let isSlow = second > slowSeconds
    return [
      Finding("Model", "\(result.model.words), in \(folder)"),
      Finding(
        "Classes",
        classifier.labels.ids.joined(separator: ", ")
          + (classifier.labels.tellMalignancy
            ? "" : "; the model does not say which are malignant: no risk is told"),
        classifier.labels.tellMalignancy ? .fine : .note),
      Finding(
        "Instructions",
        classifier.instructionSet
          + (classifier.instructionSet == "baseline"
            ? ": on x86-64, a processor with AVX2 is several times faster" : ""),
        classifier.instructionSet == "baseline" ? .note : .fine),
      Finding("Threads", "\(classifier.threadCount)"),
      Finding("Loading", milliseconds(loading)),
      Finding(
        "An image",
        "\(milliseconds(first)), the next \(milliseconds(second))"
          + (isSlow ? "; a release build on an idle machine takes less than a second" : ""),
        isSlow ? .note : .fine),
    ]
  }

  private static let slowSeconds = 2.0
}

/// The findings of `doctor`.
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
  /// True if images can be classified.
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
    let lines = TextTable.labelled(
      findings.map { ($0.verdict.rawValue.padding(to: 6) + $0.name, $0.text.printable) },
      column: column, width: width)
    let end =
      isReady
      ? "Images can be classified." : "Images cannot be classified; see the lines that begin with fail."
    return lines + ["", end]
  }
}
