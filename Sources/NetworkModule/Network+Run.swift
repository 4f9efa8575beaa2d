import KernelInterface
import SystemModule
import TensorModule

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
