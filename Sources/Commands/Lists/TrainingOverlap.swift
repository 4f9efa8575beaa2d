import Files
import SystemModule

/// What a test list and what a model has seen have in common.
struct TrainingOverlap {
  /// Whether the model says what it has seen; an ensemble, whether its own list or each member's does.
  let isKnown: Bool
  /// Where it is not known because of some members of an ensemble only: the names of their folders.
  let membersWithoutList: [String]
  let trainingLesions: [String]
  let validationLesions: [String]
  /// The first folder whose list has a lesion that was trained on.
  let trainedFolder: String?

  /// - Parameter members: the names of an ensemble's folders.
  init(_ list: TestList, model folder: String, members: [String]) throws {
    let folders = [folder] + members.map { "\(folder)/\($0)" }
    let lists = try folders.map(TrainingList.list(ofModel:))
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
    throw DermaFusionError.failure(
      name: labels,
      reason: """
        the model was trained on \(trainingLesions.count) of its lesions, the first of them '\(trainingLesions[0])' \
        (\(trainedFolder)/\(TrainingList.relativePath)); its figures would say nothing about other lesions. \
        --\(Flag.allowTrainingLesions.name) evaluates all the same
        """)
  }

  /// How many lesions of the list the model has seen; null where that is not known.
  var json: JSONValue {
    guard isKnown else { return .null }
    return .object([
      "trainingLesions": .integer(trainingLesions.count),
      "validationLesions": .integer(validationLesions.count),
    ])
  }
}

extension [String] {
  /// Without those that occurred before.
  var unique: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
