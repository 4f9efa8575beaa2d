package import KernelInterface
package import SystemModule

/// The right-hand matrix of a product, packed once into the panels that the kernels read from front to back.
package struct PackedMatrix: Sendable {
  /// The length of the sums.
  package let depth: Int
  /// Columns of the result.
  package let columnCount: Int
  /// The cut into panels.
  package let layout: PanelLayout
  package let kernels: KernelSet
  /// What its values are: ``ElementType/float32``, or ``ElementType/bfloat16``, to which they are rounded.
  package let type: ElementType

  /// Words.
  let panels: AlignedBuffer
  let bias: AlignedBuffer

  /// Packs a weight.
  ///
  /// - Parameters:
  ///   - weight: `[columnCount, depth]`, row-major: PyTorch's layout of a dense layer.
  ///   - bias: One value for each column, or nil for zeros.
  package init(weight: [Float], columnCount: Int, depth: Int, bias: [Float]?, kernels: KernelSet) {
    precondition(
      weight.count == columnCount * depth,
      "\(weight.count) weights for a matrix of [\(columnCount), \(depth)]")
    self.init(columnCount: columnCount, depth: depth, bias: bias, kernels: kernels) { column, start, target in
      weight.withUnsafeBufferPointer { weight in
        target.baseAddress!.update(from: weight.baseAddress! + (column * depth + start), count: target.count)
      }
    }
  }

  /// Packs a weight that is read in pieces, so that it need not lie in memory a second time.
  ///
  /// - Parameters:
  ///   - bias: One value for each column, or nil for zeros.
  ///   - type: One that the kernels have, of those that a matrix may hold.
  ///   - read: Writes weights `start ..< start + target.count` of a column's `depth`.
  package init<Failure: Error>(
    columnCount: Int, depth: Int, bias: [Float]?, kernels: KernelSet, type: ElementType = .float32,
    read: (_ column: Int, _ start: Int, _ target: UnsafeMutableBufferPointer<Float>) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(
      bias == nil || bias?.count == columnCount, "\(bias?.count ?? 0) biases for \(columnCount) columns")
    self.depth = depth
    self.columnCount = columnCount
    self.kernels = kernels
    self.type = type
    let width = kernels.vectorWidth
    layout = PanelLayout(columnCount: columnCount, vectorWidth: width)
    let paddedColumns = layout.vectorCount * width
    let wordCount = type.wordCount(depth)
    panels = AlignedBuffer(count: paddedColumns * wordCount)
    self.bias = AlignedBuffer(count: paddedColumns)
    bias?.withUnsafeBufferPointer { self.bias.pointer.update(from: $0.baseAddress!, count: columnCount) }
    let piece = UnsafeMutableBufferPointer<Float>.allocate(capacity: Self.pieceLength)
    defer { piece.deallocate() }
    for panel in 0..<layout.panelCount {
      let firstColumn = panel * 2 * width
      let lanes = layout.vectorCount(ofPanel: panel) * width
      for start in stride(from: 0, to: depth, by: Self.pieceLength) {
        let count = min(Self.pieceLength, depth - start)
        let target = panels.pointer + (firstColumn * wordCount + type.wordCount(start) * lanes)
        for lane in 0..<min(lanes, columnCount - firstColumn) {
          try read(firstColumn + lane, start, UnsafeMutableBufferPointer(rebasing: piece[..<count]))
          if type == .float32 {
            for k in 0..<count { target[k * lanes + lane] = piece[k] }
          } else {
            let halves = UnsafeMutableRawPointer(target).assumingMemoryBound(to: UInt16.self)
            for k in 0..<count { halves[2 * (k / 2 * lanes + lane) + k % 2] = piece[k].bfloat16Bits }
          }
        }
      }
    }
  }

  /// Weights that are read at a time, whole words: the part of a panel that they are spread over stays in the first-level
  /// cache.
  private static let pieceLength = 128

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
  ///   - scaledPanels: Panels from ``writePanels(scaledBy:to:pool:)``, in the place of the matrix's own.
  package func multiply(
    a: UnsafeRawPointer, aStride: Int, segmentCount: Int = 1, segmentStride: Int = 0, rowCount: Int,
    runCount: Int = 1, into c: UnsafeMutablePointer<Float>, cStride: Int, runStride: Int = 0,
    panelRange: Range<Int>? = nil,
    activation: Activation = .identity,
    residual: UnsafePointer<Float>? = nil, scaledPanels: UnsafePointer<Float>? = nil
  ) {
    let depth = type.wordCount(depth)
    precondition(
      depth.isMultiple(of: segmentCount), "rows of \(depth) words in \(segmentCount) pieces of one length")
    var product = product(a: a, aStride: aStride, rowCount: rowCount, into: c, cStride: cStride)
    if let scaledPanels { product.panels = UnsafeRawPointer(scaledPanels) }
    product.runCount = runCount
    product.runStride = runStride
    product.segmentCount = segmentCount
    product.segmentDepth = depth / segmentCount
    product.segmentStride = segmentStride
    if let panelRange { product.panelRange = panelRange }
    product.residual = residual
    product.activation = activation
    kernels.products[type]!.multiply(product)
  }

  /// The product with all panels, of rows that lie in one piece, without an epilogue.
  func product(
    a: UnsafeRawPointer, aStride: Int, rowCount: Int, into c: UnsafeMutablePointer<Float>, cStride: Int
  ) -> MatrixProduct {
    MatrixProduct(
      a: a, aStride: aStride, panels: panels.pointer, bias: bias.pointer, c: c, cStride: cStride,
      rowCount: rowCount, depth: type.wordCount(depth), layout: layout)
  }
}

extension ElementType {
  /// Words of so many values of a matrix.
  fileprivate func wordCount(_ valueCount: Int) -> Int {
    self == .bfloat16 ? (valueCount + 1) / 2 : valueCount
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
    guard type == .bfloat16 else { return self }
    let width = kernels.vectorWidth
    let halves = UnsafeRawPointer(panels.pointer).assumingMemoryBound(to: UInt16.self)
    let bias = Array(UnsafeBufferPointer(start: bias.pointer, count: columnCount))
    return PackedMatrix(columnCount: columnCount, depth: depth, bias: bias, kernels: kernels) {
      column, start, target in
      let panel = min(column / (2 * width), layout.panelCount - 1)
      let lanes = layout.vectorCount(ofPanel: panel) * width
      let first = panel * 2 * width
      for (place, k) in (start..<start + target.count).enumerated() {
        let word = first * ((depth + 1) / 2) + k / 2 * lanes + column - first
        target[place] = Float(bitPattern: UInt32(halves[2 * word + k % 2]) << 16)
      }
    }
  }

  /// The transpose, packed, without a bias: gradients run through a product the other way.
  package func transposed() -> PackedMatrix {
    // Row-major [columns, depth] of the transpose is [depth, columns] of this.
    PackedMatrix(
      weight: unpacked(), columnCount: depth, depth: columnCount, bias: nil, kernels: kernels)
  }
}
