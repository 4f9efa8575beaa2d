package import KernelInterface
import SystemModule

/// The right-hand matrix of an int8 product, packed once into panels of words.
package struct QuantizedMatrix: Sendable {
  package let weight: QuantizedWeight
  /// How its input is kept.
  package let input: Quantization
  /// The cut into panels.
  package let layout: PanelLayout
  package let kernels: KernelSet

  private let wordCount: Int
  /// Words, as are the biases.
  private let panels: AlignedBuffer
  private let bias: AlignedBuffer
  private let scale: AlignedBuffer

  /// The greatest magnitude of a sum.
  package static let sumLimit = 2_147_483_647.0

  /// Packs a weight.
  ///
  /// - Parameter outputScale: A step of the output's levels, where levels are wanted rather than values.
  /// - Returns: nil where a sum could leave the 32-bit integers.
  /// - Precondition: The weight ``QuantizedWeight/hasSmallPairs``.
  package init?(_ weight: QuantizedWeight, input: Quantization, outputScale: Float? = nil, kernels: KernelSet)
  {
    precondition(weight.hasSmallPairs, "neighbouring weights add up to more than 128")
    guard let biases = weight.integerBias(of: input, limit: Self.sumLimit) else { return nil }
    self.weight = weight
    self.input = input
    self.kernels = kernels
    let width = kernels.vectorWidth
    let perWord = kernels.products.int8.valuesPerWord
    let columnCount = biases.count
    let depth = weight.depth
    layout = PanelLayout(columnCount: columnCount, vectorWidth: width)
    wordCount = (depth + perWord - 1) / perWord
    let paddedColumns = layout.vectorCount * width
    panels = AlignedBuffer(count: paddedColumns * wordCount)
    bias = AlignedBuffer(count: paddedColumns)
    scale = AlignedBuffer(count: paddedColumns)
    let biasWords = UnsafeMutableRawPointer(bias.pointer)
    let levelOffset = kernels.products.int8.levelOffset
    for (column, value) in biases.enumerated() {
      let total = weight.levels[column * depth..<(column + 1) * depth].reduce(0) { $0 &+ Int32($1) }
      // The sum may leave the numbers of 32 bits and comes back with the products.
      biasWords.storeBytes(
        of: value &+ Int32(levelOffset) &* total, toByteOffset: column * 4, as: Int32.self)
    }
    for (column, value) in weight.sumScale(of: input).enumerated() {
      scale.pointer[column] = outputScale.map { Float(Double(value) / Double($0)) } ?? value
    }
    let target = UnsafeMutableRawPointer(panels.pointer)
    for panel in 0..<layout.panelCount {
      let first = panel * 2 * width
      let lanes = layout.vectorCount(ofPanel: panel) * width
      for lane in 0..<min(lanes, columnCount - first) {
        let row = (first + lane) * depth
        for k in 0..<depth {
          let word = first * wordCount + k / perWord * lanes + lane
          let level = weight.levels[row + k]
          if perWord == 4 {
            target.storeBytes(of: level, toByteOffset: word * 4 + k % 4, as: Int8.self)
          } else {
            target.storeBytes(of: Int16(level), toByteOffset: word * 4 + k % 2 * 2, as: Int16.self)
          }
        }
      }
    }
  }

  /// Computes rows of the product for a range of panels.
  ///
  /// - Parameters:
  ///   - a: The first row's words, `aStride` words from one to the next.
  ///   - c: The first row of the result at column 0, `cStride` floats from one to the next.
  ///   - runCount: So many times `rowCount` rows, which follow each other in `A`.
  ///   - runStride: Floats from one run to the next in the result.
  ///   - activation: Applied to each value.
  ///   - levels: Makes levels of the values, where the matrix has no residual.
  package func multiply(
    a: UnsafePointer<Int32>, aStride: Int, rowCount: Int, runCount: Int = 1,
    into c: UnsafeMutablePointer<Float>, cStride: Int, runStride: Int = 0, panelRange: Range<Int>? = nil,
    activation: Activation = .identity, levels: MatrixProduct.Levels? = nil,
    residual: UnsafePointer<Float>? = nil
  ) {
    precondition(levels == nil || residual == nil, "a residual added to levels")
    var product = product(a: a, aStride: aStride, rowCount: rowCount, into: c, cStride: cStride)
    product.runCount = runCount
    product.runStride = runStride
    if let panelRange { product.panelRange = panelRange }
    product.residual = residual
    product.activation = activation
    product.levels = levels
    kernels.products.int8.multiply(product)
  }

  /// The product with all panels, without an epilogue.
  func product(
    a: UnsafeRawPointer, aStride: Int, rowCount: Int, into c: UnsafeMutablePointer<Float>, cStride: Int
  ) -> MatrixProduct {
    var product = MatrixProduct(
      a: a, aStride: aStride, panels: panels.pointer, bias: bias.pointer, c: c, cStride: cStride,
      rowCount: rowCount, depth: wordCount, layout: layout)
    product.scale = UnsafePointer(scale.pointer)
    return product
  }
}
