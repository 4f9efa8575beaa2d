import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

/// One of the kernels that multiply matrices: of an instruction set, for a type of values.
struct ProductKernel: CustomTestStringConvertible {
  let kernels: KernelSet
  let type: ElementType

  /// All that this CPU can run.
  static let all: [ProductKernel] = KernelChoice.runnable.flatMap { kernels in
    ElementType.allCases.compactMap { type in
      kernels.products[type].map { _ in ProductKernel(kernels: kernels, type: type) }
    }
  }

  var product: ProductKernels { kernels.products[type]! }

  var testDescription: String { "\(type.rawValue), \(kernels.testDescription)" }
}

/// Seeded operands of a product, of which any part can be computed.
struct ProductSample {
  let kernel: ProductKernel
  let columnCount: Int
  /// Words of the depth.
  let depth: Int
  /// Rows of `A` one after another, `depth` words each.
  let words: [UInt32]
  private let matrix: PackedMatrix

  /// - Parameter depth: In words.
  init(_ kernel: ProductKernel, rowCount: Int, depth: Int, columnCount: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let kernels = kernel.kernels
    let valueCount = depth * kernel.product.valuesPerWord
    self.kernel = kernel
    self.depth = depth
    self.columnCount = columnCount
    switch kernel.type {
    case .float32, .bfloat16:
      let values = generator.floats(rowCount * valueCount)
      words =
        kernel.type == .float32
        ? values.map { $0.bitPattern } : BFloat16Samples.words(values, depth: valueCount, wordStride: depth)
      let weight = generator.floats(columnCount * valueCount)
      matrix = PackedMatrix(
        columnCount: columnCount, depth: valueCount, bias: generator.floats(columnCount), kernels: kernels,
        type: kernel.type
      ) { column, start, target in
        for k in target.indices { target[k] = weight[column * valueCount + start + k] }
      }
    case .int8:
      let levels = QuantizedSamples.levels(rowCount * valueCount, &generator)
      words = QuantizedSamples.words(levels, depth: valueCount, wordStride: depth, kernels: kernels)
        .map { UInt32(bitPattern: $0) }
      let weight = QuantizedSamples.weight(
        outputs: columnCount, depth: valueCount, keepsPairs: true, &generator)
      matrix = try #require(
        PackedMatrix(weight, input: Quantization(scale: 0.043, zeroPoint: 113), kernels: kernels))
    }
  }

  var layout: PanelLayout { PanelLayout(columnCount: columnCount, vectorWidth: kernel.kernels.vectorWidth) }

  /// Computes rows of the product, as far as `change` does not ask for something else.
  ///
  /// - Parameter words: Instead of the sample's own, from the first row on.
  func multiply(
    _ words: ArraySlice<UInt32>? = nil, aStride: Int? = nil, rowCount: Int,
    into c: UnsafeMutablePointer<Float>, cStride: Int, change: (inout MatrixProduct) -> Void
  ) {
    (words ?? self.words[...]).withUnsafeBytes { words in
      var product = matrix.product(
        a: words.baseAddress!, aStride: aStride ?? depth, rowCount: rowCount, into: c, cStride: cStride)
      change(&product)
      kernel.product.multiply(product)
    }
  }
}
