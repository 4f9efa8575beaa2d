import Files
import ImagePipeline
import KernelInterface
import SystemModule
import TensorModule

/// A network with its head, prepared once to be run many times: batch norms folded, weights packed, buffers planned. It is
/// immutable; each run works in a workspace of its own.
package final class Network: Sendable {
  /// The side of the square input in pixels.
  package let inputSize: Int
  /// The names of the feature maps that can be looked at, in order: one for each block.
  package let featureMapNames: [String]
  /// The threads that share each layer's work.
  package let pool: ThreadPool
  /// The kernels chosen for this CPU.
  package let kernels: KernelSet
  package let head: ClassifierHead
  /// How unlike the training images an image is, for a model that was fitted for it.
  package let featureDistance: FeatureDistance?

  let blocks: [any Block]
  let plan: NetworkPlan
  /// The index of the block that each stage ends with.
  let stageEnds: [Int]
  /// The index of the block whose output ``featureDistance`` looks at.
  let distanceBlock: Int?
  /// Empty until the first gradient is asked for.
  let gradients = GradientCache()
  private let idleWorkspaces = Locked<[Workspace]>([])
  private static let sideBySideCount = ProcessorCount.available()

  /// Prepares the network of a model.
  ///
  /// - Parameters:
  ///   - threadCount: Threads to share each layer's work; nil: as many as the process may use.
  ///   - pool: Threads that other networks use too, instead of so many new ones.
  /// - Throws: `DermaFusionError` for a tensor that is missing, surplus, misshapen or not finite, and for weights that are
  ///   not those that the folder's `SHA256SUMS` states.
  package init(
    _ model: ModelFolder, threadCount: Int? = nil, pool: ThreadPool? = nil,
    kernels: KernelSet = KernelChoice.current
  ) throws(DermaFusionError) {
    let configuration = model.configuration
    let architecture = try Architecture(of: model)
    let weights = NetworkWeights(
      binder: WeightBinder(model.weights), padding: configuration.padding,
      batchNormEpsilon: configuration.batchNormEpsilon, precision: configuration.precision,
      inputLimit: Self.largestInput(configuration), kernels: kernels)
    if configuration.precision == .bfloat16 { try weights.requireBFloat16(file: model.configurationPath) }
    let pool = pool ?? ThreadPool(threadCount: threadCount ?? ProcessorCount.available())
    let size = configuration.preprocessing.size
    let blocks = try Self.blocks(architecture, inputSize: size, weights: weights, pool: pool)
    let stageEnds = architecture.stageEnds
    let classCount = configuration.classes.count
    head = try ClassifierHead(
      architecture, pooledCount: blocks[blocks.count - 1].output.channels, fusion: configuration.fusion,
      classCount: classCount, weights: weights)
    if let distance = configuration.abstention?.distance {
      let block = stageEnds[distance.stage]
      distanceBlock = block
      featureDistance = try weights.featureDistance(
        channels: blocks[block].output.channels, classCount: classCount)
    } else {
      distanceBlock = nil
      featureDistance = nil
    }
    try weights.binder.requireAllBound()
    try model.digest.check()

    self.pool = pool
    self.kernels = kernels
    self.blocks = blocks
    self.stageEnds = stageEnds
    inputSize = size
    featureMapNames = blocks.map { $0.name }
    plan = NetworkPlan(blocks, kernels: kernels)
  }

  /// The largest magnitude of a normalised pixel.
  private static func largestInput(_ configuration: ModelConfiguration) -> Float {
    let preprocessing = configuration.preprocessing
    let limits = zip(preprocessing.mean, preprocessing.standardDeviation).map { max($0, 1 - $0) / $1 }
    return Float(limits.reduce(0) { max($0, $1) })
  }

  private static func blocks(
    _ architecture: Architecture, inputSize: Int, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> [any Block] {
    var places: [(place: Architecture.Place, input: FeatureShape)] = []
    var shape = FeatureShape(height: inputSize, width: inputSize, channels: 3)
    for place in architecture.blocks {
      places.append((place, shape))
      shape = place.configuration.outputShape(shape, weights: weights)
    }
    // The last blocks have the most weights: begun first, they leave no thread waiting for another.
    return try pool.map(places) { (item) throws(DermaFusionError) in
      try item.place.configuration.block(
        name: item.place.name, input: item.input, weights: weights, pool: pool)
    }
  }

  /// `stage0`, `stage1`, ...
  package var stageNames: [String] { stageEnds.indices.map { "stage\($0)" } }

  /// The feature map that a stage ends with.
  package func featureMapName(ofStage stage: Int) -> String { featureMapNames[stageEnds[stage]] }

  /// Lends a workspace to `body`: one that is idle, or a new one when all are in use.
  func withWorkspace<Result, Failure: Error>(
    _ body: (Workspace) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let workspace = idleWorkspaces.withLock { $0.popLast() } ?? Workspace(plan)
    // As many as can run side by side; otherwise a burst of callers keeps its memory for good.
    defer { idleWorkspaces.withLock { if $0.count < Self.sideBySideCount { $0.append(workspace) } } }
    return try body(workspace)
  }
}

extension ClassifierHead {
  fileprivate init(
    _ architecture: Architecture, pooledCount: Int, fusion: ModelConfiguration.Fusion?, classCount: Int,
    weights: NetworkWeights
  ) throws(DermaFusionError) {
    var hidden: Dense?
    if let layer = architecture.hidden {
      hidden = try weights.denseConvolution(
        layer.name, inputs: pooledCount, outputs: layer.channels, activation: layer.activation)
    }
    let featureCount = architecture.hidden?.channels ?? pooledCount
    if let fusion {
      let head = try FusionHead(
        fusion, pooledCount: featureCount, classCount: classCount, weights: weights.scope("fusion"))
      self.init(hidden: hidden, output: .fusion(head))
    } else {
      let layer = try weights.dense(architecture.classifier, inputs: featureCount, outputs: classCount)
      self.init(hidden: hidden, output: .dense(layer))
    }
  }
}

extension NetworkWeights {
  /// Checks that these kernels can compute products of bfloat16.
  fileprivate func requireBFloat16(file: String) throws(DermaFusionError) {
    guard kernels.products.bfloat16 != nil else {
      throw .unusablePrecision(
        file: file,
        rule: "bfloat16 needs a CPU with AVX-512 BF16 and the instruction set "
          + "\(InstructionSet.avx512vnni.rawValue), and this process computes with "
          + kernels.instructionSet.rawValue)
    }
  }
}
