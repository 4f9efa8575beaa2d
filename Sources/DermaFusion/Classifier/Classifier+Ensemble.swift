import ModelFiles
import NetworkModule

extension Classifier {
  /// Loads the members, which share one set of threads.
  convenience init(_ folder: EnsembleFolder, threadCount: Int?) throws {
    folder.digest.prepare()
    let first = try Classifier(folder.members[0], threadCount: threadCount)
    let others = try folder.members.dropFirst().map { try Classifier($0, pool: first.pool) }
    try self.init(
      Ensemble(
        configuration: folder.configuration, file: folder.configurationPath, members: [first] + others),
      sha256: { [digest = folder.digest] in digest.sha256 })
  }

  /// - Parameter sha256: the ensemble's identity.
  package convenience init(_ ensemble: Ensemble, sha256: @escaping @Sendable () -> String) throws {
    let first = ensemble.members[0]
    try self.init(
      configuration: ModelConfiguration(
        ensemble.configuration, members: ensemble.members.map(\.configuration)),
      file: ensemble.file, sha256: sha256, threadCount: first.threadCount,
      instructionSet: first.instructionSet, engine: .ensemble(ensemble))
  }

  /// The members in the order of the vote, each with its folder's name and its weight; none for a single model.
  package var members: [(folder: String, weight: Double, classifier: Classifier)] {
    guard let ensemble else { return [] }
    return zip(ensemble.configuration.members, ensemble.members).map { ($0.folder, $0.weight, $1) }
  }

  /// Checks that there is one network, whose feature maps can be explained.
  ///
  /// - Throws: ``ClassifierError/ensembleNotExplained(file:members:)``
  package func requireSingleModel() throws(ClassifierError) {
    if let ensemble {
      throw .ensembleNotExplained(file: ensemble.file, members: members.map(\.folder))
    }
  }

  /// The network that activation maps look into.
  ///
  /// - Throws: ``ClassifierError/ensembleNotExplained(file:members:)``
  package func explainedNetwork() throws(ClassifierError) -> Network {
    try requireSingleModel()
    guard let network else { preconditionFailure("a classifier without a network cannot be explained") }
    return network
  }
}
