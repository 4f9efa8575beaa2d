import DermaFusion
import Files
import ImageFiles

/// What would compute, with which model.
struct InfoReport: Report {
  let classifier: Classifier
  let folder: String

  var json: JSONValue {
    classifier.description(
      for: .info(folder: folder, decoders: ImageDecoder.libraries), formats: ImageDecoder.formats)
  }

  private static func words(_ labels: Labels) -> String {
    "\(labels.count): \(labels.ids.listed(atMost: 12))\(labels.tellMalignancy ? "" : "; malignancy not told")"
  }

  func text(width: Int?) -> String {
    let configuration = classifier.configuration
    let preprocessing = configuration.preprocessing
    let size = "\(preprocessing.size)x\(preprocessing.size) pixels"
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
      ("Preprocessing", [size, constancy, constants].joined(separator: ", ")),
      ("Classes", Self.words(classifier.labels)),
      ("Formats", ImageDecoder.formats.joined(separator: ", ")),
      ("Decoders", ImageDecoder.libraries.joined(separator: ", ")),
      ("Instruction set", classifier.instructionSet),
      ("Threads", String(classifier.threadCount)),
    ]
    let lines = rows.map { label, value in value.printable.labelled(label, column: 17, width: width) }
    return lines.joined(separator: "\n") + "\n\n" + Wording.disclaimer.wrapped(width: width, indent: 0) + "\n"
  }
}
