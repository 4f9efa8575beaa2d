import DermaFusion
import Evaluation
import Files
import ImageCodecs
import SystemModule

/// Holds this engine against what Python computed.
enum ParityCommand: Command {
  static let name = "parity"
  static let abstract = "Compare every stage with what the Python pipeline computed."
  static let discussion = """
    Preprocessing, metadata, warnings, reasons to abstain and sets of classes must be equal. Activations and logits must \
    agree within 1e-3, probabilities within 1e-4, the features' distance within 1e-4 of its value, the score of pictures \
    without a dermatoscope within 1e-3, activation maps within \
    1e-4 of their largest magnitude. The first stage that departs is named with its place and values.
    """
  static let options: [any AnyCommandOption] = [
    fixtures, ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision,
    OutputFormat.option,
  ]
  static let examples = [
    "dermafusion parity",
    "dermafusion parity --fixtures ParityFixtures --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every stage that the fixtures hold agrees; what they hold nothing of is named."),
    ("1", "A stage departs, or the fixtures or the model cannot be read; standard error says which."),
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
    } catch let error as DermaFusionError where error.code == .invalidFixture {
      throw error.named(folder)
    }
  }
}

/// The findings of `parity`.
struct ParityOutput: PlainReport {
  let report: ParityReport
  let fixtures: ParityFixtures
  let classifier: Classifier?

  func lines(width: Int?) -> [String] {
    let made = fixtures.versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)".printable }
    var lines = [("Fixtures by " + made.joined(separator: ", ")).wrapped(width: width, indent: 0)]
    if let note = Self.decoderNote(fixtures: fixtures.versions["libjpeg"]) {
      lines.append(note.printable.wrapped(width: width, indent: 0))
    }
    let stages = report.stages
    let table = TextTable(
      names: .left("Stage", least: 22, stages.map(\.name.printable)),
      columns: [
        .right("Compared", 8, stages.map { "\($0.comparisons)" }),
        .right("Departing", 11, stages.map { "\($0.departures)" }),
        .right(
          "Greatest difference", 21,
          stages.map { $0.tolerance == nil ? "" : Self.short($0.greatestDifference) }),
        .right("Tolerance", 11, stages.map { $0.tolerance.map(Self.short) ?? "exact" }),
      ])
    // Never parted: a reader compares whole rows.
    lines += [""] + table.lines(width: nil)
    let isWhole = report.missingStages.isEmpty
    lines += [
      "", report.agrees ? "Every stage \(isWhole ? "" : "that was compared ")agrees." : "A stage departs.",
    ]
    if !isWhole {
      let missing =
        "Not compared, since the fixtures hold none: \(report.missingStages.joined(separator: ", "))."
      lines.append(missing.wrapped(width: width, indent: 0))
    }
    return lines
  }

  /// A departure of pixels may be the decoder's, if another one made the fixtures.
  ///
  /// - Parameter library: as the fixtures name it, such as `libjpeg-turbo 3.2.0`; nil where they do not.
  static func decoderNote(fixtures library: String?) -> String? {
    guard let library, library != ImageDecoder.jpegLibrary else { return nil }
    return "Here JPEG is decoded by \(ImageDecoder.jpegLibrary), not by the \(library) behind the fixtures."
  }

  /// Two significant digits.
  private static func short(_ value: Double) -> String {
    guard value != 0, value.isFinite else { return "\(value)" }
    var exponent = 0
    var mantissa = value
    while mantissa >= 9.95 { (mantissa, exponent) = (mantissa / 10, exponent + 1) }
    while mantissa < 0.995 { (mantissa, exponent) = (mantissa * 10, exponent - 1) }
    return "\(mantissa.fixed(digits: 1))e\(exponent)"
  }

  var members: [(key: String, value: JSONValue)] {
    let stages = report.stages.map { stage in
      JSONValue.object([
        "name": .string(stage.name),
        "compared": .integer(stage.comparisons),
        "departing": .integer(stage.departures),
        "greatestDifference": stage.greatestDifference.isFinite ? .number(stage.greatestDifference) : .null,
        "tolerance": stage.tolerance.map(JSONValue.number) ?? .null,
        "firstDeparture": stage.firstDeparture.map(\.json) ?? .null,
      ])
    }
    let versions = fixtures.versions.sorted { $0.key < $1.key }
    return JSONValue.members([
      "agrees": .bool(report.agrees),
      "firstDepartingStage": report.firstDepartingStage.map { .string($0.name) } ?? .null,
      "stages": .array(stages), "notCompared": .strings(report.missingStages),
      "decoders": .strings(ImageDecoder.libraries),
      "versions": .object(versions.map { (key: $0.key, value: .string($0.value)) }),
      "model": classifier.map(\.model.json) ?? .null,
      "instructionSet": classifier.map { .string($0.instructionSet) } ?? .null,
      "threads": classifier.map { .integer($0.threadCount) } ?? .null,
    ])
  }
}

extension ParityReport.Departure {
  fileprivate var json: JSONValue {
    .object([
      "fixture": .string(fixture), "place": .string(place), "expected": .string(expected),
      "found": .string(found),
    ])
  }
}
