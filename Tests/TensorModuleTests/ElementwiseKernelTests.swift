import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct ElementwiseKernelTests {
  static let rowCounts = [0, 1, 2, 3, 7, 16, 33]

  @Test(arguments: KernelChoice.runnable, [1, 2, 3, 5])
  func columnsAreScaledInPlace(kernels: KernelSet, vectorCount: Int) {
    let columns = vectorCount * kernels.vectorWidth
    for rowCount in Self.rowCounts {
      for extra in [0, kernels.vectorWidth] {
        let seed = UInt64(rowCount)
        var generator = SeededGenerator(seed: seed)
        let values = generator.floats(rowCount * (columns + extra), scale: 5)
        let factors = generator.floats(columns)
        let matrix = GuardedBuffer(values)
        factors.withPointer {
          kernels.scaleColumns(
            ColumnScaling(
              matrix: matrix.pointer, rowCount: rowCount, columnCount: columns, rowStride: columns + extra,
              factors: $0))
        }
        let expected = values.indices.map {
          let column = $0 % (columns + extra)
          return column < columns ? values[$0] * factors[column] : values[$0]
        }
        #expect(firstDifference(matrix.values, expected) == nil, "\(rowCount) rows, seed \(seed)")
        #expect(matrix.firstBrokenGuard == nil)
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, [1, 2, 3, 5])
  func rowsAreScaledIntoAnotherMatrix(kernels: KernelSet, vectorCount: Int) {
    let columns = vectorCount * kernels.vectorWidth
    for rowCount in Self.rowCounts {
      let seed = UInt64(rowCount)
      var generator = SeededGenerator(seed: seed)
      let values = generator.floats(rowCount * columns, scale: 5)
      let factors = generator.floats(rowCount)
      let output = GuardedBuffer(count: values.count)
      values.withPointer { matrix in
        factors.withPointer {
          kernels.scaleRows(
            RowScaling(
              output: output.pointer, matrix: matrix, rowCount: rowCount, columnCount: columns, factors: $0))
        }
      }
      let expected = values.indices.map { values[$0] * factors[$0 / columns] }
      #expect(firstDifference(output.values, expected) == nil, "\(rowCount) rows, seed \(seed)")
      #expect(output.firstBrokenGuard == nil)
    }
  }

  @Test(arguments: KernelChoice.runnable, [1, 2, 3, 5])
  func rowsAreAddedInAscendingOrder(kernels: KernelSet, vectorCount: Int) {
    let columns = vectorCount * kernels.vectorWidth
    let stride = columns + kernels.vectorWidth
    for rowCount in Self.rowCounts {
      let seed = UInt64(rowCount)
      var generator = SeededGenerator(seed: seed)
      let matrix = generator.floats(rowCount * stride, scale: 5)
      let before = generator.floats(columns)
      let sums = GuardedBuffer(before)
      matrix.withPointer {
        kernels.addRows(
          RowSum(sums: sums.pointer, matrix: $0, rowCount: rowCount, columnCount: columns, rowStride: stride))
      }
      var expected = before
      for row in 0..<rowCount {
        for column in 0..<columns { expected[column] += matrix[row * stride + column] }
      }
      #expect(firstDifference(sums.values, expected) == nil, "\(rowCount) rows, seed \(seed)")
      #expect(sums.firstBrokenGuard == nil)
    }
  }

  @Test(arguments: KernelChoice.runnable)
  func theProbeReportsItsOperations(kernels: KernelSet) {
    let once = kernels.peakProbe(1)
    #expect(once >= 12 * 2 * kernels.vectorWidth)
    #expect(kernels.peakProbe(1000) == 1000 * once)
  }
}
