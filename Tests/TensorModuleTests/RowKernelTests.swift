import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

/// Layer norm and softmax of rows against plain loops in Double, and their gradients against differences.
@Suite struct RowKernelTests {
  /// Fewer columns than a vector, whole vectors, and rests behind one to many of them.
  static let columnCounts = [1, 2, 7, 16, 17, 48, 49, 64, 197, 384]

  private struct Sample {
    let rowCount = 5
    let columnCount, stride: Int
    let values, gradient, scale, offset: [Float]

    init(_ columnCount: Int, kernels: KernelSet, seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      self.columnCount = columnCount
      let padded = columnCount.roundedUp(toMultipleOf: kernels.vectorWidth)
      stride = padded + kernels.vectorWidth
      func matrix(_ values: [Float], _ stride: Int, _ rowCount: Int) -> [Float] {
        (0..<stride * rowCount).map { $0 % stride < columnCount ? values[$0] : 0 }
      }
      // A mean far from 0, as residual streams have it.
      values = matrix(generator.floats(rowCount * stride, in: -3...8), stride, rowCount)
      gradient = matrix(generator.floats(rowCount * stride), stride, rowCount)
      scale = matrix(generator.floats(padded, in: -2...2), padded, 1)
      offset = matrix(generator.floats(padded), padded, 1)
    }

    func row(_ r: Int, of matrix: [Float]) -> [Double] {
      matrix[r * stride..<r * stride + columnCount].map { Double($0) }
    }
  }

  /// Compares each row, and the zeros behind it, relative to the greatest value expected, or to a floor: the gradients of few
  /// columns are differences of terms that cancel.
  private func expect(
    _ buffer: GuardedBuffer, _ sample: Sample, paddingIsZero: Bool = true, tolerance: Double,
    floor: Double = 1e-3,
    _ comment: String,
    _ expected: (Int) -> [Double]
  ) {
    #expect(buffer.firstBrokenGuard == nil, "\(comment)")
    let values = buffer.values
    for r in 0..<sample.rowCount {
      let expected = expected(r)
      let scale = expected.reduce(floor) { max($0, abs($1)) }
      let padded = sample.stride - (sample.stride - sample.columnCount) % 4
      for c in 0..<min(padded, sample.stride) {
        let found = Double(values[r * sample.stride + c])
        if c < sample.columnCount {
          guard abs(found - expected[c]) <= tolerance * scale else {
            Issue.record("\(comment), row \(r), column \(c): \(found) for \(expected[c])")
            return
          }
        } else if paddingIsZero, !(found == 0) {
          Issue.record("\(comment), row \(r): \(found) behind the columns")
          return
        }
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, columnCounts)
  func rowsAreNormalized(kernels: KernelSet, columnCount: Int) {
    let sample = Sample(columnCount, kernels: kernels, seed: UInt64(columnCount))
    let epsilon = 1e-3
    func pass(_ output: GuardedBuffer, gradient: [Float]?) {
      sample.values.withPointer { values in
        sample.scale.withPointer { scale in
          sample.offset.withPointer { offset in
            (gradient ?? []).withUnsafeBufferPointer {
              kernels.normalizeRows(
                RowNormalization(
                  values: values, output: output.pointer, gradient: gradient == nil ? nil : $0.baseAddress,
                  rowCount: sample.rowCount, columnCount: columnCount, rowStride: sample.stride, scale: scale,
                  offset: offset, epsilon: Float(epsilon)))
            }
          }
        }
      }
    }
    func normalized(_ x: [Double]) -> [Double] {
      Reference.layerNormalized(
        x, scale: sample.scale.map(Double.init), offset: sample.offset.map(Double.init), epsilon: epsilon)
    }
    let output = GuardedBuffer([Float](repeating: 0, count: sample.values.count))
    pass(output, gradient: nil)
    expect(output, sample, tolerance: 3e-6, "\(columnCount) columns") {
      normalized(sample.row($0, of: sample.values))
    }
    let back = GuardedBuffer([Float](repeating: 0, count: sample.values.count))
    pass(back, gradient: sample.gradient)
    expect(back, sample, tolerance: 1e-5, floor: 0.1, "gradient of \(columnCount) columns") {
      differences(sample.row($0, of: sample.values), sample.row($0, of: sample.gradient), normalized)
    }
  }

  @Test(arguments: KernelChoice.runnable, columnCounts)
  func rowsBecomeProbabilities(kernels: KernelSet, columnCount: Int) {
    let sample = Sample(columnCount, kernels: kernels, seed: UInt64(columnCount) + 99)
    let values = GuardedBuffer(sample.values)
    let factors = GuardedBuffer(count: sample.rowCount)
    kernels.softmaxRows(
      RowSoftmax(
        values: values.pointer, rowCount: sample.rowCount, columnCount: columnCount,
        rowStride: sample.stride, factors: factors.pointer))
    #expect(factors.firstBrokenGuard == nil)
    for i in 0..<sample.values.count { values.pointer[i] *= factors.values[i / sample.stride] }
    expect(values, sample, tolerance: 1e-6, "\(columnCount) columns") {
      Reference.softmax(sample.row($0, of: sample.values))
    }
    let gradient = GuardedBuffer(sample.gradient)
    kernels.softmaxRows(
      RowSoftmax(
        values: values.pointer, gradient: gradient.pointer, rowCount: sample.rowCount,
        columnCount: columnCount, rowStride: sample.stride, factors: factors.pointer))
    expect(gradient, sample, tolerance: 1e-5, floor: 0.1, "gradient of \(columnCount) columns") {
      differences(sample.row($0, of: sample.values), sample.row($0, of: sample.gradient)) {
        Reference.softmax($0)
      }
    }
  }

  /// The greatest score overflows no exponential, and a difference of hundreds leaves no denormal.
  @Test(arguments: KernelChoice.runnable)
  func scoresFarApartGiveOneProbability(kernels: KernelSet) {
    let stride = 2 * kernels.vectorWidth
    let values = GuardedBuffer((0..<stride).map { $0 == 1 ? 3e30 : -1e30 * Float($0 % 3) })
    let factors = GuardedBuffer(count: 1)
    kernels.softmaxRows(
      RowSoftmax(
        values: values.pointer, rowCount: 1, columnCount: stride, rowStride: stride, factors: factors.pointer)
    )
    #expect(values.values[1] == 1 && factors.values[0] == 1)
    #expect(values.values.indices.allSatisfy { $0 == 1 || values.values[$0] < 1e-37 })
  }

  /// The gradient of the sum of `weights * function(x)` by central differences.
  private func differences(
    _ x: [Double], _ weights: [Double], _ function: ([Double]) -> [Double]
  ) -> [Double] {
    x.indices.map { place in
      func value(_ step: Double) -> Double {
        var moved = x
        moved[place] += step
        return zip(function(moved), weights).reduce(0) { $0 + $1.0 * $1.1 }
      }
      return (value(1e-5) - value(-1e-5)) / 2e-5
    }
  }
}
