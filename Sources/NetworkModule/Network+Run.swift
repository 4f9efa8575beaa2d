import TensorModule

/// What a run of the network gives.
package struct NetworkOutput: Sendable, Equatable {
  /// `[classes]`, before temperature and softmax.
  package let logits: [Float]
  /// `[head channels]`: the means of the last feature map.
  package let pooled: [Float]
  /// `[channels]`: the means of the map that ``FeatureDistance`` looks at; empty for a model that was not fitted for it.
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
  package func run(
    metadata: MetadataVector, writeInput: (UnsafeMutablePointer<Float>) throws -> Void,
    observe: ((_ name: String, _ map: FeatureMap) -> Void)? = nil,
    time: ((NetworkStep, Duration) -> Void)? = nil
  ) rethrows -> NetworkOutput {
    try withWorkspace { workspace in
      try writeInput(workspace.pointer(plan.input))
      return ThreadPool.withDenormalsFlushed {
        let run = Run(network: self, workspace: workspace, observe: observe, time: time)
        let (pooled, stageMeans) = run.features()
        let logits = run.measure(NetworkStep(layer: "head", operation: .head)) {
          head.logits(pooled: pooled, metadata: metadata)
        }
        return NetworkOutput(logits: logits, pooled: pooled, stageMeans: stageMeans)
      }
    }
  }
}

/// One run: the network, the memory it works in, and who looks on.
private struct Run {
  let network: Network
  let workspace: Workspace
  let observe: ((_ name: String, _ map: FeatureMap) -> Void)?
  let time: ((NetworkStep, Duration) -> Void)?

  var plan: NetworkPlan { network.plan }

  /// Does a step; asks for the time only when somebody wants to know it.
  func measure<Result>(_ step: @autoclosure () -> NetworkStep, _ body: () -> Result) -> Result {
    guard let time else { return body() }
    let start = ContinuousClock.now
    let result = body()
    time(step(), ContinuousClock.now - start)
    return result
  }

  /// The means of the last feature map of the image in the workspace, and of the one that the distance is taken at.
  func features() -> (pooled: [Float], stageMeans: [Float]) {
    var stageMeans: [Float] = []
    var current = map(plan.stem, plan.stemShape)
    measure(
      NetworkStep(
        layer: "conv_stem", operation: .convolution, input: plan.inputShape, output: plan.stemShape,
        multiplyAdds: plan.stemShape.pixelCount * plan.stemShape.channels * 27)
    ) {
      network.stem(
        FeatureMap(workspace.pointer(plan.input), shape: plan.inputShape, pixelStride: 3), into: current,
        scratch: workspace.pointer(plan.taskScratch), pool: network.pool)
    }
    observe?("conv_stem", current)
    for (index, (block, buffers)) in zip(network.blocks, plan.blocks).enumerated() {
      let output = map(buffers.output, buffers.outputShape)
      compute(block, buffers, input: current, output: output)
      observe?(block.name, output)
      if index == network.distanceBlock { stageMeans = pool(output) }
      current = output
    }
    let last = map(plan.head, plan.headShape)
    measure(
      NetworkStep(
        layer: "conv_head", operation: .projection, input: current.shape, output: last.shape,
        multiplyAdds: last.shape.pixelCount * last.shape.channels * current.shape.channels)
    ) {
      network.headConvolution(current, into: last, pool: network.pool)
    }
    observe?("conv_head", last)
    let pooled = measure(NetworkStep(layer: "pool", operation: .pooling, input: last.shape)) { pool(last) }
    return (pooled, stageMeans)
  }

  private func compute(
    _ block: MBConvBlock, _ buffers: NetworkPlan.Block, input: FeatureMap, output: FeatureMap
  ) {
    let filtered = map(buffers.filtered, buffers.filter.output)
    let sums = block.squeezeExcite == nil ? nil : workspace.pointer(buffers.sums)
    measure(block.filterStep(input: input.shape, output: filtered.shape)) {
      block.filter(
        input, into: filtered, sums: sums, plan: buffers.filter,
        scratch: workspace.pointer(plan.taskScratch), pool: network.pool)
    }
    var gate: UnsafePointer<Float>?
    if let squeezeExcite = block.squeezeExcite, let sums {
      let target = workspace.pointer(buffers.gate)
      measure(block.squeezeStep(filtered.shape)) {
        squeezeExcite(
          sums: sums, bandCount: buffers.filter.bandCount, pixelCount: filtered.shape.pixelCount,
          gate: target, scratch: workspace.pointer(buffers.hidden), pool: network.pool)
      }
      gate = UnsafePointer(target)
    }
    measure(block.projectionStep(input: filtered.shape, output: output.shape)) {
      block.projection(
        filtered, gate: gate, residual: block.hasSkip ? input : nil, into: output,
        scratch: workspace.pointer(buffers.scaledPanels), pool: network.pool)
    }
  }

  private func pool(_ map: FeatureMap) -> [Float] {
    let means = workspace.pointer(plan.pooled)
    GlobalAveragePooling.compute(
      map, into: means, scratch: workspace.pointer(plan.poolingScratch), kernels: network.kernels)
    return Array(UnsafeBufferPointer(start: means, count: map.shape.channels))
  }

  private func map(_ offset: Int, _ shape: FeatureShape) -> FeatureMap {
    FeatureMap(workspace.pointer(offset), shape, kernels: network.kernels)
  }
}
