package import KernelInterface
package import SystemModule

/// The right-hand matrix of a product, packed once into the panels that the kernels read from front to back.
package struct PackedMatrix: Sendable {
  /// The length of the sums.
  package let depth: Int
  /// Columns of the result.
  package let columnCount: Int
  /// Words of the depth.
  private let wordCount: Int
  /// The cut into panels.
  package let layout: PanelLayout
  package let kernels: KernelSet
  package let type: ElementType
  /// The weight that it was packed from, in 8 bits; nil in floats and bfloat16.
  package let quantized: Quantized?

  /// A weight in 8 bits, and how its input becomes levels.
  package struct Quantized: Sendable {
    package let weight: QuantizedWeight
    package let input: Quantizer
  }

  /// Words of a row of `A`; of floats those of the depth, otherwise padded as in a ``PackedMap``.
  var rowWordCount: Int {
    type == .float32 ? depth : PackedMap.wordCount(depth, type, kernels: kernels)
  }

  /// Words.
  private let panels: AlignedBuffer
  /// Floats, or in 8 bits whole numbers.
  private let bias: AlignedBuffer
  /// The value of a step of each column's sums; only in 8 bits.
  private let scale: AlignedBuffer?

  /// Packs a weight.
  ///
  /// - Parameters:
  ///   - weight: `[columnCount, depth]`, row-major: PyTorch's layout of a dense layer.
  ///   - bias: One value for each column, or nil for zeros.
  ///   - lasts: False where it is for one run, and not for as long as a model.
  package init(
    weight: [Float], columnCount: Int, depth: Int, bias: [Float]?, kernels: KernelSet, lasts: Bool = true
  ) {
    precondition(
      weight.count == columnCount * depth,
      "\(weight.count) weights for a matrix of [\(columnCount), \(depth)]")
    self.init(columnCount: columnCount, depth: depth, bias: bias, kernels: kernels, lasts: lasts) {
      column, start, target in
      weight.withUnsafeBufferPointer { weight in
        target.baseAddress!.update(from: weight.baseAddress! + (column * depth + start), count: target.count)
      }
    }
  }

  /// Packs a weight that is read in pieces, so that it need not lie in memory a second time.
  ///
  /// - Parameters:
  ///   - bias: One value for each column, or nil for zeros.
  ///   - type: Floats or bfloat16, to which the weight is rounded; one that the kernels have.
  ///   - lasts: As above.
  ///   - read: Writes weights `start ..< start + target.count` of a column's `depth`.
  package init<Failure: Error>(
    columnCount: Int, depth: Int, bias: [Float]?, kernels: KernelSet, type: ElementType = .float32,
    lasts: Bool = true,
    read: (_ column: Int, _ start: Int, _ target: UnsafeMutableBufferPointer<Float>) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(
      bias == nil || bias?.count == columnCount, "\(bias?.count ?? 0) biases for \(columnCount) columns")
    self.init(columnCount: columnCount, depth: depth, kernels: kernels, type: type, lasts: lasts)
    bias?.withUnsafeBufferPointer { self.bias.pointer.update(from: $0.baseAddress!, count: columnCount) }
    switch type {
    case .float32: try pack(read) { $0 }
    case .bfloat16: try pack(read) { $0.bfloat16Bits }
    case .int8: preconditionFailure("a matrix of 8 bits without its levels")
    }
  }

  /// Packs a weight in 8 bits.
  ///
  /// - Parameter outputScale: A step of the output's levels, where levels are wanted rather than values.
  /// - Returns: nil where a sum could leave the 32-bit integers.
  /// - Precondition: The weight ``QuantizedWeight/hasSmallPairs``.
  package init?(_ weight: QuantizedWeight, input: Quantization, outputScale: Float? = nil, kernels: KernelSet)
  {
    precondition(weight.hasSmallPairs, "neighbouring weights add up to more than 128")
    guard let biases = weight.integerBias(of: input, limit: Self.quantizedSumLimit) else { return nil }
    let depth = weight.depth
    self.init(
      columnCount: biases.count, depth: depth, kernels: kernels, type: .int8,
      quantized: Quantized(weight: weight, input: Quantizer(input, channels: depth, kernels: kernels)))
    let product = kernels.products.int8
    let words = UnsafeMutableRawPointer(bias.pointer).assumingMemoryBound(to: Int32.self)
    for (column, sum) in weight.sums.enumerated() {
      // The sum may leave the numbers of 32 bits and comes back with the products.
      words[column] = biases[column] &+ Int32(product.levelOffset) &* sum.total
    }
    for (column, value) in weight.sumScale(of: input).enumerated() {
      scale!.pointer[column] = outputScale.map { Float(Double(value) / Double($0)) } ?? value
    }
    if product.valuesPerWord == 4 {
      packBytes(weight.levels)
    } else {
      pack { column, start, target in
        for k in target.indices { target[k] = Float(weight.levels[column * depth + start + k]) }
      } element: {
        Int16($0)
      }
    }
  }

  /// A matrix of zeros.
  private init(
    columnCount: Int, depth: Int, kernels: KernelSet, type: ElementType, quantized: Quantized? = nil,
    lasts: Bool = true
  ) {
    self.depth = depth
    self.columnCount = columnCount
    self.kernels = kernels
    self.type = type
    self.quantized = quantized
    layout = PanelLayout(columnCount: columnCount, vectorWidth: kernels.vectorWidth)
    let valuesPerWord = kernels.products[type]!.valuesPerWord
    wordCount = (depth + valuesPerWord - 1) / valuesPerWord
    let paddedColumns = layout.vectorCount * kernels.vectorWidth
    panels = AlignedBuffer(count: paddedColumns * wordCount, lasts: lasts)
    bias = AlignedBuffer(count: paddedColumns)
    scale = quantized.map { _ in AlignedBuffer(count: paddedColumns) }
  }

  /// Writes the panels, in each word as many elements as fit.
  ///
  /// Inlined, because a call of the runtime copies each element of a function that is not specialized.
  @inline(__always)
  private func pack<Element, Failure: Error>(
    _ read: (_ column: Int, _ start: Int, _ target: UnsafeMutableBufferPointer<Float>) throws(Failure) ->
      Void,
    element: (Float) -> Element
  ) throws(Failure) {
    let width = kernels.vectorWidth
    let perWord = MemoryLayout<Float>.size / MemoryLayout<Element>.size
    let piece = UnsafeMutableBufferPointer<Float>.allocate(capacity: Self.pieceLength)
    defer { piece.deallocate() }
    for panel in 0..<layout.panelCount {
      let firstColumn = panel * 2 * width
      let lanes = layout.vectorCount(ofPanel: panel) * width
      for start in stride(from: 0, to: depth, by: Self.pieceLength) {
        let count = min(Self.pieceLength, depth - start)
        let first = panels.pointer + (firstColumn * wordCount + start / perWord * lanes)
        let target = UnsafeMutableRawPointer(first).assumingMemoryBound(to: Element.self)
        for lane in 0..<min(lanes, columnCount - firstColumn) {
          try read(firstColumn + lane, start, UnsafeMutableBufferPointer(rebasing: piece[..<count]))
          for k in 0..<count {
            target[perWord * (k / perWord * lanes + lane) + k % perWord] = element(piece[k])
          }
        }
      }
    }
  }

  /// Writes the panels of a matrix in 8 bits, `[columnCount, depth]`, four levels a word.
  private func packBytes(_ levels: [Int8]) {
    levels.withUnsafeBytes { levels in
      for panel in 0..<layout.panelCount {
        let firstColumn = panel * 2 * kernels.vectorWidth
        let lanes = layout.vectorCount(ofPanel: panel) * kernels.vectorWidth
        let target = UnsafeMutableRawPointer(panels.pointer + firstColumn * wordCount)
          .assumingMemoryBound(to: UInt32.self)
        for lane in 0..<min(lanes, columnCount - firstColumn) {
          let row = (firstColumn + lane) * depth
          for word in 0..<depth / 4 {
            target[word * lanes + lane] = levels.loadUnaligned(
              fromByteOffset: row + 4 * word, as: UInt32.self)
          }
          for k in depth / 4 * 4..<depth {
            target[k / 4 * lanes + lane] |= UInt32(levels[row + k]) << UInt32(k % 4 * 8)
          }
        }
      }
    }
  }

  /// The greatest magnitude of a sum in 8 bits.
  package static let quantizedSumLimit = 2_147_483_647.0

  /// Weights that are read at a time, whole words: so many that the processor fetches the next ones ahead, and so few that
  /// the part of a panel over which they are spread stays in the second-level cache.
  private static let pieceLength = 1024

  /// Floats in the panels: what ``writePanels(scaledBy:to:pool:)`` fills.
  package var panelFloatCount: Int { layout.vectorCount * kernels.vectorWidth * depth }

  /// Writes the panels with row `k` of the matrix multiplied by `factors[k]`.
  package func writePanels(
    scaledBy factors: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let width = kernels.vectorWidth
    pool.run(taskCount: layout.panelCount) { panel, _ in
      let offset = panel * 2 * width * depth
      kernels.scaleRows(
        RowScaling(
          output: target + offset, matrix: panels.pointer + offset, rowCount: depth,
          columnCount: layout.vectorCount(ofPanel: panel) * width, factors: factors))
    }
  }

  /// Computes rows of `activation(A * matrix + bias + residual)` for a range of panels.
  ///
  /// - Parameters:
  ///   - a: The first row of `A` in words of the matrix's type, `aStride` words from one to the next. So are the depth's
  ///     pieces.
  ///   - c: The first row of the result at column 0, `cStride` floats from one to the next.
  ///   - segmentCount: Pieces that each row of `A` lies in, `segmentStride` floats from one to the next.
  ///   - runCount: So many times `rowCount` rows, which follow each other in `A`.
  ///   - runStride: Floats from one run to the next in the result and the residual.
  ///   - levels: Makes levels of the values of a matrix in 8 bits that has no residual.
  ///   - scaledPanels: Panels from ``writePanels(scaledBy:to:pool:)``, in the place of the matrix's own.
  package func multiply(
    a: UnsafeRawPointer, aStride: Int, segmentCount: Int = 1, segmentStride: Int = 0, rowCount: Int,
    runCount: Int = 1, into c: UnsafeMutablePointer<Float>, cStride: Int, runStride: Int = 0,
    panelRange: Range<Int>? = nil, activation: Activation = .identity, levels: MatrixProduct.Levels? = nil,
    residual: UnsafePointer<Float>? = nil, scaledPanels: UnsafePointer<Float>? = nil
  ) {
    precondition(
      wordCount.isMultiple(of: segmentCount),
      "rows of \(wordCount) words in \(segmentCount) pieces of one length")
    precondition(levels == nil || (residual == nil && type == .int8), "levels of \(type), or with a residual")
    var product = product(a: a, aStride: aStride, rowCount: rowCount, into: c, cStride: cStride)
    if let scaledPanels { product.panels = UnsafeRawPointer(scaledPanels) }
    product.runCount = runCount
    product.runStride = runStride
    product.runAStride = rowCount * aStride
    product.segmentCount = segmentCount
    product.segmentDepth = wordCount / segmentCount
    product.segmentStride = segmentStride
    if let panelRange { product.panelRange = panelRange }
    product.residual = residual
    product.activation = activation
    product.levels = levels
    kernels.products[type]!.multiply(product)
  }

  /// The product with all panels, of rows that lie in one piece, without an epilogue.
  func product(
    a: UnsafeRawPointer, aStride: Int, rowCount: Int, into c: UnsafeMutablePointer<Float>, cStride: Int
  ) -> MatrixProduct {
    var product = MatrixProduct(
      a: a, aStride: aStride, panels: panels.pointer, bias: bias.pointer, c: c, cStride: cStride,
      rowCount: rowCount, depth: wordCount, layout: layout)
    product.scale = scale.map { UnsafePointer($0.pointer) }
    return product
  }
}

extension Float {
  /// The upper half of the nearest number that is 0 in its lower half, halves to the even one; for finite numbers.
  var bfloat16Bits: UInt16 {
    UInt16(truncatingIfNeeded: (bitPattern &+ 0x7FFF &+ (bitPattern >> 16 & 1)) >> 16)
  }
}

extension PackedMatrix {
  /// The weights, `[depth, columnCount]`, row-major.
  func unpacked() -> [Float] {
    precondition(type == .float32, "a matrix of \(type.rawValue) unpacked as floats")
    let width = kernels.vectorWidth
    return [Float](unsafeUninitializedCapacity: depth * columnCount) { target, count in
      for panel in 0..<layout.panelCount {
        let firstColumn = panel * 2 * width
        let lanes = layout.vectorCount(ofPanel: panel) * width
        let source = panels.pointer + firstColumn * depth
        let used = min(lanes, columnCount - firstColumn)
        for k in 0..<depth {
          (target.baseAddress! + (k * columnCount + firstColumn)).update(
            from: source + k * lanes, count: used)
        }
      }
      count = depth * columnCount
    }
  }

  /// The same values as Float32.
  package var floats: PackedMatrix {
    if let weight = quantized?.weight {
      return PackedMatrix(
        weight: weight.values, columnCount: columnCount, depth: depth, bias: weight.bias, kernels: kernels,
        lasts: false)
    }
    guard type == .bfloat16 else { return self }
    let width = kernels.vectorWidth
    let halves = UnsafeRawPointer(panels.pointer).assumingMemoryBound(to: UInt16.self)
    let bias = Array(UnsafeBufferPointer(start: bias.pointer, count: columnCount))
    return PackedMatrix(columnCount: columnCount, depth: depth, bias: bias, kernels: kernels, lasts: false) {
      column, start, target in
      let panel = min(column / (2 * width), layout.panelCount - 1)
      let lanes = layout.vectorCount(ofPanel: panel) * width
      let first = panel * 2 * width
      for (place, k) in (start..<start + target.count).enumerated() {
        let word = first * wordCount + k / 2 * lanes + column - first
        target[place] = Float(bitPattern: UInt32(halves[2 * word + k % 2]) << 16)
      }
    }
  }

  /// The transpose, packed, without a bias: gradients run through a product the other way.
  package func transposed() -> PackedMatrix {
    // Row-major [columns, depth] of the transpose is [depth, columns] of this.
    PackedMatrix(
      weight: unpacked(), columnCount: depth, depth: columnCount, bias: nil, kernels: kernels,
      lasts: false)
  }
}
