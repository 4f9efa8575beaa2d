import Files
import ImagePipeline
import KernelInterface
import SystemModule
import TensorModule

/// A network with its head, prepared once to be run many times: weights packed, buffers planned. It is immutable; each run
/// works in a workspace of its own.
package final class Network: Sendable {
  /// The side of the square input in pixels.
  package let inputSize: Int
  /// The names of the feature maps that can be looked at, in order: one for each mark.
  package let featureMapNames: [String]
  /// The threads that share each layer's work.
  package let pool: ThreadPool
  /// The kernels chosen for this CPU.
  package let kernels: KernelSet
  package let head: ClassifierHead
  /// The distance of an image from those of the training, for a model that was fitted for it.
  package let featureDistance: FeatureDistance?
  /// The likeness of an image to those that no dermatoscope took, for a model that was fitted for it.
  package let dermoscopyProbe: DermoscopyProbe?
  /// Its operations, in the order in which they run.
  package let list: OperationList

  let steps: [Step]
  let plan: NetworkPlan
  /// The forward pass keeps masks for a backward pass, and values that take at least so many multiply-adds for each float to
  /// compute again. Nil: nothing. Where the forward pass multiplies other types than floats, the gradient is at values that
  /// are computed again as floats.
  let leastKept: Int?
  /// The means that the limits of abstention look at, by stage.
  let stageMeans: [(stage: Int, value: Value)]
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
  package convenience init(
    _ model: ModelFolder, threadCount: Int? = nil, pool: ThreadPool? = nil,
    kernels: KernelSet = KernelChoice.current
  ) throws(DermaFusionError) {
    let configuration = model.configuration
    let builder = try NetworkBuilder(model)
    let weights = NetworkWeights(
      file: model.weights, precision: configuration.precision, kernels: kernels, isReadOnce: model.isReadOnce)
    if configuration.precision == .bfloat16 { try weights.requireBFloat16(file: model.configurationPath) }
    try self.init(
      builder, weights, fusion: configuration.fusion, outputCount: configuration.outputCount,
      addsZero: configuration.outputs == .yesOrNo, abstention: configuration.abstention,
      pool: pool ?? ThreadPool(threadCount: threadCount ?? ProcessorCount.available())
    ) {
      $0.fuse(for: configuration.precision, inputLimit: Self.largestInput(configuration))
    }
    try model.digest.check()
  }

  /// - Parameters:
  ///   - outputCount: The outputs of the last layer; 0 for a network without one.
  ///   - addsZero: See ``ClassifierHead/addsZero``.
  ///   - abstention: Limits that look at the means of stages; nil for a model that has none.
  ///   - sharesMemory: False gives each buffer memory of its own, for comparison.
  ///   - leastKept: Multiply-adds for each float, see ``leastKept``; others than the default are for comparison.
  ///   - rewrite: Makes one operation of several.
  package init(
    _ builder: NetworkBuilder, _ weights: NetworkWeights, fusion: ModelConfiguration.Fusion?,
    outputCount: Int, addsZero: Bool = false, abstention: ModelConfiguration.Abstention? = nil,
    pool: ThreadPool,
    sharesMemory: Bool = true, leastKept: Int? = 32,
    rewrite: (inout OperationList) -> Void
  ) throws(DermaFusionError) {
    var builder = builder
    stageMeans = (abstention?.stages ?? []).map { ($0, builder.meansOfStage($0)) }
    var list = builder.list
    rewrite(&list)
    steps = try Self.prepared(list, weights: weights, pool: pool)
    guard let pooled = list.pooled else { preconditionFailure("a network without pooled features") }
    head = try ClassifierHead(
      builder, pooledCount: list.shape(pooled).channels, fusion: fusion, outputCount: outputCount,
      addsZero: addsZero, weights: weights)
    let channels = { [stageMeans] (stages: [Int]) in
      stageMeans.reduce(0) { $0 + (stages.contains($1.stage) ? list.shape($1.value).channels : 0) }
    }
    featureDistance = try abstention.map { (limits) throws(DermaFusionError) in
      try weights.featureDistance(channels: channels([limits.distance.stage]), classCount: outputCount)
    }
    dermoscopyProbe = try abstention?.dermoscopy.map { (limit) throws(DermaFusionError) in
      try weights.dermoscopyProbe(channels: channels(limit.stages))
    }
    try weights.requireAllBound()

    self.pool = pool
    self.list = list
    self.leastKept = weights.precision == .float32 ? leastKept : nil
    kernels = weights.kernels
    inputSize = list.image.height
    featureMapNames = list.marks.map { $0.name }
    plan = NetworkPlan(
      list, steps, outputs: [pooled] + stageMeans.map { $0.value }, sharing: sharesMemory)
  }

  /// The largest magnitude of a normalised pixel.
  private static func largestInput(_ configuration: ModelConfiguration) -> Float {
    let preprocessing = configuration.preprocessing
    let limits = zip(preprocessing.mean, preprocessing.standardDeviation).map { max($0, 1 - $0) / $1 }
    return Float(limits.reduce(0) { max($0, $1) })
  }

  private static func prepared(
    _ list: OperationList, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> [Step] {
    let operations = list.operations
    var order: [Int]?
    #if os(Linux)
      // In the order of a file, which has its tensors by their names, so that the hash, which reads it from its start, has
      // passed what was packed. Where the file's memory stays, any order will do.
      order = operations.indices.sorted {
        operations[$0].node.operation.name < operations[$1].node.operation.name
      }
    #endif
    return try pool.map(operations, order: order) { (item) throws(DermaFusionError) in
      let (value, node) = item
      let operation = try node.operation.prepare(list.shapes(node), weights, pool: pool)
      precondition(
        operation.output.shape == node.shape,
        "\(node.operation.name) makes \(operation.output.shape) where \(node.shape) was planned")
      return Step(operation: operation, inputs: node.inputs, value: value)
    }
  }

  /// The feature map to explain where nobody names another: the last, of transformers the last norm, because most tokens
  /// behind it have no way to the head.
  package var explainedFeatureMap: String {
    featureMapNames[list.marks.lastIndex { $0.isBranch } ?? list.marks.count - 1]
  }

  /// `stage0`, `stage1`, ...
  package var stageNames: [String] { list.stageEnds.indices.map { "stage\($0)" } }

  /// The feature map that a stage ends with.
  package func featureMapName(ofStage stage: Int) -> String { featureMapNames[list.stageEnds[stage]] }

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
    _ builder: NetworkBuilder, pooledCount: Int, fusion: ModelConfiguration.Fusion?, outputCount: Int,
    addsZero: Bool, weights: NetworkWeights
  ) throws(DermaFusionError) {
    var hidden: Dense?
    if let layer = builder.hidden {
      hidden = try weights.dense(
        layer.name, inputs: pooledCount, outputs: layer.channels, activation: layer.activation,
        isConvolution: true)
    }
    let featureCount = builder.hidden?.channels ?? pooledCount
    if let fusion {
      let head = try FusionHead(
        fusion, pooledCount: featureCount, classCount: outputCount, weights: weights.scope("fusion"))
      self.init(hidden: hidden, output: .fusion(head))
    } else if outputCount == 0 {
      self.init(hidden: hidden, output: .none)
    } else {
      let layer = try weights.dense(builder.classifier, inputs: featureCount, outputs: outputCount)
      self.init(hidden: hidden, output: .dense(layer), addsZero: addsZero)
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
          + "\(kernels.instructionSet.rawValue)")
    }
  }
}

/// The results of a run of the network.
package struct NetworkOutput: Sendable, Equatable {
  /// `[classes]`, before temperature and softmax.
  package let logits: [Float]
  /// The input of the head, `[channels]`: the means of the last feature map, or what follows them.
  package let pooled: [Float]
  /// The means of the last maps of the stages that the limits of abstention look at, `[channels]` by stage.
  package var stageMeans: [Int: [Float]] = [:]
  /// The output of each member of an ensemble, which has no pooled features of its own; empty for a single network.
  package var members: [NetworkOutput] = []

  package init(
    logits: [Float], pooled: [Float], stageMeans: [Int: [Float]] = [:], members: [NetworkOutput] = []
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
    try run(
      metadata: metadata, writeInput: writeInput,
      observeMarks: observe.map { observe in { observe($0.name, $0.map($1)) } }, time: time)
  }

  /// - Parameters:
  ///   - observeMarks: Sees the value of each mark as it is done; it is valid during the call.
  ///   - kept: The places of what is to be kept for a backward pass.
  func run<Failure: Error>(
    metadata: MetadataVector, writeInput: (UnsafeMutablePointer<Float>) throws(Failure) -> Void,
    observeMarks: ((_ mark: OperationList.Mark, _ value: FeatureMap) -> Void)?,
    kept: [Value: Kept] = [:],
    time: ((_ step: NetworkStep, _ milliseconds: Double) -> Void)? = nil
  ) throws(Failure) -> NetworkOutput {
    try withWorkspace { (workspace) throws(Failure) in
      let image = Value(index: 0)
      try writeInput(workspace.stored(image, plan).pointer)
      return ThreadPool.withDenormalsFlushed {
        runOperations(in: workspace, observe: observeMarks, kept: kept, time: time)
        let pooled = vector(list.pooled, in: workspace)
        let start = time == nil ? 0 : MonotonicClock.milliseconds
        let logits = head.logits(pooled: pooled, metadata: metadata)
        time?(NetworkStep(layer: "head", title: "classifier head"), MonotonicClock.milliseconds - start)
        return NetworkOutput(
          logits: logits, pooled: pooled, stageMeans: seenMeans(in: workspace))
      }
    }
  }

  private func runOperations(
    in workspace: Workspace, observe: ((_ mark: OperationList.Mark, _ value: FeatureMap) -> Void)?,
    kept: [Value: Kept], time: ((_ step: NetworkStep, _ milliseconds: Double) -> Void)?
  ) {
    var marks = list.marks[...]
    for (index, step) in steps.enumerated() {
      let output = workspace.stored(step.value, plan)
      let kept = kept[step.value]
      let start = time == nil ? 0 : MonotonicClock.milliseconds
      step.operation.run(
        step.inputs.map { workspace.stored($0, plan) }, into: output,
        in: Run(scratch: workspace.pointer(plan.scratch[index]), kept: kept, pool: pool))
      if case .mask(let activation, let pointer) = kept, !step.operation.writesMasks {
        GradientMask(activation, pointer, output.layout.shape, kernels: kernels).write(output.map, pool: pool)
      }
      #if DEBUG
        // Not an assertion: debug builds optimise this module.
        precondition(
          !output.hasStrayValues, "values in the channels' padding of \(step.operation.output.shape)")
      #endif
      time?(profileStep(step, layer: marks.first?.name ?? "pool"), MonotonicClock.milliseconds - start)
      if let mark = marks.first, mark.value == step.value {
        observe?(mark, output.map)
        marks.removeFirst()
      }
    }
  }

  /// The means that the limits of abstention look at, by stage.
  private func seenMeans(in workspace: Workspace) -> [Int: [Float]] {
    var means: [Int: [Float]] = [:]
    for (stage, value) in stageMeans { means[stage] = vector(value, in: workspace) }
    return means
  }

  /// A vector that a run left; none without a value.
  private func vector(_ value: Value?, in workspace: Workspace) -> [Float] {
    guard let value else { return [] }
    let vector = workspace.stored(value, plan)
    return Array(UnsafeBufferPointer(start: vector.pointer, count: vector.layout.shape.channels))
  }
}

/// A step of a run, for a profile.
package struct NetworkStep: Sendable, Equatable {
  /// The mark that it leads to, by timm's name of the layer or block.
  package let layer: String
  /// The computation, in short: `expand, depthwise 5x5 / 2`.
  package let title: String
  /// The input's shape; nil for vectors.
  package var input: FeatureShape?
  /// The output's shape; nil for vectors.
  package var output: FeatureShape?
  /// Multiply-adds, rows computed twice at the seams of bands not counted.
  package var multiplyAdds = 0
}

extension Network {
  /// The node of a step's value.
  private func node(_ value: Value) -> OperationList.Node {
    guard let node = list.nodes[value.index] else { preconditionFailure("a step without its operation") }
    return node
  }

  /// Multiply-adds of the step that makes a value.
  func multiplyAdds(_ value: Value) -> Int {
    let node = node(value)
    return node.operation.multiplyAdds(list.shapes(node))
  }

  private func profileStep(_ step: Step, layer: String) -> NetworkStep {
    let node = node(step.value)
    let shapes = list.shapes(node)
    return NetworkStep(
      layer: layer, title: node.operation.title, input: shapes[0],
      output: node.shape.pixelCount == 1 ? nil : node.shape,
      multiplyAdds: node.operation.multiplyAdds(shapes))
  }
}

/// The places in the input that the pixels of a feature map look at: the centre of pixel `i`'s receptive field is the input's
/// pixel `first + step * i`, across and down alike.
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
  /// Geometry of a map stretched over the input, as `grad-cam` places it.
  package init(stretching count: Int, over inputSize: Int) {
    let step = Double(inputSize) / Double(count)
    self.init(first: step / 2 - 0.5, step: step, count: count)
  }

  /// Geometry of the map that a convolution or a pooling makes of this one.
  package func after(_ window: Window) -> FeatureMapGeometry {
    let resolved = window.padding.resolve(
      input: count, kernelSize: window.kernelSize, stride: window.stride)
    let centre = Double(window.kernelSize - 1) / 2 - Double(resolved.before)
    return FeatureMapGeometry(
      first: first + centre * step, step: step * Double(window.stride), count: resolved.output)
  }
}

extension Network {
  /// The places that the pixels of a feature map look at.
  ///
  /// - Parameter name: One of ``featureMapNames``.
  package func geometry(ofFeatureMap name: String) -> FeatureMapGeometry {
    guard let mark = list.marks.first(where: { $0.name == name }) else {
      preconditionFailure("no feature map \(name) among \(featureMapNames)")
    }
    return list.windows(to: mark.value).reduce(FeatureMapGeometry(first: 0, step: 1, count: inputSize)) {
      $0.after($1)
    }
  }
}

extension OperationList {
  /// The windows on the way from the image to a value, in order; beside a shortcut, those of the longer way.
  func windows(to value: Value) -> [Window] {
    guard let node = nodes[value.index] else { return [] }
    return windows(to: node.inputs[0]) + (node.operation.window.map { [$0] } ?? [])
  }
}
