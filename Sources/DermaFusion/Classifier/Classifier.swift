import ImagePipeline
import ModelFiles
import NetworkModule
import TensorModule

/// A model that is ready to classify images, on any number of threads at once.
///
/// Classifying and explaining block the calling thread for as long as they take, tens of milliseconds and more: call
/// them from a task or a thread of their own, not from the main actor. Build in release: without optimisation the kernels
/// of a package's dependency are a thousand times slower.
///
/// ```swift
/// let classifier = try Classifier(modelDirectory: "Weights")
/// let metadata = try PatientMetadata(ageInYears: 55, sex: .male, site: .back)
/// let result = try classifier.classify(encodedImage: bytes, metadata: metadata)
/// print(result.summary, result.reservation ?? "", result.disclaimer)
/// ```
public final class Classifier: Sendable {
  package let configuration: ModelConfiguration
  package let preprocessor: Preprocessor
  /// Threads that one classification computes with.
  public let threadCount: Int
  /// The kernels in use: `baseline` (SSE2 or NEON), `avx2` or `avx512`. `baseline` on a CPU that has AVX2 means that the
  /// package was built without the flags for more, as SwiftPM builds a dependency.
  public let instructionSet: String
  private let sha256: @Sendable () -> String
  let engine: Engine

  /// Loads a model from its folder and prepares it, which takes a moment; then classifies any number of
  /// images.
  ///
  /// - Parameters:
  ///   - modelDirectory: a folder with `config.json` and `model.safetensors`, or with the `config.json` of an ensemble
  ///     and the folders of its members.
  ///   - threadCount: threads that one classification computes with, at least 1; `nil`: as many as the
  ///     process may use. Results do not depend on it.
  /// - Throws: ``ModelFileError`` naming the file and the rule it broke, or
  ///   ``ClassifierError/unexpectedClasses(_:file:)``.
  public convenience init(modelDirectory: String, threadCount: Int? = nil) throws {
    if let ensemble = try EnsembleFolder(directory: modelDirectory) {
      try self.init(ensemble, threadCount: threadCount)
    } else {
      let folder = try ModelFolder(directory: modelDirectory)
      folder.digest.prepare()
      try self.init(folder, threadCount: threadCount)
    }
  }

  /// Prepares a model whose files are already in memory, from an app's resources for instance.
  ///
  /// - Parameters:
  ///   - configuration: the bytes of `config.json`.
  ///   - weights: the bytes of `model.safetensors`.
  ///   - threadCount: see ``init(modelDirectory:threadCount:)``.
  /// - Throws: see ``init(modelDirectory:threadCount:)``.
  public convenience init(configuration: [UInt8], weights: [UInt8], threadCount: Int? = nil) throws {
    let folder = try ModelFolder(configuration: configuration, weights: weights)
    folder.digest.prepare()
    try self.init(folder, threadCount: threadCount)
  }

  /// Prepares an ensemble whose files are already in memory.
  ///
  /// - Parameters:
  ///   - ensemble: the bytes of the ensemble's `config.json`.
  ///   - members: the bytes of each member's two files, by the name that `ensemble` gives its folder.
  ///   - threadCount: see ``init(modelDirectory:threadCount:)``.
  /// - Throws: see ``init(modelDirectory:threadCount:)``.
  public convenience init(
    ensemble: [UInt8], members: [String: (configuration: [UInt8], weights: [UInt8])], threadCount: Int? = nil
  ) throws {
    guard let folder = try EnsembleFolder(configuration: ensemble, members: members) else {
      throw ModelFileError.configuration(file: ModelFolder.configurationName, .missingKey("members"))
    }
    try self.init(folder, threadCount: threadCount)
  }

  /// - Parameter pool: threads that other models use too, instead of new ones.
  convenience init(_ folder: ModelFolder, threadCount: Int? = nil, pool: ThreadPool? = nil) throws {
    // Before the network, whose weights take a moment to pack and whose errors would hide this one.
    try Self.requireLesionClasses(folder.configuration, file: folder.configurationPath)
    let network = try Network(folder, threadCount: threadCount, pool: pool)
    try self.init(
      configuration: folder.configuration, file: folder.configurationPath,
      sha256: { [digest = folder.digest] in digest.sha256 },
      threadCount: network.pool.threadCount,
      instructionSet: network.kernels.instructionSet.rawValue, engine: .network(network))
  }

  /// - Parameters:
  ///   - file: the path of `config.json`, for errors.
  ///   - sha256: the model's identity, asked for when the first result is made.
  ///   - threadCount: what the network computes with.
  ///   - instructionSet: what the network computes with.
  /// - Throws: ``ClassifierError/unexpectedClasses(_:file:)`` when the model's outputs are not ``LesionClass`` in
  ///   its order.
  package init(
    configuration: ModelConfiguration, file: String = ModelFolder.configurationName,
    sha256: @escaping @Sendable () -> String,
    threadCount: Int, instructionSet: String, engine: Engine
  ) throws {
    try Self.requireLesionClasses(configuration, file: file)
    self.configuration = configuration
    preprocessor = Preprocessor(PreprocessingConfiguration(configuration.preprocessing))
    self.sha256 = sha256
    self.threadCount = threadCount
    self.instructionSet = instructionSet
    self.engine = engine
  }

  private static func requireLesionClasses(
    _ configuration: ModelConfiguration, file: String
  ) throws(ClassifierError) {
    guard configuration.classes == LesionClass.allCases.map(\.rawValue) else {
      throw .unexpectedClasses(configuration.classes, file: file)
    }
  }

  /// The environment variable that asks for an instruction set.
  package static var instructionSetVariable: String { KernelChoice.variable }

  /// Why the instruction set that the environment asks for is not the one in use; nil when it is, or when none is asked for.
  package static var unavailableInstructionSet: UnavailableInstructionSet? { KernelChoice.unavailable }

  /// The model that results name. Its hash is worked out while the model is loaded; what asks earlier waits for it.
  public var model: ModelIdentity {
    ModelIdentity(name: configuration.name, version: configuration.version, sha256: sha256())
  }

  /// Classifies an image that is already in memory as pixels.
  ///
  /// - Parameters:
  ///   - image: at least 32x32; a photograph through a dermatoscope, the lesion in its centre.
  ///   - metadata: ``PatientMetadata/unknown`` where nothing is known.
  ///   - views: how the network looks at the image; ``ImageViews/symmetries`` takes eight runs.
  /// - Throws: ``ImageError``, or ``ClassifierError/nonFiniteLogits(_:)``.
  public func classify(
    _ image: PixelImage, metadata: PatientMetadata = .unknown, views: ImageViews = .upright
  ) throws -> Classification {
    var timing = ClassificationTiming()
    return try classify(image, metadata: metadata, views: views, imageSHA256: nil, timing: &timing).0
  }

  /// - Parameters:
  ///   - imageSHA256: of the file that the image comes from; nil where there is none.
  ///   - timing: is told how long each step took.
  package func classify(
    _ image: PixelImage, metadata: PatientMetadata, views: ImageViews, imageSHA256: String?,
    timing: inout ClassificationTiming
  ) throws -> (Classification, NetworkOutput) {
    let input = try timing.measure(\.preprocessMilliseconds) { try preprocessor(image) }
    let output = try timing.measure(\.networkMilliseconds) {
      try self.output(of: input, metadata: metadata.encoded(), views: views)
    }
    let result = try classification(
      output, of: input, metadata: metadata, views: views, imageSHA256: imageSHA256)
    return (result, output)
  }

  /// The result that the network's output for an image makes.
  ///
  /// - Throws: ``ClassifierError/nonFiniteLogits(_:)``
  package func classification(
    _ output: NetworkOutput, of input: PreprocessedImage, metadata: PatientMetadata,
    views: ImageViews = .upright, imageSHA256: String?
  ) throws(ClassifierError) -> Classification {
    let logits = output.logits
    guard logits.allSatisfy(\.isFinite) else { throw ClassifierError.nonFiniteLogits(logits) }
    var warnings = input.warnings.map(ClassificationWarning.init)
    if configuration.fusion == nil, !metadata.isEmpty { warnings.append(.metadataUnused) }
    return Classification(
      logits: ClassScores(logits), temperature: configuration.temperature, metadata: metadata,
      warnings: warnings, imageSHA256: imageSHA256, model: model, views: views,
      abstention: { probabilities in
        // The thresholds of the sets were fitted on single views.
        Abstention(
          of: input, judges: judges(output),
          conformal: views == .upright ? configuration.abstention?.conformal : nil,
          probabilities: probabilities)
      })
  }

  /// Who decides whether a result is given: this model or an ensemble's members, those that were fitted for it.
  private func judges(_ output: NetworkOutput) -> [Abstention.Judge] {
    if let ensemble {
      return zip(ensemble.members, output.members).flatMap { member, output in member.judges(output) }
    }
    guard let settings = configuration.abstention else { return [] }
    return [Abstention.Judge(settings: settings, distance: featureDistance(of: output))]
  }

  /// How far the features lie from those of the training; `nil` for what was not fitted to abstain, and for an ensemble.
  package func featureDistance(of output: NetworkOutput) -> Double? {
    network?.featureDistance?(output.stageMeans)
  }
}
