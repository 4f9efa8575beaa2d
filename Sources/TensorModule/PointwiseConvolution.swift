package import KernelInterface

/// A 1x1 convolution: a matrix product over the pixels, read where they lie.
package struct PointwiseConvolution: Sendable {
  /// `[input channels, output channels]`, packed.
  package let matrix: PackedMatrix
  /// Applied to each output.
  package let activation: Activation

  /// - Parameters:
  ///   - weight: `[outputChannels, inputChannels]`, which is `OIHW` with a window of one tap.
  ///   - bias: `[outputChannels]`.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, activation: Activation, kernels: KernelSet
  ) {
    self.init(
      matrix: PackedMatrix(
        weight: weight, columnCount: bias.count, depth: inputChannels, bias: bias, kernels: kernels),
      activation: activation)
  }

  /// - Parameter matrix: `[inputChannels, outputChannels]`, packed.
  package init(matrix: PackedMatrix, activation: Activation) {
    self.matrix = matrix
    self.activation = activation
  }

  /// Computes all output pixels.
  ///
  /// - Parameters:
  ///   - gate: Multiplies each input channel, or nil: squeeze-excite, folded into the product. As long as the input's
  ///     padded channels. Where there are fewer pixels than output channels, the input is overwritten by the product.
  ///   - residual: Added to the output, or nil; the output's shape and stride.
  ///   - scratch: ``scratchCount`` floats when there is a gate.
  package func callAsFunction(
    _ input: FeatureMap, gate: UnsafePointer<Float>? = nil, residual: FeatureMap? = nil,
    into output: FeatureMap, scratch: UnsafeMutablePointer<Float>? = nil, pool: ThreadPool
  ) {
    precondition(
      input.shape.channels == matrix.depth && output.shape.channels == matrix.columnCount
        && input.shape.pixelCount == output.shape.pixelCount,
      "1x1 convolution [\(matrix.depth), \(matrix.columnCount)] from \(input.shape) to \(output.shape)")
    if let residual {
      precondition(
        residual.shape == output.shape && residual.pixelStride == output.pixelStride,
        "residual \(residual.shape) for \(output.shape)")
    }
    // Each task reads all of one operand and a part of the other. It is the smaller one that is read again and again, and
    // that a gate multiplies.
    let rowCount = input.shape.pixelCount
    if matrix.columnCount > rowCount {
      multiplyByColumns(input, gate: gate, residual: residual, into: output, pool: pool)
      return
    }
    if let gate { matrix.writePanels(scaledBy: gate, to: scratch!) }
    let scaled = gate == nil ? nil : scratch.map { UnsafePointer($0) }
    let grid = ProductGrid(rowCount: rowCount, matrix: matrix)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      matrix.multiply(
        a: input.pointer + rows.lowerBound * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows.count, into: output.pointer + rows.lowerBound * output.pixelStride,
        cStride: output.pixelStride, activation: activation,
        residual: residual.map { UnsafePointer($0.pointer + rows.lowerBound * $0.pixelStride) },
        scaledPanels: scaled)
    }
  }

  /// Computes all output pixels, some channels in each task: the matrix, which does not fit in the second-level cache, is
  /// read once.
  private func multiplyByColumns(
    _ input: FeatureMap, gate: UnsafePointer<Float>?, residual: FeatureMap?, into output: FeatureMap,
    pool: ThreadPool
  ) {
    let rowCount = input.shape.pixelCount
    if let gate {
      let columns = matrix.depth.roundedUp(toMultipleOf: matrix.kernels.vectorWidth)
      pool.run(taskCount: Self.partCount) { part, _ in
        let rows = rowCount * part / Self.partCount..<rowCount * (part + 1) / Self.partCount
        matrix.kernels.scaleColumns(
          input.pointer + rows.lowerBound * input.pixelStride, rows.count, columns, input.pixelStride, gate)
      }
    }
    let panelCount = matrix.layout.panelCount
    let partCount = min(panelCount, Self.partCount)
    pool.run(taskCount: partCount) { part, _ in
      matrix.multiply(
        a: input.pointer, aStride: input.pixelStride, rowCount: rowCount, into: output.pointer,
        cStride: output.pixelStride,
        panelRange: panelCount * part / partCount..<panelCount * (part + 1) / partCount,
        activation: activation, residual: residual.map { UnsafePointer($0.pointer) })
    }
  }

  /// The tasks of a product that is cut by columns: enough to share out.
  private static let partCount = 16

  /// Floats of scratch memory for a gated product over so many pixels.
  package func scratchCount(pixelCount: Int) -> Int {
    matrix.columnCount <= pixelCount ? matrix.panelFloatCount : 0
  }
}

/// The cut of a product's rows into blocks: the rows of a block stay in the second-level cache while the panels of the
/// matrix pass over them, and there are enough blocks to share out.
struct ProductGrid {
  /// What the rows of a block take at most, in floats: 128 KiB, which leaves the panels as much of the smallest
  /// second-level cache in use.
  static let cachedFloats = 32_768

  let rowCount: Int
  let rowsPerBlock: Int

  init(rowCount: Int, matrix: PackedMatrix) {
    let tile = matrix.kernels.rowTile
    let cached = max(Self.cachedFloats / matrix.depth, tile)
    let shared = (rowCount + 7) / 8
    self.rowCount = rowCount
    rowsPerBlock = max(min(cached, shared) / tile * tile, tile * 2)
  }

  var blockCount: Int { (rowCount + rowsPerBlock - 1) / rowsPerBlock }

  func rows(ofBlock block: Int) -> Range<Int> {
    block * rowsPerBlock..<min((block + 1) * rowsPerBlock, rowCount)
  }
}
