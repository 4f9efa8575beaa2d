import KernelInterface
import ModelFiles
import SystemModule
import TensorModule

/// An EfficientNet with its head, prepared once to be run many times: batch norms folded, weights packed, buffers
/// planned. It is immutable; each run works in a workspace of its own.
package final class Network: Sendable {
  /// The side of the square input in pixels.
  package let inputSize: Int
  /// Names of the feature maps that can be looked at, in order: `conv_stem`, `blocks.0.0`, ..., `conv_head`.
  package let featureMapNames: [String]
  /// The threads that share each layer's work.
  package let pool: ThreadPool
  /// The kernels chosen for this CPU.
  package let kernels: KernelSet

  let stem: Convolution2D
  package let blocks: [MBConvBlock]
  let headConvolution: PointwiseConvolution
  package let head: ClassifierHead
  let plan: NetworkPlan
  /// How unlike the training images an image is, for a model that was fitted for it.
  package let featureDistance: FeatureDistance?
  /// The block whose output ``featureDistance`` looks at, from 0.
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
  /// - Throws: `ModelFileError` for a tensor that is missing, surplus, misshapen or not finite, and for weights that are
  ///   not those that the folder's `SHA256SUMS` states.
  package init(
    _ model: ModelFolder, threadCount: Int? = nil, pool: ThreadPool? = nil,
    kernels: KernelSet = KernelChoice.current
  ) throws(ModelFileError) {
    let configuration = model.configuration
    guard let architecture = EfficientNetArchitecture(named: configuration.architecture) else {
      preconditionFailure("architecture \(configuration.architecture) passed the configuration's check")
    }
    let weights = NetworkWeights(
      binder: WeightBinder(model.weights), architecture: architecture, padding: configuration.padding,
      batchNormEpsilon: configuration.batchNormEpsilon, kernels: kernels)

    let (stemWeight, stemBias) = try weights.convolution(
      "conv_stem", norm: "bn1", shape: [architecture.stemChannels, 3, 3, 3])
    stem = Convolution2D(
      weight: stemWeight, bias: stemBias, inputChannels: 3, window: weights.window(kernelSize: 3, stride: 2),
      activation: weights.activation, kernels: kernels)
    let pool = pool ?? ThreadPool(threadCount: threadCount ?? ProcessorCount.available())
    self.pool = pool
    blocks = try Self.blocks(architecture, weights: weights, pool: pool)
    headConvolution = try weights.pointwise(
      "conv_head", norm: "bn2", inputs: architecture.stages[architecture.stages.count - 1].channels,
      outputs: architecture.headChannels, activation: weights.activation)
    let classCount = configuration.classes.count
    if let fusion = configuration.fusion {
      head = .fusion(
        try FusionHead(
          fusion, pooledCount: architecture.headChannels, classCount: classCount,
          weights: weights.scope("fusion")))
    } else {
      head = .dense(
        try weights.dense("classifier", inputs: architecture.headChannels, outputs: classCount))
    }
    featureDistance = try configuration.abstention.map { (abstention) throws(ModelFileError) in
      try weights.featureDistance(abstention.distance, classCount: classCount)
    }
    let distanceStage = configuration.abstention?.distance.stage
    distanceBlock = if let distanceStage { blocks.lastIndex(ofStage: distanceStage) } else { nil }
    try weights.binder.requireAllBound()
    try model.digest.check()

    self.kernels = kernels
    inputSize = configuration.preprocessing.size
    featureMapNames = ["conv_stem"] + blocks.map(\.name) + ["conv_head"]
    plan = NetworkPlan(
      inputSize: inputSize, stem: stem, blocks: blocks, headConvolution: headConvolution, kernels: kernels)
  }

  private static func blocks(
    _ architecture: EfficientNetArchitecture, weights: NetworkWeights, pool: ThreadPool
  ) throws(ModelFileError) -> [MBConvBlock] {
    var places: [(name: String, stageIndex: Int, stride: Int, inputChannels: Int)] = []
    var channels = architecture.stemChannels
    for (stageIndex, stage) in architecture.stages.enumerated() {
      for index in 0..<stage.blockCount {
        places.append(
          (
            "blocks.\(stageIndex).\(index)", stageIndex, index == 0 ? stage.stride : 1,
            inputChannels: channels
          ))
        channels = stage.channels
      }
    }
    // The last blocks have the most weights: begun first, they leave no thread waiting for another.
    return try pool.map(places) { (place) throws(ModelFileError) in
      try MBConvBlock(
        name: place.name, stageIndex: place.stageIndex, stage: architecture.stages[place.stageIndex],
        stride: place.stride, inputChannels: place.inputChannels, weights: weights)
    }
  }

  /// Lends a workspace to `body`: one that is idle, or a new one when all are in use.
  func withWorkspace<Result>(_ body: (Workspace) throws -> Result) rethrows -> Result {
    let workspace = idleWorkspaces.withLock { $0.popLast() } ?? Workspace(plan)
    // As many as can run side by side; one moment of many more callers would else hold their memory for good.
    defer { idleWorkspaces.withLock { if $0.count < Self.sideBySideCount { $0.append(workspace) } } }
    return try body(workspace)
  }
}
