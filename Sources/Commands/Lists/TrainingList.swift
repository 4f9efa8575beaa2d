import SystemModule

/// What a model has seen, from `training/split.csv` in its folder: images and lesions that its weights were
/// fitted to (`training`), those that it was selected and calibrated on (`validation`), those that a
/// cross-validation kept from both (`fold`), and those whose lesion it was fitted to under another name (`duplicate`).
struct TrainingList: Sendable {
  /// Below the model's folder.
  static let relativePath = "training/split.csv"

  private enum Side: String, CaseIterable {
    case training, validation, fold, duplicate
  }

  private static let side = CommandOption<Side>(
    "split", valueName: "split", abstract: "", allowedValues: Side.allCases.map(\.rawValue),
    convert: { Side(rawValue: $0) })

  /// Names of images and of lesions, as ``Swift/String/imageKey``.
  private struct Names {
    var images: Set<[UInt8]> = []
    var lesions: Set<[UInt8]> = []

    func holds(_ entry: TestList.Entry) -> Bool {
      lesions.contains(entry.lesion.imageKey) || images.contains(entry.image.imageKey)
    }
  }

  private var names: [Side: Names] = [:]

  /// - Throws: ``CSVError`` naming the file, line, column and value.
  init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try table.columns(["image_id", "lesion_id", "split"], path: path)
    for row in table.rows {
      let lesion = try columns.identifier("lesion_id", of: row)
      let side = try columns.requiredValue("split", of: row, as: Self.side)
      names[side, default: Names()].images.insert(columns.text("image_id", of: row).imageKey)
      names[side, default: Names()].lesions.insert(lesion.imageKey)
    }
  }

  /// The model's list; `nil` when its folder has none.
  ///
  /// - Throws: ``CSVError``, or ``DermaFusionError`` when there is one that cannot be read.
  static func list(ofModel folder: String) throws -> TrainingList? {
    let path = "\(folder)/\(relativePath)"
    do {
      return try TrainingList(FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path)
    } catch let error as DermaFusionError where error == .notFound(path) {
      return nil
    }
  }

  /// Lesions of a test list that the model was trained on, in the order of the list: by the lesion's name or another
  /// that it has, or because one of its images was.
  func trainingLesions(in list: TestList) -> [String] {
    lesions(in: list, seenAs: [.training, .duplicate])
  }

  /// Lesions of a test list that the model was selected or calibrated on, found in the same way.
  func validationLesions(in list: TestList) -> [String] {
    lesions(in: list, seenAs: [.validation])
  }

  private func lesions(in list: TestList, seenAs sides: [Side]) -> [String] {
    let seen = sides.compactMap { names[$0] }
    var found: Set<String> = []
    return list.entries.filter { entry in
      seen.contains { $0.holds(entry) } && found.insert(entry.lesion).inserted
    }.map(\.lesion)
  }
}

extension Flag {
  static let allowTrainingLesions = Flag(
    "allow-training-lesions", abstract: "Evaluate lesions that the model was trained on; the output says so.")
}
