import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

@Suite struct PanelLayoutTests {
  @Test(arguments: [
    (1, [1]), (2, [2]), (3, [3]), (4, [2, 2]), (5, [2, 3]), (6, [2, 2, 2]), (7, [2, 2, 3]),
    (14, [2, 2, 2, 2, 2, 2, 2]),
  ])
  func panelsHoldTwoVectorsAndTheLastAnOddOne(vectors: Int, panels: [Int]) {
    for width in [4, 8, 16] {
      for columns in [vectors * width - width + 1, vectors * width - 1, vectors * width] {
        let layout = PanelLayout(columnCount: columns, vectorWidth: width)
        #expect(layout.vectorCount == vectors)
        #expect(layout.panelCount == panels.count)
        #expect((0..<layout.panelCount).map(layout.vectorCount(ofPanel:)) == panels, "\(columns) columns")
      }
    }
  }
}

@Suite struct PackedMatrixTests {
  static let columnCounts = [1, 3, 4, 5, 8, 9, 16, 17, 24, 25, 40, 56, 80]

  /// Row `k` of a product with the unit vector `k` is row `k` of the packed matrix.
  @Test(arguments: KernelChoice.runnable, columnCounts)
  func unitVectorsGiveTheWeightsBack(kernels: KernelSet, columnCount: Int) {
    let depth = 5
    let weight = (0..<columnCount * depth).map { (index: Int) -> Float in
      let value = Float(index + 1)
      return index % 2 == 0 ? value : -value
    }
    let matrix = PackedMatrix(
      weight: weight, columnCount: columnCount, depth: depth, bias: nil, kernels: kernels)
    var unit = [Float](repeating: 0, count: depth * depth)
    for k in 0..<depth { unit[k * depth + k] = 1 }
    let output = GuardedMap(
      FeatureShape(height: depth, width: 1, channels: columnCount), kernels: kernels)
    matrix.multiply(
      a: unit, aStride: depth, rowCount: depth, into: output.map.pointer, cStride: output.map.pixelStride)
    let expected = (0..<depth * columnCount).map { weight[$0 % columnCount * depth + $0 / columnCount] }
    #expect(firstDifference(output.dense(), expected) == nil)
    #expect(output.isIntact)
    // Columns of the padding come out as zeros.
    let padded = output.map.pixelStride
    let padding = (0..<depth).flatMap { row in
      (columnCount..<padded).map { output.map.pointer[row * padded + $0] }
    }
    #expect(padding == [Float](repeating: 0, count: depth * (padded - columnCount)))
  }

  /// Columns longer than the pieces that are read at a time, in a matrix of pages fresh from the system.
  @Test(arguments: KernelChoice.runnable)
  func longColumnsArePackedInPieces(kernels: KernelSet) {
    let (columnCount, depth) = (200, 389)
    var generator = SeededGenerator(seed: 11)
    let weight = generator.floats(columnCount * depth)
    let matrix = PackedMatrix(
      weight: weight, columnCount: columnCount, depth: depth, bias: nil, kernels: kernels)
    let unit = (0..<depth * depth).map { $0 % (depth + 1) == 0 ? Float(1) : 0 }
    let output = GuardedMap(
      FeatureShape(height: depth, width: 1, channels: columnCount), kernels: kernels)
    matrix.multiply(
      a: unit, aStride: depth, rowCount: depth, into: output.map.pointer, cStride: output.map.pixelStride)
    let expected = (0..<depth * columnCount).map { weight[$0 % columnCount * depth + $0 / columnCount] }
    #expect(firstDifference(output.dense(), expected) == nil)
  }

  @Test(arguments: [0, 1, 17, 1 << 16, 1 << 16 + 1])
  func buffersAreZeroAndAligned(count: Int) {
    let buffer = AlignedBuffer(count: count)
    #expect(UInt(bitPattern: buffer.pointer) % 64 == 0)
    #expect(UnsafeBufferPointer(start: buffer.pointer, count: count).allSatisfy { $0.bitPattern == 0 })
  }

  @Test(arguments: KernelChoice.runnable, columnCounts)
  func scaledPanelsMultiplyTheRows(kernels: KernelSet, columnCount: Int) {
    let seed = UInt64(columnCount)
    let depth = 23
    let rowCount = 9
    var generator = SeededGenerator(seed: seed)
    let weight = generator.floats(columnCount * depth)
    let factors = generator.floats(depth, scale: 2)
    let a = generator.floats(rowCount * depth)
    let matrix = PackedMatrix(
      weight: weight, columnCount: columnCount, depth: depth, bias: nil, kernels: kernels)
    let panels = GuardedBuffer(count: matrix.panelFloatCount)
    matrix.writePanels(scaledBy: factors, to: panels.pointer, pool: Pools.two)
    #expect(panels.firstBrokenGuard == nil)
    #expect(!panels.values.contains { $0.isNaN })
    let scaledWeight = weight.indices.map { weight[$0] * factors[$0 % depth] }
    let scaled = PackedMatrix(
      weight: scaledWeight, columnCount: columnCount, depth: depth, bias: nil, kernels: kernels)
    func product(_ matrix: PackedMatrix, scaledPanels: UnsafePointer<Float>?) -> [Float] {
      let output = GuardedMap(
        FeatureShape(height: rowCount, width: 1, channels: columnCount), kernels: kernels)
      matrix.multiply(
        a: a, aStride: depth, rowCount: rowCount, into: output.map.pointer,
        cStride: output.map.pixelStride, scaledPanels: scaledPanels)
      return output.dense()
    }
    let difference = firstDifference(
      product(matrix, scaledPanels: panels.pointer), product(scaled, scaledPanels: nil))
    #expect(difference == nil, "seed \(seed)")
  }
}
