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
  /// Empty before the first gradient.
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
      file: model.weights, padding: configuration.padding,
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
    try weights.requireAllBound()
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
      let block = try item.place.configuration.block(
        name: item.place.name, input: item.input, weights: weights, pool: pool)
      let output = item.place.configuration.outputShape(item.input, weights: weights)
      precondition(block.output == output, "\(block.name) makes \(block.output) where \(output) was planned")
      return block
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

/// What a run of the network gives.
package struct NetworkOutput: Sendable, Equatable {
  /// `[classes]`, before temperature and softmax.
  package let logits: [Float]
  /// The means of the last feature map, `[channels]`.
  package let pooled: [Float]
  /// The means of the map that ``FeatureDistance`` looks at, `[channels]`; empty for a model that was not fitted for it.
  package var stageMeans: [Float] = []
  /// What each member of an ensemble gave, which has no pooled features of its own; empty for a single network.
  package var members: [NetworkOutput] = []

  package init(
    logits: [Float], pooled: [Float], stageMeans: [Float] = [], members: [NetworkOutput] = []
  ) {
    self.logits = logits
    self.pooled = pooled
    self.stageMeans = stageMeans
    self.members = members
  }
}

extension Network {
  /// Runs the network on one image.
  ///
  /// - Parameters:
  ///   - metadata: ignored by a model without a fusion head.
  ///   - writeInput: Writes the normalised image, NHWC `[inputSize, inputSize, 3]`.
  ///   - observe: Sees each feature map of ``featureMapNames`` as it is done; the map is valid during the call.
  ///   - time: Is told how long each step took.
  package func run<Failure: Error>(
    metadata: MetadataVector, writeInput: (UnsafeMutablePointer<Float>) throws(Failure) -> Void,
    observe: ((_ name: String, _ map: FeatureMap) -> Void)? = nil,
    time: ((_ step: NetworkStep, _ milliseconds: Double) -> Void)? = nil
  ) throws(Failure) -> NetworkOutput {
    try withWorkspace { (workspace) throws(Failure) in
      try writeInput(workspace.pointer(plan.input))
      return ThreadPool.withDenormalsFlushed {
        let timer = StepTimer(tell: time)
        let (pooled, stageMeans) = features(in: workspace, observe: observe, timer: timer)
        let logits = timer.measure(NetworkStep(layer: "head", operation: .head)) {
          head.logits(pooled: pooled, metadata: metadata)
        }
        return NetworkOutput(logits: logits, pooled: pooled, stageMeans: stageMeans)
      }
    }
  }

  /// The means of the last feature map of the image in the workspace, and of the one that the distance is taken at.
  private func features(
    in workspace: Workspace, observe: ((_ name: String, _ map: FeatureMap) -> Void)?, timer: StepTimer
  ) -> (pooled: [Float], stageMeans: [Float]) {
    let image = blocks[0].input
    var current = FeatureMap(workspace.pointer(plan.input), shape: image, pixelStride: image.channels)
    var stageMeans: [Float] = []
    for (index, block) in blocks.enumerated() {
      let places = plan.blocks[index]
      let output = FeatureMap(workspace.pointer(places.output), block.output, kernels: kernels)
      block.run(
        current, into: output,
        in: BlockRun(
          buffers: places.buffers.map { workspace.pointer($0) },
          taskScratch: workspace.pointer(plan.taskScratch), pool: pool, timer: timer))
      observe?(block.name, output)
      if index == distanceBlock { stageMeans = means(of: output, in: workspace) }
      current = output
    }
    let step = NetworkStep(layer: "pool", operation: .pooling, input: current.shape)
    let pooled = timer.measure(step) { means(of: current, in: workspace) }
    return (pooled, stageMeans)
  }

  private func means(of map: FeatureMap, in workspace: Workspace) -> [Float] {
    let means = workspace.pointer(plan.pooled)
    GlobalAveragePooling.compute(
      map, into: means, scratch: workspace.pointer(plan.poolingScratch), kernels: kernels)
    return Array(UnsafeBufferPointer(start: means, count: map.shape.channels))
  }
}

/// Where in the input the pixels of a feature map look: the centre of pixel `i`'s receptive field is the input's pixel
/// `first + step * i`, across and down alike.
///
/// With TensorFlow's SAME padding this is not the centre of the pixel's square when the map is stretched over the input:
/// an odd zero goes after the input, so that the centres move to the right and down.
package struct FeatureMapGeometry: Sendable, Equatable {
  /// The centre of pixel 0's receptive field, in pixels of the input whose centres are whole numbers.
  package let first: Double
  /// From one pixel's centre to the next, in pixels of the input.
  package let step: Double
  /// The map's pixels along one side.
  package let count: Int
}

extension FeatureMapGeometry {
  /// Of a map stretched over the input, as `grad-cam` places it.
  package init(stretching count: Int, over inputSize: Int) {
    let step = Double(inputSize) / Double(count)
    self.init(first: step / 2 - 0.5, step: step, count: count)
  }

  /// Of what a convolution or a pooling makes of this map.
  package func after(_ window: Window) -> FeatureMapGeometry {
    let resolved = window.padding.resolve(
      input: count, kernelSize: window.kernelSize, stride: window.stride)
    let centre = Double(window.kernelSize - 1) / 2 - Double(resolved.before)
    return FeatureMapGeometry(
      first: first + centre * step, step: step * Double(window.stride), count: resolved.output)
  }
}

extension Network {
  /// Where the pixels of a feature map look.
  ///
  /// - Parameter name: One of ``featureMapNames``.
  package func geometry(ofFeatureMap name: String) -> FeatureMapGeometry {
    guard let index = featureMapNames.firstIndex(of: name) else {
      preconditionFailure("no feature map \(name) among \(featureMapNames)")
    }
    return blocks[...index].reduce(FeatureMapGeometry(first: 0, step: 1, count: inputSize)) {
      geometry, block in
      block.windows.reduce(geometry) { $0.after($1) }
    }
  }
}

/// The blocks packed for the backward pass, each when it is first needed: classifying alone packs none.
final class GradientCache: Sendable {
  private let gradients = Locked<[Int: any BlockGradient]>([:])
  /// Buffers kept from the last backward pass; fresh pages cost more than the arithmetic.
  private let idle = Locked<[AlignedBuffer]>([])

  /// The maps that are kept, and the gradients with their scratch memory.
  private static let idleLimit = 2

  /// At least so many floats, with anything in them, for the caller alone.
  func take(count: Int) -> AlignedBuffer {
    idle.withLock { idle in
      let fitting = idle.indices.filter { idle[$0].count >= count }.min { idle[$0].count < idle[$1].count }
      return fitting.map { idle.remove(at: $0) }
    } ?? AlignedBuffer(count: count)
  }

  /// Keeps the largest of what comes back.
  func giveBack(_ buffer: AlignedBuffer) {
    idle.withLock { idle in
      idle.append(buffer)
      if idle.count > Self.idleLimit, let least = idle.indices.min(by: { idle[$0].count < idle[$1].count }) {
        idle.remove(at: least)
      }
    }
  }

  /// The gradient of one of a network's blocks, but the first.
  ///
  /// - Parameters:
  ///   - blocks: all of the network's, in order.
  ///   - pool: threads that pack its weights.
  func gradient(ofBlock index: Int, among blocks: [any Block], pool: ThreadPool) -> any BlockGradient {
    gradients.withLock { gradients in
      if let made = gradients[index] { return made }
      guard let made = blocks[index].makeGradient(pool: pool) else {
        preconditionFailure("no feature map lies before \(blocks[index].name)")
      }
      gradients[index] = made
      return made
    }
  }
}
