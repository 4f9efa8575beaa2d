import KernelInterface
import ReferenceLayers
import TestModels
import Testing

@testable import TensorModule

@Suite struct PointwiseConvolutionTests {
  static let shapes: [(height: Int, width: Int)] = [
    (1, 1), (1, 2), (3, 2), (7, 1), (3, 9), (7, 7), (12, 12), (37, 29),
  ]

  @Test(
    arguments: KernelChoice.runnable, [(1, 1), (3, 7), (24, 9), (27, 40), (56, 19), (144, 24), (23, 112)])
  func equalsTheReferenceForAnyNumberOfThreads(kernels: KernelSet, channels: (Int, Int)) {
    for (i, shape) in Self.shapes.enumerated() {
      for isGated in [false, true] {
        check(
          FeatureShape(height: shape.height, width: shape.width, channels: channels.0), to: channels.1,
          isGated: isGated, hasResidual: i % 2 == 0,
          activation: Activation.allCases[(i + channels.1) % Activation.allCases.count], kernels: kernels)
      }
    }
  }

  private func check(
    _ shape: FeatureShape, to columns: Int, isGated: Bool, hasResidual: Bool, activation: Activation,
    kernels: KernelSet
  ) {
    let seed = UInt64(shape.pixelCount * 1000 + columns)
    var generator = SeededGenerator(seed: seed)
    let values = generator.floats(shape.pixelCount * shape.channels, scale: 2)
    let weight = generator.floats(columns * shape.channels)
    let bias = generator.floats(columns)
    let gateValues = generator.floats(shape.channels, in: 0...1)
    let residualValues = generator.floats(shape.pixelCount * columns)
    let layer = Convolution2D(
      linear: weight, bias: bias, inputChannels: shape.channels, activation: activation, kernels: kernels)
    var outputShape = shape
    outputShape.channels = columns

    var expected = ReferenceMap(
      height: shape.height, width: shape.width, channels: shape.channels, values: values)
    if isGated { expected = expected.scaled(by: ReferenceMap(vector: gateValues)) }
    expected = expected.pointwise(weight: weight, bias: bias)
    if hasResidual {
      expected = expected.adding(
        ReferenceMap(height: shape.height, width: shape.width, channels: columns, values: residualValues))
    }
    expected = expected.activated(activation.reference)
    var first: [Float]?
    for pool in Pools.all {
      let context: Comment = """
        \(kernels.testDescription), \(shape) to \(columns), gated: \(isGated), residual: \(hasResidual), \
        \(activation), \(pool.threadCount) threads, seed \(seed)
        """
      // A gate may be applied to the input where it lies, so each run has a fresh one.
      let input = GuardedMap(values, shape, kernels: kernels)
      let gate = GuardedBuffer(
        gateValues
          + [Float](repeating: 0, count: input.map.pixelStride - shape.channels))
      let residual = GuardedMap(residualValues, outputShape, kernels: kernels)
      let output = GuardedMap(outputShape, kernels: kernels)
      let scratch = GuardedBuffer(count: layer.scratchCount(shape, isGated: isGated, pool: pool))
      layer(
        input.map, gate: isGated ? UnsafePointer(gate.pointer) : nil,
        residual: hasResidual ? residual.map : nil, into: output.map, scratch: scratch.pointer, pool: pool)
      #expect(output.isIntact && input.isIntact && residual.isIntact, context)
      #expect(gate.firstBrokenGuard == nil && scratch.firstBrokenGuard == nil, context)
      let dense = output.dense()
      if let first {
        #expect(firstDifference(dense, first) == nil, context)
      } else {
        #expect(expected.mismatch(dense, factor: Tolerances.matrixProduct) == nil, context)
        first = dense
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, [1, 5, 6, 7, 48, 95, 97, 1000])
  func blocksCoverTheRowsOnce(kernels: KernelSet, rowCount: Int) {
    for (depth, columnCount) in [(1, 1), (24, 1), (24, 60), (2000, 8), (100_000, 1)] {
      let matrix = PackedMatrix(
        weight: [Float](repeating: 0, count: depth * columnCount), columnCount: columnCount, depth: depth,
        bias: nil, kernels: kernels)
      for (threadCount, cacheSize) in [(nil, 1 << 19), (1, 1 << 19), (2, 1 << 21), (7, 1 << 12), (1, 0)] {
        let grid = ProductGrid(
          rowCount: rowCount, matrix: matrix, threadCount: threadCount, cacheSize: cacheSize)
        let rows = (0..<grid.blockCount).flatMap { Array(grid.rows(ofBlock: $0)) }
        #expect(
          rows == Array(0..<rowCount), "[\(depth), \(columnCount)], \(threadCount ?? 0) threads")
      }
    }
  }
}
