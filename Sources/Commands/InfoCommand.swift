import DermaFusion
import Files
import ImageCodecs
import SystemModule

/// Says what would compute, with which model.
enum InfoCommand: Command {
  static let name = "info"
  static let abstract = "Show the version, the model, the instruction set, threads and preprocessing."
  static let options: [any AnyCommandOption] = [
    ModelLocation.option, models, network, licences, CommandOption<Int>.threads,
    CommandOption<Precision>.precision,
    OutputFormat.option,
  ]
  static let examples = [
    "dermafusion info",
    "dermafusion info --model ensemble/first --format json",
    "dermafusion info --models",
    "dermafusion info --network",
    "dermafusion info --licences",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The model can be loaded, and everything was shown."),
    ("1", "The model cannot be loaded; standard error says why."),
  ]

  private static let models = Flag(
    "models",
    abstract: "List the models that --model finds by name instead: the model itself and those in its folder.")
  private static let licences = Flag(
    "licences", abstract: "Print the licences of the other projects whose parts are in this program instead.")

  private static let network = Flag(
    "network",
    abstract: "List the operations of the network instead, with what was fused into each.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    func show(_ report: some Report) throws -> ExitStatus {
      try terminal.write(report, as: arguments.value(of: OutputFormat.option))
      return .success
    }
    if arguments[licences] { return try show(LicenceReport(text: LicenceReport.read(terminal))) }
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    if arguments[models] { return try list(folder, arguments, session) }
    let classifier = try session.classifier(folder, arguments, needsClasses: false)
    if arguments[network] { return try show(NetworkReport(classifier: classifier)) }
    return try show(InfoReport(classifier: classifier, folder: folder))
  }

  private static func list(_ folder: String, _ arguments: ParsedArguments, _ session: Session) throws
    -> ExitStatus
  {
    var report = ModelList(models: [])
    var hasFailed = false
    for name in [nil] + ModelLocation.names(beside: folder) {
      let path = name.map { "\(folder)/\($0)" } ?? folder
      do {
        let classifier = try session.classifier(path, arguments, needsClasses: false)
        report.models.append(ModelList.Model(name: name, folder: path, classifier: classifier))
      } catch {
        session.terminal.report("\(String(describing: error))")
        hasFailed = true
      }
    }
    try session.terminal.write(report, as: arguments.value(of: OutputFormat.option))
    return hasFailed ? .failure : .success
  }
}

/// The kernels and the model that would compute.
struct InfoReport: Report {
  let classifier: Classifier
  let folder: String

  var json: JSONValue {
    classifier.description(
      for: .info(folder: folder, decoders: ImageDecoder.libraries), formats: ImageDecoder.formats)
  }

  private static func words(_ labels: Labels) -> String {
    labels.isEmpty
      ? "none: the network has no last layer, and gives features only (embed)"
      : "\(labels.count): \(labels.ids.listed(atMost: 12))\(labels.tellMalignancy ? "" : "; malignancy not told")"
  }

  func lines(width: Int?) -> [String] {
    let configuration = classifier.configuration
    let preprocessing = configuration.preprocessing
    let size = "\(preprocessing.size)x\(preprocessing.size) pixels"
    let transform =
      preprocessing.keepsCentreSquare
      ? size : "\(preprocessing.framing.words), \(preprocessing.interpolation.rawValue) to \(size)"
    let constancy =
      preprocessing.colorConstancy.shadesOfGray.map {
        "Shades of Gray (p \(JSONValue.decimal($0.p)), rounding \($0.rounding.rawValue))"
      } ?? "no colour constancy"
    let list = { (values: [Double]) in values.map(JSONValue.decimal).joined(separator: " ") }
    let constants = "mean \(list(preprocessing.mean)), std \(list(preprocessing.standardDeviation))"
    var rows = [
      ("Version", DermaFusionVersion.current),
      ("Model", "\(configuration.name) \(configuration.version), in \(folder)"),
      ("SHA-256", classifier.model.sha256),
      (
        "Checksums",
        classifier.hasChecksums
          ? "SHA256SUMS agrees with the files"
          : "none: the folder has no SHA256SUMS, and a damaged file would not be noticed"
      ),
      (
        "Architecture",
        configuration.architecture
          + (configuration.precision == .int8
            ? " in 8 bits" : configuration.precision == .bfloat16 ? " in bfloat16" : "")
      ),
    ]
    for (index, member) in classifier.members.enumerated() {
      let (model, weight) = (member.model.configuration, JSONValue.decimal(member.weight))
      rows.append(
        (index == 0 ? "Members" : "", "\(member.folder): \(model.name) \(model.version), weight \(weight)"))
    }
    rows += [
      ("Metadata", classifier.usesMetadata ? "age, sex and site are used" : "not used by this model"),
      ("Abstention", classifier.abstentionWords),
      ("Preprocessing", [transform, constancy, constants].joined(separator: ", ")),
      ("Classes", Self.words(classifier.labels)),
      ("Formats", ImageDecoder.formats.joined(separator: ", ")),
      ("Decoders", ImageDecoder.libraries.joined(separator: ", ")),
      ("Instruction set", classifier.instructionSet),
      ("Threads", String(classifier.threadCount)),
    ]
    return TextTable.labelled(rows.map { ($0.0, $0.1.printable) }, column: 17, width: width)
  }
}

/// The licences of the other projects whose parts are in the program.
struct LicenceReport: PlainReport {
  let text: String

  private static let fileName = "THIRD_PARTY_NOTICES"

  /// Reads the file that every form of the package has beside its program or in its folder `share`.
  static func read(_ terminal: Terminal) throws(DermaFusionError) -> String {
    let places = ModelLocation.places(of: fileName, terminal: terminal)
    guard let place = places.first(where: { FileBytes.isReadable($0) }) else {
      throw DermaFusionError.failure(
        name: fileName,
        reason:
          "the file that every copy of this program comes with is not there; looked at \(places.joined(separator: ", "))"
      )
    }
    return String(decoding: try FileBytes.read(path: place, limit: 1 << 20), as: UTF8.self)
  }

  var members: [(key: String, value: JSONValue)] { [("licences", .string(text))] }

  func lines(width: Int?) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }
}

/// The models that `--model` finds by name.
struct ModelList: PlainReport {
  struct Model {
    /// nil: the one that is used without `--model`.
    let name: String?
    let folder: String
    let identity: ModelIdentity
    let architecture: String
    let precision: String

    init(name: String?, folder: String, classifier: Classifier) {
      self.name = name
      self.folder = folder
      identity = classifier.model
      architecture = classifier.configuration.architecture
      precision = classifier.configuration.precision.rawValue
    }
  }

  var models: [Model]

  var members: [(key: String, value: JSONValue)] {
    let models = models.map {
      JSONValue.object([
        "name": $0.name.map(JSONValue.string) ?? .null, "folder": .string($0.folder),
        "model": $0.identity.json, "architecture": .string($0.architecture),
        "precision": .string($0.precision),
      ])
    }
    return [("models", .array(models))]
  }

  func lines(width: Int?) -> [String] {
    let names = models.map { ($0.name ?? "(default)").printable }
    let column = 2 + (names.map(\.count).max() ?? 0)
    let texts = models.map { model in
      "\(model.identity.name) \(model.identity.version), \(model.architecture), \(model.precision), in \(model.folder)"
        .printable
    }
    return TextTable.labelled(zip(names, texts).map { ($0, $1) }, column: column, width: width)
  }
}
