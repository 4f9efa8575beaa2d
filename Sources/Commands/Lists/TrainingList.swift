import DermaFusion
import Files
import SystemModule

/// The photographs that a model has seen, from `training/split.csv` in its folder: images and lesions that its weights were
/// fitted to (`training`), those that it was selected and calibrated on (`validation`), those that a
/// cross-validation kept from both (`fold`), and those whose lesion it was fitted to under another name (`duplicate`).
struct TrainingList: Sendable {
  /// Below the model's folder.
  static let relativePath = "training/split.csv"

  enum Side: String, CaseIterable {
    case training, validation, fold, duplicate
  }

  /// Names of images and of lesions, as ``Swift/String/imageKey``.
  private struct Names {
    var images: Set<[UInt8]> = []
    var lesions: Set<[UInt8]> = []

    func holds(_ entry: TestList.Entry) -> Bool {
      lesions.contains(entry.lesion.imageKey) || images.contains(entry.image.imageKey)
    }
  }

  private var names: [Side: Names] = [:]

  /// - Throws: naming the file, line, column and value.
  init(_ bytes: [UInt8], path: String) throws(DermaFusionError) {
    let table = try CSVTable(ofImages: bytes, path: path)
    let image = try table.column("image_id")
    let lesion = try table.column("lesion_id")
    let split = try table.column("split")
    for row in table.rows {
      let name = try table.name(lesion, of: row)
      guard let side = Side(rawValue: row[split]) else {
        throw table.invalid(
          split, of: row, value: row[split],
          expectation: "Please provide one of \(Side.allCases.map(\.rawValue).quotedAlternatives).")
      }
      names[side, default: Names()].images.insert(row[image].imageKey)
      names[side, default: Names()].lesions.insert(name.imageKey)
    }
  }

  /// The model's list; `nil` when its folder has none.
  ///
  /// - Throws: when there is one that cannot be read.
  static func list(ofModel folder: String) throws(DermaFusionError) -> TrainingList? {
    let path = "\(folder)/\(relativePath)"
    do throws(DermaFusionError) {
      return try TrainingList(FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path)
    } catch  where error == .notFound(path) {
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
    return list.entries.filter { entry in seen.contains { $0.holds(entry) } }.map(\.lesion).unique
  }
}

extension Flag {
  static let allowTrainingLesions = Flag(
    "allow-training-lesions", abstract: "Evaluate lesions that the model was trained on; the output says so.")
}

/// The lesions of a test list that a model has seen.
struct TrainingOverlap {
  /// True if the model has a list of what it has seen; an ensemble, if it or each member has one.
  let isKnown: Bool
  /// The folders of the members without a list, if only some members of an ensemble lack one.
  let membersWithoutList: [String]
  let trainingLesions: [String]
  let validationLesions: [String]
  /// The first folder whose list has a lesion that was trained on.
  let trainedFolder: String?
  /// The findings on the pixels beside the names.
  private(set) var byPixels = PixelOverlap()

  /// - Parameter members: the names of an ensemble's folders.
  init(_ list: TestList, model folder: String, members: [String]) throws(DermaFusionError) {
    let folders = [folder] + members.map { "\(folder)/\($0)" }
    let lists = try folders.map { folder throws(DermaFusionError) in try TrainingList.list(ofModel: folder) }
    let unlisted = zip(members, lists.dropFirst()).filter { $1 == nil }.map { $0.0 }
    isKnown = lists[0] != nil || (!members.isEmpty && unlisted.isEmpty)
    membersWithoutList = isKnown || unlisted.count == members.count ? [] : unlisted
    let trained = lists.map { $0?.trainingLesions(in: list) ?? [] }
    trainedFolder = zip(folders, trained).first { !$1.isEmpty }?.0
    trainingLesions = trained.flatMap { $0 }.unique
    validationLesions = lists.flatMap { $0?.validationLesions(in: list) ?? [] }.unique
  }

  /// - Parameter labels: the path of the list.
  /// - Throws: where the model was trained on one of the lesions.
  func refuseTrained(labels: String) throws(DermaFusionError) {
    guard let trainedFolder else { return }
    throw .failure(
      name: labels,
      reason: """
        the model was trained on \(trainingLesions.count) of its lesions, the first of them '\(trainingLesions[0])' \
        (\(trainedFolder)/\(TrainingList.relativePath)); its figures would say nothing about other lesions. \
        --\(Flag.allowTrainingLesions.name) evaluates all the same
        """)
  }

  /// The number of lesions of the list that the model has seen; null where that is not known.
  var json: JSONValue {
    guard isKnown else { return .null }
    return .object(
      [
        ("trainingLesions", .integer(trainingLesions.count)),
        ("validationLesions", .integer(validationLesions.count)),
      ] + byPixels.members)
  }
}

/// Photographs that a model has seen by the pixels and not by the names of their lesions.
struct PixelOverlap {
  fileprivate(set) var photographCount = 0
  fileprivate(set) var trainedCount = 0
  fileprivate(set) var selectedCount = 0
  /// Photographs that show too little to be compared.
  fileprivate(set) var uncomparedCount = 0
  /// The lesions of those that were trained on, as ``Swift/String/imageKey``.
  fileprivate var trainedLesions: Set<[UInt8]> = []

  /// `14 of 400 photographs were trained on (by pixels)`; nil if none was.
  var trained: String? { sentence(trainedCount, "trained on") }
  var selected: String? { sentence(selectedCount, "used to select or calibrate the model") }

  /// `3 of 400 photographs show too little to be compared with those that the model has seen`; nil if each was compared.
  var uncompared: String? {
    let verb = uncomparedCount == 1 ? "shows" : "show"
    return uncomparedCount > 0
      ? "\(uncomparedCount) of \(photographCount) photographs \(verb) too little to be compared with those that the model has seen"
      : nil
  }

  /// A sentence where the lesions of such photographs are not used.
  var leftOut: String? { trained.map { "\($0); their lesions are left out." } }

  private func sentence(_ count: Int, _ how: String) -> String? {
    count > 0
      ? "\(count) of \(photographCount) photographs \(count == 1 ? "was" : "were") \(how) (by pixels)" : nil
  }

  /// Without such photographs none.
  fileprivate var members: [(key: String, value: JSONValue)] {
    let isSeen = trainedCount + selectedCount > 0
    return JSONValue.members([
      "trainingPhotographs": isSeen ? .integer(trainedCount) : nil,
      "validationPhotographs": isSeen ? .integer(selectedCount) : nil,
      "uncomparedPhotographs": uncomparedCount > 0 ? .integer(uncomparedCount) : nil,
    ])
  }
}

extension TrainingOverlap {
  /// Adds what the pixels of photographs tell; the lesions that the names tell are known already.
  mutating func add(_ photographs: [(lesion: String, sighting: ModelSight.Sighting?)]) {
    let trained = Set(trainingLesions.map(\.imageKey))
    let selected = Set(validationLesions.map(\.imageKey))
    byPixels.photographCount += photographs.count
    byPixels.uncomparedCount += photographs.compactMap(\.sighting).count { $0.fingerprint == nil }
    for (lesion, sighting) in photographs where !trained.contains(lesion.imageKey) {
      switch sighting?.side {
      case .training, .duplicate:
        byPixels.trainedCount += 1
        byPixels.trainedLesions.insert(lesion.imageKey)
      case .validation: byPixels.selectedCount += selected.contains(lesion.imageKey) ? 0 : 1
      case .fold, nil: break
      }
    }
    if byPixels.trainedCount > 0 { byPixels.trainedLesions.formUnion(trained) }
  }

  /// True for a lesion that the model was trained on, if the pixels show any.
  func isSeen(_ lesion: String) -> Bool { byPixels.trainedLesions.contains(lesion.imageKey) }
}
