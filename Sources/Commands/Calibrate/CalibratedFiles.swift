import DermaFusion
import Evaluation
import Files
import SystemModule

/// The files of a model that is fitted, and of what it becomes.
struct CalibratedFiles {
  let model: CalibratedModel
  private let folder: String
  /// Of what the model has seen; `nil` where its folder has none.
  private let list: CSVTable?

  private static let weightsLimit = 1 << 30
  private static let configurationLimit = 1 << 24

  /// - Parameter identity: of the model as it was loaded.
  init(_ folder: String, identity: ModelIdentity) throws {
    self.folder = folder
    let configuration = try FileBytes.read(path: "\(folder)/config.json", limit: Self.configurationLimit)
    let weights = try FileBytes.read(path: "\(folder)/model.safetensors", limit: Self.weightsLimit)
    guard CalibratedModel.identity(configuration: configuration, weights: weights) == identity.sha256 else {
      throw CalibrationRefusal.changed(folder)
    }
    model = try CalibratedModel(configuration: configuration, weights: weights, folder: folder)
    let listPath = "\(folder)/\(TrainingList.relativePath)"
    list =
      FileBytes.isThere(listPath)
      ? try CSVTable(FileBytes.read(path: listPath, limit: MetadataTable.byteLimit), path: listPath) : nil
  }

  /// Writes the folder of the new model, whole or not at all.
  ///
  /// - Parameter entries: the images that it was fitted to, by their names in the table.
  /// - Returns: what the new model is called in results.
  func write(
    _ report: CalibrationReport, entries: [(name: String, image: EvaluatedImage)], to target: String
  ) throws -> ModelIdentity {
    let (configuration, weights) = try model.files(report.fitted, record: report.json)
    let origin = report.origin
    let suffix = CalibratedModel.versionSuffix
    let identity = ModelIdentity(
      name: origin.name, version: origin.version.hasSuffix(suffix) ? origin.version : origin.version + suffix,
      sha256: CalibratedModel.identity(configuration: configuration, weights: weights))
    let card = CalibrationCard(report: report, model: identity, folder: folder)
    var files: [(name: String, bytes: [UInt8])] = [
      ("config.json", configuration), ("model.safetensors", weights),
      (
        "SHA256SUMS",
        Array(CalibratedModel.checksums(configuration: configuration, weights: weights).utf8)
      ),
      ("README.md", Array(card.text.utf8)),
    ]
    if let list { files.append((TrainingList.relativePath, Array(Self.extended(list, by: entries).utf8))) }
    try FileBytes.writeFolder(files, path: target)
    return identity
  }

  /// The list of what the model has seen, with the images of the fit: `evaluate` will say that it was calibrated on them.
  private static func extended(
    _ list: CSVTable, by entries: [(name: String, image: EvaluatedImage)]
  ) -> String {
    let added = entries.map { name, image in
      list.header.map { column in
        switch column.lowercased() {
        case "image_id": name
        case "lesion_id": image.lesion
        case "dx": image.label.id
        case "split": "validation"
        default: ""
        }
      }
    }
    return ([list.header] + list.rows.map(\.fields) + added).map { ClassificationCSV.line($0) }.joined()
  }
}
