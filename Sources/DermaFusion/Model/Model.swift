import Files
import ImagePipeline
import NetworkModule
import SystemModule
import TensorModule

/// One model that is ready to run: its `config.json`, its preprocessing, its network, its identity and its labels. Copies share the network, whose weights are never changed.
public struct Model: Sendable {
  package let configuration: ModelConfiguration
  package let preprocessor: Preprocessor
  package let network: Network
  /// The classes that the model tells apart.
  public let labels: Labels
  /// The path of `config.json`, for errors.
  let file: String
  /// True if the files were compared with the hashes that their folder states.
  package let hasChecksums: Bool
  private let sha256: @Sendable () -> String

  /// Loads a model from its folder and prepares it, which takes a moment.
  ///
  /// - Parameters:
  ///   - directory: a folder with `config.json` and `model.safetensors`.
  ///   - threadCount: threads that share each layer's work, at least 1; `nil`: as many as the process may use.
  ///   - precision: what the network is computed in; `nil`: what the model's `config.json` says.
  /// - Throws: ``DermaFusionError/Code/modelNotFound`` or ``DermaFusionError/Code/invalidModel``, naming the file and the
  ///   rule that it broke.
  public init(
    directory: String, threadCount: Int? = nil, precision: Precision? = nil
  ) throws(DermaFusionError) {
    try self.init(
      try Self.folder(directory: directory, precision: precision).readOnce, threadCount: threadCount)
  }

  /// The two files of a model in its folder, as ``folder(configuration:weights:)``, to be computed in a precision.
  package static func folder(
    directory: String, precision: Precision?
  ) throws(DermaFusionError) -> ModelFolder {
    try ModelFolder(directory: directory, architectures: Architecture.names).computed(in: precision)
  }

  /// The two files of a model, checked as far as that goes without its network.
  package static func folder(
    configuration: [UInt8], weights: [UInt8]
  ) throws(DermaFusionError) -> ModelFolder {
    try ModelFolder(configuration: configuration, weights: weights, architectures: Architecture.names)
  }

  /// - Parameters:
  ///   - pool: threads that other models use too, instead of new ones.
  ///   - needsClasses: False where features are wanted, which a network without a last layer has too.
  package init(
    _ folder: ModelFolder, threadCount: Int? = nil, pool: ThreadPool? = nil, needsClasses: Bool = true
  ) throws(DermaFusionError) {
    if needsClasses { try folder.configuration.requireClasses(file: folder.configurationPath) }
    folder.digest.prepare()
    try DermaFusionError.naming(folder.configurationPath) { () throws(DermaFusionError) in
      try folder.configuration.requireKnownPatients()
    }
    let network = try Network(folder, threadCount: threadCount, pool: pool)
    var configuration = folder.configuration
    if configuration.isTimms { configuration.classes = Labels.known(by: configuration) }
    self.init(
      configuration: configuration, file: folder.configurationPath, network: network,
      hasChecksums: folder.hasChecksums, sha256: { [digest = folder.digest] in digest.sha256 })
  }

  /// - Parameter sha256: the model's identity, asked for when the first result is made.
  package init(
    configuration: ModelConfiguration, file: String = ConfigurationFile.name, network: Network,
    hasChecksums: Bool = false, sha256: @escaping @Sendable () -> String
  ) {
    self.configuration = configuration
    self.file = file
    preprocessor = Preprocessor(configuration.preprocessing)
    self.network = network
    labels = Labels(configuration.classes)
    self.hasChecksums = hasChecksums
    self.sha256 = sha256
  }

  /// The model that results name. Its hash is computed while the model is loaded; an earlier reader waits.
  public var identity: ModelIdentity {
    ModelIdentity(name: configuration.name, version: configuration.version, sha256: sha256())
  }

  package var temperature: Temperature {
    Temperature(labels: labels, value: configuration.temperature, isMultiLabel: configuration.isMultiLabel)
  }

  /// True if the age, the sex and the site change the result.
  public var usesMetadata: Bool { configuration.fusion != nil }

  /// The network's output for the upright image; `observe` is shown its feature maps on the way.
  package func output(
    of image: PreprocessedImage, metadata: MetadataVector,
    observe: ((_ name: String, _ map: FeatureMap) -> Void)? = nil
  ) -> NetworkOutput {
    unsafe network.run(
      metadata: metadata, writeInput: { unsafe image.writeNormalizedNHWC(to: $0) }, observe: observe)
  }

  /// The mean of the views' logits, added up in Double in one order and rounded once; the features of the first view,
  /// the image as it is.
  package func output(
    of image: PreprocessedImage, metadata: MetadataVector, views: ImageViews
  ) -> NetworkOutput {
    let first = output(of: image, metadata: metadata)
    if views == .upright { return first }
    var sums = first.logits.map { Double($0) }
    for symmetry in views.symmetriesOfSquare.dropFirst() {
      let logits = output(of: image.turned(by: symmetry), metadata: metadata).logits
      for index in sums.indices { sums[index] += Double(logits[index]) }
    }
    return NetworkOutput(
      logits: sums.map { Float($0 / Double(views.count)) }, pooled: first.pooled, stageMeans: first.stageMeans
    )
  }

  /// The distance of the features from those of the training; `nil` for a model that was not fitted to abstain.
  package func featureDistance(of output: NetworkOutput) -> Double? {
    guard let limit = configuration.abstention?.distance, let means = output.stageMeans[limit.stage] else {
      return nil
    }
    return network.featureDistance?(means)
  }

  /// The likeness of an image to those that no dermatoscope took; `nil` for a model that was not fitted for it.
  package func dermoscopyScore(of output: NetworkOutput) -> Double? {
    guard let limit = configuration.abstention?.dermoscopy, !output.stageMeans.isEmpty else { return nil }
    return network.dermoscopyProbe?(limit.stages.flatMap { output.stageMeans[$0] ?? [] })
  }

  /// The vector that the last layer makes the logits of, for an image.
  package func lastLayerInputs(of output: NetworkOutput, metadata: PatientMetadata) -> [Float] {
    ThreadPool.withDenormalsFlushed {
      network.head.lastLayerInputs(pooled: output.pooled, metadata: metadata.encoded())
    }
  }

  /// True if the features of an image lie further out than those of nine in ten of the validation's images; false where
  /// that was not fitted.
  func isUnfamiliar(_ output: NetworkOutput) -> Bool {
    guard let limit = configuration.abstention?.distance.outerTenth,
      let distance = featureDistance(of: output)
    else { return false }
    return distance > limit
  }

  /// The abstention rule, if this model has one; what it says of features needs the network's output.
  func judge(_ output: NetworkOutput?) -> Abstention.Judge? {
    configuration.abstention.map {
      Abstention.Judge(
        settings: $0, distance: output.flatMap { featureDistance(of: $0) },
        dermoscopyScore: output.flatMap { dermoscopyScore(of: $0) })
    }
  }
}

extension ModelConfiguration {
  package var isMultiLabel: Bool { outputs == .multiLabel }

  package func requireClasses(file: String) throws(DermaFusionError) {
    if outputs == .none {
      throw DermaFusionError(
        .invalidModel,
        message:
          "\(file): \"num_classes\" is 0: the model has no classes, because its network was saved without a last layer; embed writes its features",
        remedy: "Train a last layer, or write features by embed.")
    }
  }
}

/// Turns logits into the probabilities of a model's classes.
package struct Temperature: Sendable {
  package let labels: Labels
  /// Above 0; the logits are divided by it before softmax or sigmoid.
  package let value: Double
  /// True if each class has a probability of its own, by a sigmoid.
  package var isMultiLabel = false

  package func scores(_ logits: [Float]) throws(DermaFusionError) -> ClassScores {
    guard logits.allSatisfy({ $0.isFinite }) else { throw .nonFiniteLogits(logits) }
    return ClassScores(logits, labels: labels)
  }

  /// Softmax of the logits at the temperature, or their sigmoids.
  package func probabilities(_ logits: [Float]) throws(DermaFusionError) -> ClassScores {
    try probabilities(of: scores(logits))
  }

  package func probabilities(of scores: ClassScores) -> ClassScores {
    isMultiLabel ? scores.sigmoids(temperature: value) : scores.softmax(temperature: value)
  }
}
