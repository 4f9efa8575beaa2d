import KernelInterface
import TensorModule

extension MBConvBlock {
  /// Whether the depthwise convolution writes the words that the projection reads: without a gate nothing comes between.
  private var isFilteredPacked: Bool { projection.matrix.type != .float32 && squeezeExcite == nil }

  /// Step 0 filters, step 1 projects.
  package var memory: BlockMemory {
    let matrix = projection.matrix
    let kernels = matrix.kernels
    let channels = filter.depthwise.paddedChannels
    let gated = squeezeExcite == nil ? 0 : 1
    let filteredCount =
      isFilteredPacked
      ? PackedMap.count(plan.output, matrix.type, kernels: kernels)
      : FeatureMap.count(plan.output, kernels: kernels)
    let filterScratchCount = plan.scratchCount + (isFilteredPacked ? plan.widestRowCount : 0)
    return BlockMemory(
      stepCount: 2, firstOutputStep: 1, lastInputStep: hasSkip ? 1 : 0,
      buffers: [
        .init(count: filteredCount, steps: 0...1),
        .init(count: gated * plan.bandCount * channels, steps: 0...1),
        .init(count: gated * channels, steps: 1...1),
        .init(count: squeezeExcite?.scratchCount ?? 0, steps: 1...1),
        .init(count: gated * projection.scratchCount(pixelCount: output.pixelCount), steps: 1...1),
        .init(count: filter.packedCount(input), steps: 0...0),
      ],
      taskScratchCount: max(filterScratchCount, projection.taskScratchCount(pixelCount: output.pixelCount)))
  }

  package func run(_ input: FeatureMap, into output: FeatureMap, in run: BlockRun) {
    let matrix = projection.matrix
    let residual = hasSkip ? input : nil
    if isFilteredPacked {
      let filtered = PackedMap(run.buffers[0], plan.output, matrix.type, kernels: matrix.kernels)
      run.measure(filterStep) {
        filter(
          input, packed: run.buffers[5], into: filtered, plan: plan, scratch: run.taskScratch, pool: run.pool)
      }
      run.measure(projectionStep) {
        projection(filtered, residual: residual, into: output, pool: run.pool)
      }
      return
    }
    let filtered = FeatureMap(run.buffers[0], plan.output, kernels: matrix.kernels)
    let sums = squeezeExcite == nil ? nil : run.buffers[1]
    run.measure(filterStep) {
      filter(
        input, packed: run.buffers[5], into: filtered, sums: sums, plan: plan, scratch: run.taskScratch,
        pool: run.pool)
      if let grid { filtered.round(to: grid, kernels: matrix.kernels, pool: run.pool) }
    }
    var gate: UnsafePointer<Float>?
    if let squeezeExcite, let sums {
      run.measure(
        .squeezeExcite(name, on: plan.output, hiddenChannels: squeezeExcite.reduce.columnCount)
      ) {
        squeezeExcite(
          sums: sums, bandCount: plan.bandCount, pixelCount: plan.output.pixelCount, gate: run.buffers[2],
          scratch: run.buffers[3], pool: run.pool)
      }
      gate = UnsafePointer(run.buffers[2])
    }
    run.measure(projectionStep) {
      projection(
        filtered, gate: gate, residual: residual, into: output, scratch: run.buffers[4],
        taskScratch: run.taskScratch, pool: run.pool)
    }
  }

  private var filterStep: NetworkStep {
    .filter(
      name, from: input, to: plan.output, window: filter.depthwise.window, isExpanded: filter.expansion != nil
    )
  }

  private var projectionStep: NetworkStep { .pointwise(name, from: plan.output, to: output) }
}
