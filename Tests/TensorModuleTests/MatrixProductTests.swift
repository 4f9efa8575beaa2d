import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct MatrixProductTests {
  static let rowCounts = [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 27, 37, 49, 144]
  static let depths = [1, 3, 23, 24, 27, 56, 144]
  static let columnCounts = [1, 7, 8, 9, 16, 17, 19, 24, 33, 40, 56, 112]

  /// Every column count with every depth; the rows and the activation change from one to the next.
  @Test(arguments: KernelChoice.runnable, columnCounts)
  func equalsTheReferenceAndStaysInside(kernels: KernelSet, columnCount: Int) {
    for (i, depth) in Self.depths.enumerated() {
      for (j, rowCount) in Self.rowCounts.enumerated() where (i + j + columnCount) % 3 == 0 || rowCount < 8 {
        let activation = Activation.allCases[(i + j) % Activation.allCases.count]
        check(
          kernels: kernels, rowCount: rowCount, depth: depth, columnCount: columnCount,
          activation: activation,
          hasResidual: (i + j) % 2 == 0, extraStride: j % 2 * kernels.vectorWidth)
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, Activation.allCases)
  func everyActivationIsAppliedBeforeTheResidual(kernels: KernelSet, activation: Activation) {
    for columnCount in [7, 24, 56] {
      for hasResidual in [false, true] {
        check(
          kernels: kernels, rowCount: 13, depth: 27, columnCount: columnCount, activation: activation,
          hasResidual: hasResidual, extraStride: 0)
      }
    }
  }

  private func check(
    kernels: KernelSet, rowCount: Int, depth: Int, columnCount: Int, activation: Activation,
    hasResidual: Bool, extraStride: Int
  ) {
    let seed = UInt64(rowCount * 1_000_000 + depth * 1000 + columnCount)
    var generator = SeededGenerator(seed: seed)
    let a = generator.floats(rowCount * depth, scale: 3)
    let weight = generator.floats(columnCount * depth)
    let bias = generator.floats(columnCount, scale: 2)
    let residual = generator.floats(rowCount * columnCount, scale: 4)
    let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
    // A row stride longer than the depth, with poison between the rows.
    let left = GuardedBuffer(count: rowCount * (depth + 3))
    for row in 0..<rowCount {
      (left.pointer + row * (depth + 3)).update(from: Array(a[row * depth..<(row + 1) * depth]), count: depth)
    }
    let output = GuardedMap(shape, kernels: kernels, extraStride: extraStride)
    let added = GuardedMap(residual, shape, kernels: kernels, extraStride: extraStride)
    let matrix = PackedMatrix(
      weight: weight, columnCount: columnCount, depth: depth, bias: bias, kernels: kernels)
    matrix.multiply(
      a: left.pointer, aStride: depth + 3, rowCount: rowCount, into: output.map.pointer,
      cStride: output.map.pixelStride, activation: activation,
      residual: hasResidual ? UnsafePointer(added.map.pointer) : nil)

    var expected = ReferenceMap(height: rowCount, width: 1, channels: depth, values: a)
      .pointwise(weight: weight, bias: bias)
    if hasResidual {
      expected = expected.adding(
        ReferenceMap(height: rowCount, width: 1, channels: columnCount, values: residual))
    }
    expected = expected.activated(activation.reference)
    let mismatch = expected.mismatch(output.dense(), factor: Tolerances.matrixProduct)
    let context: Comment =
      "\(kernels.testDescription), \(rowCount) x \(depth) x \(columnCount), \(activation), seed \(seed)"
    #expect(mismatch == nil, context)
    #expect(output.buffer.firstBrokenGuard == nil, context)
    // Between the rows' whole vectors nothing is written either.
    let padded = output.map.pixelStride - extraStride
    for row in 0..<rowCount where extraStride > 0 {
      let gap = UnsafeBufferPointer(
        start: output.map.pointer + (row * output.map.pixelStride + padded), count: extraStride)
      #expect(gap.allSatisfy { $0.bitPattern == GuardedBuffer.poison.bitPattern }, context)
    }
  }
}
