import CommandLineSupport
import DermaFusion
import JSONModule
import SystemModule

/// Says what was found on this machine, what would be run, and what to do about what is wrong.
enum DoctorCommand: Command {
  static let name = "doctor"
  static let abstract = "Check this machine, the program and the model, and say what would be run."
  static let discussion = """
    Loads the model and classifies a drawn image. A line that begins with "note" tells of something that costs speed or \
    comfort; one that begins with "fail", of something that prevents classification.
    """
  static let positionals: [Positional] = []
  static let options: [any Parameter] = [
    ModelLocation.option, Option<Int>.threads, OutputFormat.option,
  ]
  static let examples = ["dermafusion doctor", "dermafusion doctor --model MyModel --format json"]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Images can be classified."), ("1", "They cannot; a line says why."), ("64", "Wrong usage."),
  ]
  /// An instruction set that cannot be had is among what is looked for.
  static let runsNetwork = false

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    var findings = program(terminal) + environment(session)
    do {
      let folder = try ModelLocation.folder(arguments, terminal: terminal)
      findings += try model(folder, arguments[Option<Int>.threads], session)
    } catch {
      findings.append(
        DoctorReport.Finding(
          name: "Model", verdict: .failed,
          text: "\(error). Name a model's folder by --model or \(ModelLocation.environmentVariable)."))
    }
    findings += [
      DoctorReport.Finding(
        name: "Output", verdict: .fine,
        text: terminal.width.map {
          "a terminal, lines of \($0) characters, \(terminal.usesColour ? "with" : "without") colour"
        } ?? "a file or a pipe: no colour, lines are not broken")
    ]
    let hasFailed = findings.contains { $0.verdict == .failed }
    try terminal.write(
      DoctorReport(findings: findings, isReady: !hasFailed), as: arguments.value(of: OutputFormat.option))
    return hasFailed ? .failure : .success
  }

  // MARK: - Looking

  private static func program(_ terminal: Terminal) -> [DoctorReport.Finding] {
    var findings = [
      DoctorReport.Finding(
        name: "Program", verdict: .fine,
        text: "DermaFusion \(DermaFusionVersion.current)\(terminal.executablePath.map { ", \($0)" } ?? "")")
    ]
    #if DEBUG
      findings.append(
        DoctorReport.Finding(
          name: "Build", verdict: .note,
          text: "a debug build, which is slower; build with 'swift build -c release' or use Scripts/run"))
    #else
      findings.append(DoctorReport.Finding(name: "Build", verdict: .fine, text: "optimised"))
    #endif
    return findings
  }

  private static func environment(_ session: Session) -> [DoctorReport.Finding] {
    var findings: [DoctorReport.Finding] = []
    if let refusal = session.instructionSetRefusal {
      findings.append(DoctorReport.Finding(name: "Instructions", verdict: .failed, text: refusal))
    }
    for variable in [
      ModelLocation.environmentVariable, Classifier.instructionSetVariable, "NO_COLOR", "TERM",
    ] {
      if let value = session.terminal.environment(variable), !value.isEmpty {
        findings.append(DoctorReport.Finding(name: "$\(variable)", verdict: .fine, text: value))
      }
    }
    return findings
  }

  private static func model(_ folder: String, _ threads: Int?, _ session: Session) throws -> [DoctorReport
    .Finding]
  {
    var start = Progress.seconds()
    let classifier = try session.loadClassifier(folder, threads, nil)
    let loading = Progress.seconds() - start
    start = Progress.seconds()
    let result = try classifier.classify(drawing)
    let first = Progress.seconds() - start
    start = Progress.seconds()
    _ = try classifier.classify(drawing)
    let second = Progress.seconds() - start
    let milliseconds = { (seconds: Double) in "\((seconds * 1000).fixed(digits: 0)) ms" }
    let isSlow = second > slowSeconds
    return [
      DoctorReport.Finding(name: "Model", verdict: .fine, text: "\(result.model.words), in \(folder)"),
      DoctorReport.Finding(
        name: "Classes", verdict: classifier.labels.tellMalignancy ? .fine : .note,
        text: classifier.labels.ids.joined(separator: ", ")
          + (classifier.labels.tellMalignancy
            ? "" : "; the model does not say which are malignant: no risk is told")),
      DoctorReport.Finding(
        name: "Instructions", verdict: classifier.instructionSet == "baseline" ? .note : .fine,
        text: classifier.instructionSet
          + (classifier.instructionSet == "baseline"
            ? ": on x86-64, a processor with AVX2 is several times faster" : "")),
      DoctorReport.Finding(name: "Threads", verdict: .fine, text: "\(classifier.threadCount)"),
      DoctorReport.Finding(name: "Loading", verdict: .fine, text: milliseconds(loading)),
      DoctorReport.Finding(
        name: "An image", verdict: isSlow ? .note : .fine,
        text: "\(milliseconds(first)), the next \(milliseconds(second))"
          + (isSlow ? "; a release build on an idle machine takes less than a second" : "")),
    ]
  }

  private static let slowSeconds = 2.0

  /// Skin with a spot, as if drawn: every colour differs, so that nothing of the preprocessing is skipped.
  private static var drawing: PixelImage {
    let side = 450
    var pixels: [UInt8] = []
    pixels.reserveCapacity(side * side * 3)
    for y in 0..<side {
      for x in 0..<side {
        let (dx, dy) = (x - side / 2, y - side / 2)
        let isSpot = dx * dx + dy * dy * 2 < side * side / 16
        let grain = (x * 31 + y * 17 + x * y % 23) % 24
        pixels +=
          isSpot
          ? [UInt8(90 + grain), UInt8(55 + grain), UInt8(40 + grain)]
          : [UInt8(205 + grain), UInt8(150 + grain), UInt8(130 + grain)]
      }
    }
    return PixelImage(width: side, height: side, pixels: pixels)
  }
}
