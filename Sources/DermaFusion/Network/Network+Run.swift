import TensorModule

/// What a run of the network gives.
package struct NetworkOutput: Sendable, Equatable {
  /// `[classes]`, before temperature and softmax.
  package let logits: [Float]
  /// `[head channels]`: the means of the last feature map.
  package let pooled: [Float]
}

extension Network {
  /// Runs the network on one image.
  ///
  /// - Parameters:
  ///   - metadata: `[4]`, see ``PatientMetadata/encoded()``; ignored by a model without a fusion head.
  ///   - writeInput: Writes the normalised image, NHWC `[inputSize, inputSize, 3]`.
  ///   - observe: Sees each feature map of ``featureMapNames`` as it is done; the map is valid during the call.
  package func run(
    metadata: [Float], writeInput: (UnsafeMutablePointer<Float>) throws -> Void,
    observe: ((_ name: String, _ map: FeatureMap) -> Void)? = nil
  ) rethrows -> NetworkOutput {
    try withWorkspace { workspace in
      try writeInput(workspace.pointer(plan.input))
      return ThreadPool.withDenormalsFlushed {
        let map = features(in: workspace, observe: observe)
        let pooled = pool(map, in: workspace)
        return NetworkOutput(logits: head.logits(pooled: pooled, metadata: metadata), pooled: pooled)
      }
    }
  }

  /// The last feature map of the image in the workspace.
  private func features(
    in workspace: Workspace, observe: ((String, FeatureMap) -> Void)?
  ) -> FeatureMap {
    let scratch = workspace.pointer(plan.threadScratch)
    var current = workspace.map(plan.stem, plan.stemShape, kernels: kernels)
    stem(
      FeatureMap(workspace.pointer(plan.input), shape: plan.inputShape, pixelStride: 3), into: current,
      scratch: scratch, pool: pool)
    observe?("conv_stem", current)
    for (block, buffers) in zip(blocks, plan.blocks) {
      let output = workspace.map(buffers.output, buffers.outputShape, kernels: kernels)
      run(block, buffers, input: current, output: output, in: workspace)
      observe?(block.name, output)
      current = output
    }
    let last = workspace.map(plan.head, plan.headShape, kernels: kernels)
    headConvolution(current, into: last, pool: pool)
    observe?("conv_head", last)
    return last
  }

  private func run(
    _ block: MBConvBlock, _ buffers: NetworkPlan.Block, input: FeatureMap, output: FeatureMap,
    in workspace: Workspace
  ) {
    let filtered = workspace.map(buffers.filtered, buffers.filter.output, kernels: kernels)
    let residual = block.hasSkip ? input : nil
    let sums = block.squeezeExcite == nil ? nil : workspace.pointer(buffers.sums)
    block.filter(
      input, into: filtered, sums: sums, plan: buffers.filter, scratch: workspace.pointer(plan.threadScratch),
      pool: pool)
    var gate: UnsafeMutablePointer<Float>?
    if let squeezeExcite = block.squeezeExcite, let sums {
      gate = workspace.pointer(buffers.gate)
      squeezeExcite(
        sums: sums, bandCount: buffers.filter.bandCount, pixelCount: filtered.shape.pixelCount,
        gate: workspace.pointer(buffers.gate), scratch: workspace.pointer(buffers.hidden))
    }
    block.projection(
      filtered, gate: gate.map { UnsafePointer($0) }, residual: residual, into: output,
      scratch: workspace.pointer(buffers.scaledPanels), pool: pool)
  }

  private func pool(_ map: FeatureMap, in workspace: Workspace) -> [Float] {
    let means = workspace.pointer(plan.pooled)
    GlobalAveragePooling.compute(
      map, into: means, scratch: workspace.pointer(plan.poolingScratch), kernels: kernels)
    return Array(UnsafeBufferPointer(start: means, count: map.shape.channels))
  }
}
