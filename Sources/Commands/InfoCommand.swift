import ResultFormats
import JSONModule
import CommandLineSupport
import DermaFusion
import ImageFiles

/// Says what would compute, with which model.
package enum InfoCommand: Command {
  package static let name = "info"
  package static let abstract = "Show the version, the model, the instruction set, threads and preprocessing."
  package static let positionals: [Positional] = []
  package static let options: [any Parameter] = [
    ModelLocation.option, Option<Int>.threads, format,
  ]
  package static let examples = [
    "dermafusion info",
    "dermafusion info --model ensemble/first --format json",
  ]
  package static let exitStatuses: [HelpEntry] = [
    ("0", "The model can be loaded, and everything was shown."),
    ("1", "The model cannot be loaded; standard error says why."), ("64", "Wrong usage."),
  ]

  private static let format = ReportFormat.option

  package static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.loadClassifier(folder, arguments[Option<Int>.threads])
    switch arguments.value(of: format) {
    case .json: try terminal.write(json(classifier, folder: folder).text + "\n")
    case .text: try terminal.write(text(classifier, folder: folder, width: terminal.width))
    }
    return .success
  }

  private static func json(_ classifier: Classifier, folder: String) -> JSONValue {
    let configuration = classifier.configuration
    let preprocessing = configuration.preprocessing
    let constancy = preprocessing.colorConstancy.map { method in
      JSONValue.object([
        "method": .string("shades_of_gray"), "p": .number(method.p),
        "rounding": .string(method.rounding.rawValue),
      ])
    }
    return .object([
      "schemaVersion": .integer(Classification.schemaVersion),
      "version": .string(DermaFusionVersion.current),
      "model": .object(
        [
          ("name", .string(configuration.name)), ("version", .string(configuration.version)),
          ("sha256", .string(classifier.model.sha256)), ("architecture", .string(configuration.architecture)),
          ("precision", .string(configuration.precision.rawValue)),
          ("folder", .string(folder)), ("usesMetadata", .bool(configuration.fusion != nil)),
          ("temperature", .number(configuration.temperature)),
          ("hasChecksums", .bool(classifier.hasChecksums)),
        ] + members(classifier)),
      "classes": .strings(classifier.labels.ids),
      "labels": .array(classifier.labels.map(\.orderedJSON)),
      "preprocessing": .object([
        "size": .integer(preprocessing.size),
        "colorConstancy": constancy ?? .null,
        "mean": .array(preprocessing.mean.map(JSONValue.number)),
        "std": .array(preprocessing.standardDeviation.map(JSONValue.number)),
      ]),
      "decoders": .strings(ImageDecoder.libraries),
      "formats": .strings(ImageDecoder.formats),
      "instructionSet": .string(classifier.instructionSet),
      "threads": .integer(classifier.threadCount),
      "disclaimer": .string(Wording.disclaimer),
    ])
  }

  /// Of an ensemble: who votes.
  private static func members(_ classifier: Classifier) -> [(key: String, value: JSONValue)] {
    if classifier.members.isEmpty { return [] }
    let members = classifier.members.map { member in
      let configuration = member.model.configuration
      return JSONValue.object([
        "folder": .string(member.folder), "weight": .number(member.weight),
        "name": .string(configuration.name),
        "version": .string(configuration.version),
        "architecture": .string(configuration.architecture),
        "precision": .string(configuration.precision.rawValue),
        "usesMetadata": .bool(configuration.fusion != nil),
        "temperature": .number(configuration.temperature),
      ])
    }
    return [("members", .array(members))]
  }

  private static func words(_ labels: Labels) -> String {
    let shown = labels.ids.prefix(12).joined(separator: ", ")
    let rest = labels.count > 12 ? " and \(labels.count - 12) more" : ""
    return "\(labels.count): \(shown)\(rest)\(labels.tellMalignancy ? "" : "; malignancy not told")"
  }

  private static func text(_ classifier: Classifier, folder: String, width: Int?) -> String {
    let configuration = classifier.configuration
    let preprocessing = configuration.preprocessing
    let size = "\(preprocessing.size)x\(preprocessing.size) pixels"
    let constancy =
      preprocessing.colorConstancy.map {
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
        configuration.architecture + (configuration.precision == .int8 ? " in 8 bits" : "")
      ),
    ]
    for (index, member) in classifier.members.enumerated() {
      let (model, weight) = (member.model.configuration, JSONValue.decimal(member.weight))
      rows.append(
        (index == 0 ? "Members" : "", "\(member.folder): \(model.name) \(model.version), weight \(weight)"))
    }
    rows += [
      ("Metadata", configuration.fusion == nil ? "not used by this model" : "age, sex and site are used"),
      ("Preprocessing", [size, constancy, constants].joined(separator: ", ")),
      ("Classes", words(classifier.labels)),
      ("Formats", ImageDecoder.formats.joined(separator: ", ")),
      ("Decoders", ImageDecoder.libraries.joined(separator: ", ")),
      ("Instruction set", classifier.instructionSet),
      ("Threads", String(classifier.threadCount)),
    ]
    let lines = rows.map { label, value in value.printable.labelled(label, column: 17, width: width) }
    return lines.joined(separator: "\n") + "\n\n" + Wording.disclaimer.wrapped(width: width, indent: 0) + "\n"
  }
}
