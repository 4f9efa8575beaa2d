import DermaFusion
import Evaluation
import Files
import ImageFiles
import SystemModule

/// Holds this engine against what Python computed.
enum ParityCommand: Command {
  static let name = "parity"
  static let abstract = "Compare every stage with what the Python pipeline computed."
  static let discussion = """
    Preprocessing, metadata, warnings, reasons to abstain and sets of classes must be equal. Activations and logits must \
    agree within 1e-3, probabilities within 1e-4, the features' distance within 1e-4 of its value, activation maps within \
    1e-4 of their largest magnitude. The first stage that departs is named with its place and values.
    """
  static let options: [any AnyCommandOption] = [
    fixtures, ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision, OutputFormat.option,
  ]
  static let examples = [
    "dermafusion parity",
    "dermafusion parity --fixtures ParityFixtures --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every stage that the fixtures hold agrees; what they hold nothing of is named."),
    ("1", "A stage departs, or the fixtures or the model cannot be read; standard error says which."),
    ("64", "Wrong usage."),
  ]

  private static let folderName = "ParityFixtures"
  private static let fixtures = CommandOption<String>.path(
    "fixtures", valueName: "folder",
    abstract: """
      Folder of the fixtures. Without this option: \(folderName) in the current folder, else beside the program or \
      in a folder above it.
      """)

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let folder =
      try arguments[fixtures]
      ?? ModelLocation.search(
        folder: folderName, holding: ParityFixtures.manifestName, terminal: terminal)
    let fixtures = try naming(folder) { try loadFixtures(folder) }
    var classifier: Classifier?
    if fixtures.needsModel {
      let model = try ModelLocation.folder(arguments, terminal: terminal)
      classifier = try session.classifier(model, arguments)
    }
    var progress = Progress(
      terminal: terminal, total: fixtures.fixtureCount(withModel: classifier != nil), unit: "fixtures")
    defer { progress.clear() }
    let report = try naming(folder) {
      try fixtures.report(classifier: classifier, onFixture: { progress.advance() })
    }
    progress.clear()
    guard !report.stages.isEmpty else {
      throw DermaFusionError.failure(
        name: folder, reason: "\(ParityFixtures.manifestName) lists nothing to compare")
    }
    try terminal.write(
      ParityOutput(report: report, fixtures: fixtures, classifier: classifier),
      as: arguments.value(of: OutputFormat.option))
    guard let stage = report.firstDepartingStage, let departure = stage.firstDeparture else {
      return .success
    }
    terminal.report("the stage '\(stage.name)' departs first: \(departure)")
    return .failure
  }

  private static func loadFixtures(_ folder: String) throws -> ParityFixtures {
    try ParityFixtures { name in
      // An empty file is a fixture too: one that must be refused.
      do throws(DermaFusionError) {
        return try FileBytes.read(path: "\(folder)/\(name)", limit: ImageDecoder.fileByteLimit)
      } catch {
        if error.code == .emptyFile { return [] }
        throw error
      }
    }
  }

  /// Fixtures name their files without their folder.
  private static func naming<Result>(_ folder: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ParityError {
      throw DermaFusionError.failure(name: folder, reason: "\(error)")
    }
  }
}
