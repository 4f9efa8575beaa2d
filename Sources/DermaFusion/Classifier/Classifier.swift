import Files
import ImagePipeline
import KernelInterface
import NetworkModule
import SystemModule
import TensorModule

/// A model, or several that vote, ready to classify images on any number of threads at once.
///
/// Classifying and explaining block the calling thread for as long as they take, tens of milliseconds and more: call
/// them from a task or a thread of their own, not from the main actor.
///
/// ```swift
/// let classifier = try Classifier(modelDirectory: "Weights")
/// let metadata = try PatientMetadata(ageInYears: 55, sex: .male, site: .back)
/// let result = try classifier.classify(encodedImage: bytes, metadata: metadata)
/// print(result.summary, result.disclaimer)
/// ```
public final class Classifier: Sendable {
  /// At least one.
  let models: [Model]
  /// The rule that makes the logits of several; `nil` for a classifier of one.
  let ensemble: Ensemble?

  /// A classifier of one model.
  public init(_ model: Model) { (models, ensemble) = ([model], nil) }

  /// A classifier of several models that vote.
  public init(_ ensemble: Ensemble) {
    (models, self.ensemble) = (ensemble.members.map { $0.model }, ensemble)
  }

  /// Loads a model from its folder and prepares it, which takes a moment; then classifies any number of
  /// images.
  ///
  /// - Parameters:
  ///   - modelDirectory: a folder with `config.json` and `model.safetensors`, or with the `config.json` of an ensemble
  ///     and the folders of its members.
  ///   - threadCount: threads that one classification computes with, at least 1; `nil`: as many as the
  ///     process may use. Results do not depend on it.
  ///   - precision: what the networks are computed in; `nil`: what each model's `config.json` says.
  /// - Throws: ``DermaFusionError/Code/modelNotFound`` or ``DermaFusionError/Code/invalidModel``, naming the file and the
  ///   rule that it broke.
  public convenience init(
    modelDirectory: String, threadCount: Int? = nil, precision: Precision? = nil
  ) throws(DermaFusionError) {
    try self.init(
      modelDirectory: modelDirectory, threadCount: threadCount, precision: precision, needsClasses: true)
  }

  /// - Parameter needsClasses: see ``requireClasses()``.
  package convenience init(
    modelDirectory: String, threadCount: Int?, precision: Precision?, needsClasses: Bool
  ) throws(DermaFusionError) {
    switch try StoredModel(directory: modelDirectory, architectures: Architecture.names) {
    case .single(let folder):
      self.init(
        try Model(
          folder.computed(in: precision).readOnce, threadCount: threadCount, needsClasses: needsClasses))
    case .ensemble(let folder):
      self.init(try Ensemble(folder, threadCount: threadCount, precision: precision))
    }
  }

  /// Prepares a model whose files are already in memory, from an app's resources for instance.
  ///
  /// - Parameters:
  ///   - configuration: the bytes of `config.json`.
  ///   - weights: the bytes of `model.safetensors`.
  ///   - threadCount: see ``init(modelDirectory:threadCount:precision:)``.
  ///   - precision: see ``init(modelDirectory:threadCount:precision:)``.
  /// - Throws: see ``init(modelDirectory:threadCount:precision:)``.
  public convenience init(
    configuration: [UInt8], weights: [UInt8], threadCount: Int? = nil, precision: Precision? = nil
  ) throws(DermaFusionError) {
    let folder = try Model.folder(configuration: configuration, weights: weights)
    self.init(try Model(folder.computed(in: precision), threadCount: threadCount))
  }

  /// Prepares an ensemble whose files are already in memory.
  ///
  /// - Parameters:
  ///   - ensemble: the bytes of the ensemble's `config.json`.
  ///   - members: the bytes of each member's two files, by the name that `ensemble` gives its folder.
  ///   - threadCount: see ``init(modelDirectory:threadCount:precision:)``.
  ///   - precision: see ``init(modelDirectory:threadCount:precision:)``.
  /// - Throws: see ``init(modelDirectory:threadCount:precision:)``.
  public convenience init(
    ensemble: [UInt8], members: [String: (configuration: [UInt8], weights: [UInt8])],
    threadCount: Int? = nil, precision: Precision? = nil
  ) throws(DermaFusionError) {
    let folder = try EnsembleFolder(
      configuration: ensemble, members: members, architectures: Architecture.names)
    self.init(try Ensemble(folder, threadCount: threadCount, precision: precision))
  }

  // MARK: What computes

  /// The model, or the ensemble's first.
  private var first: Model { models[0] }

  /// The contents of the model's `config.json`; of an ensemble, as its readers see it.
  package var configuration: ModelConfiguration { ensemble?.configuration ?? first.configuration }

  /// The model that results name. Its hash is computed while the model is loaded; an earlier reader waits.
  public var model: ModelIdentity { ensemble?.identity ?? first.identity }

  /// True if the files of the model, or of each model that votes, were compared with the hashes that their folder states.
  package var hasChecksums: Bool { models.allSatisfy { $0.hasChecksums } }

  /// The models that vote; empty for a single model.
  public var members: [Ensemble.Member] { ensemble?.members ?? [] }

  /// The classes that the model tells apart.
  public var labels: Labels { first.labels }
  /// True if several classes may be right at once: each then has a probability of its own, and these do not add up to 1.
  public var isMultiLabel: Bool { configuration.isMultiLabel }
  /// True if the age, the sex and the site change the result.
  public var usesMetadata: Bool { configuration.fusion != nil }
  /// Threads that one classification computes with.
  public var threadCount: Int { pool.threadCount }
  /// The kernels in use: `baseline` (SSE2 or NEON), `avx2`, `avxvnni`, `avx512` or `avx512vnni`, `dotprod` on ARM, and
  /// `relaxedsimd` in WebAssembly. `baseline` on a CPU with AVX2 means that the package was built without the flags that
  /// `Package.swift` gives.
  public var instructionSet: String { first.network.kernels.instructionSet.rawValue }

  /// The computation of results.
  public var computation: Computation {
    Computation(
      instructionSet: models.allSatisfy { $0.configuration.precision == .int8 } ? nil : instructionSet,
      precision: configuration.precision.rawValue)
  }

  package var preprocessor: Preprocessor { first.preprocessor }
  package var temperature: Temperature {
    Temperature(labels: labels, value: configuration.temperature, isMultiLabel: isMultiLabel)
  }
  var pool: ThreadPool { first.network.pool }

  package static var instructionSetVariable: String { KernelChoice.variable }

  /// Why the instruction set that the environment names is not the one in use; nil when it is, or when none is named.
  package static var unavailableInstructionSet: DermaFusionError? { KernelChoice.unavailable }

  /// Checks that the model has classes: a network that was saved without a last layer gives features only.
  package func requireClasses() throws(DermaFusionError) {
    for model in models { try model.configuration.requireClasses(file: model.file) }
  }

  /// The model whose feature maps can be explained.
  package func singleModel() throws(DermaFusionError) -> Model {
    guard let ensemble else { return first }
    let members = ensemble.members.map { $0.folder }.joined(separator: ", ")
    throw DermaFusionError(
      .ensembleNotExplained,
      message: """
        \(ensemble.file): an activation map is of one network, and this is an ensemble; name the folder of one of its \
        members as the model (\(members))
        """,
      remedy: "Load the folder of one of the members.")
  }
}
