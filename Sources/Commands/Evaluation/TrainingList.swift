/// What a model has seen, from `training/split.csv` in its folder: images and lesions that its weights were
/// fitted to (`training`), and those that it was selected and calibrated on (`validation`).
package struct TrainingList: Sendable {
  /// Below the model's folder.
  package static let relativePath = "training/split.csv"

  private enum Side: String {
    case training, validation
  }

  private static let side = Option<Side>(
    "split", valueName: "split", abstract: "", allowedValues: ["training", "validation"],
    convert: { Side(rawValue: $0) })

  private var trainingImages: Set<String> = []
  private var trainingLesions: Set<String> = []
  private var validationLesions: Set<String> = []

  /// - Throws: ``CSVError`` naming the file, line, column and value.
  package init(_ bytes: [UInt8], path: String) throws(CSVError) {
    let table = try CSVTable(bytes, path: path)
    let columns = try table.columns(["image_id", "lesion_id", "split"], path: path)
    for row in table.rows {
      let lesion = try columns.requiredValue("lesion_id", of: row, as: TestList.identifier)
      switch try columns.requiredValue("split", of: row, as: Self.side) {
      case .training:
        trainingImages.insert(columns.text("image_id", of: row))
        trainingLesions.insert(lesion)
      case .validation:
        validationLesions.insert(lesion)
      }
    }
  }

  /// The model's list; `nil` when its folder has none.
  ///
  /// - Throws: ``CSVError``, or ``FileError`` when there is one that cannot be read.
  static func list(ofModel folder: String) throws -> TrainingList? {
    let path = "\(folder)/\(relativePath)"
    do {
      return try TrainingList(FileBytes.read(path: path, limit: FileBytes.tableLimit), path: path)
    } catch FileError.notFound {
      return nil
    }
  }

  /// Lesions of a test list that the model was trained on, in the order of the list: by the lesion's name, or
  /// because one of its images was.
  package func trainingLesions(in list: TestList) -> [String] {
    lesions(in: list) { trainingLesions.contains($0.lesion) || trainingImages.contains($0.image) }
  }

  /// Lesions of a test list that the model was selected or calibrated on, in the order of the list.
  package func validationLesions(in list: TestList) -> [String] {
    lesions(in: list) { validationLesions.contains($0.lesion) }
  }

  private func lesions(in list: TestList, where isSeen: (TestList.Entry) -> Bool) -> [String] {
    var seen: Set<String> = []
    return list.entries.filter { isSeen($0) && seen.insert($0.lesion).inserted }.map(\.lesion)
  }
}

/// Why a model is not evaluated on a list.
package enum TrainingListError: Error, Equatable, CustomStringConvertible {
  case trainedOn(lesions: [String], list: String, labels: String)

  package var description: String {
    switch self {
    case .trainedOn(let lesions, let list, let labels):
      """
      \(labels): the model was trained on \(lesions.count) of its lesions, the first of them \
      '\(lesions[0])' (\(list)); its figures would say nothing about other lesions. \
      --\(EvaluateCommand.allowTrainingLesions.name) evaluates all the same
      """
    }
  }
}
