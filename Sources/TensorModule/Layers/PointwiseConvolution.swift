package import KernelInterface
package import SystemModule

/// A 1x1 convolution: a matrix product over the pixels, read where they lie.
package struct PointwiseConvolution: Sendable {
  /// `[input channels, output channels]`, packed.
  package let matrix: PackedMatrix
  /// Applied to each output.
  package let activation: Activation

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
  ///   - residual: Added before the activation, or nil; the output's shape and stride.
  ///   - scratch: ``scratchCount(pixelCount:)`` floats when there is a gate.
  ///   - taskScratch: ``taskScratchCount(pixelCount:)`` floats for each task, where the matrix is not of floats.
  package func callAsFunction(
    _ input: FeatureMap, gate: UnsafePointer<Float>? = nil, residual: FeatureMap? = nil,
    into output: FeatureMap, scratch: UnsafeMutablePointer<Float>? = nil,
    taskScratch: UnsafeMutablePointer<Float>? = nil, pool: ThreadPool
  ) {
    if matrix.type != .float32 {
      multiplyPacked(
        input, gate: gate, residual: residual, into: output, taskScratch: taskScratch!, pool: pool)
      return
    }
    precondition(
      input.shape.channels == matrix.depth && output.shape.channels == matrix.columnCount
        && input.shape.pixelCount == output.shape.pixelCount,
      "1x1 convolution [\(matrix.depth), \(matrix.columnCount)] from \(input.shape) to \(output.shape)")
    residual?.requireSameLayout(output)
    // Scaling the smaller of the two operands is the same product for less work.
    let rowCount = input.shape.pixelCount
    let scalesMatrix = gate != nil && matrix.columnCount <= rowCount
    if let gate, scalesMatrix { matrix.writePanels(scaledBy: gate, to: scratch!, pool: pool) }

    let grid = ProductGrid(rowCount: rowCount, matrix: matrix, threadCount: pool.threadCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      let a = input.pointer + rows.lowerBound * input.pixelStride
      if let gate, !scalesMatrix {
        matrix.kernels.scaleColumns(
          ColumnScaling(
            matrix: a, rowCount: rows.count,
            columnCount: matrix.depth.roundedUp(toMultipleOf: matrix.kernels.vectorWidth),
            rowStride: input.pixelStride, factors: gate))
      }
      matrix.multiply(
        a: a, aStride: input.pixelStride, rowCount: rows.count,
        into: output.pointer + rows.lowerBound * output.pixelStride, cStride: output.pixelStride,
        activation: activation,
        residual: residual.map { UnsafePointer($0.pointer + rows.lowerBound * $0.pixelStride) },
        scaledPanels: scalesMatrix ? scratch.map { UnsafePointer($0) } : nil)
    }
  }

  /// Floats of scratch memory for a gated product over so many pixels.
  package func scratchCount(pixelCount: Int) -> Int {
    matrix.type == .float32 && matrix.columnCount <= pixelCount ? matrix.panelFloatCount : 0
  }
}

/// The cut of a product's rows into blocks. The bits of a product do not depend on it.
package struct ProductGrid {
  /// What the rows of a block take at most, in floats: 128 KiB, which leaves the panels as much of the smallest
  /// second-level cache in use.
  static let cachedFloats = 32_768

  let rowCount: Int
  let rowsPerBlock: Int

  /// The rows of a block stay in the second-level cache while the panels of the matrix pass over them, and there are enough
  /// blocks to share out.
  ///
  /// - Parameters:
  ///   - depth: Floats of a row.
  ///   - threadCount: When known, and the matrix is the larger operand, there is but one block for each thread, or as few as
  ///     the cache allows: the matrix comes from farther away than the rows, and each block reads all of it.
  ///   - cacheSize: Bytes of the second-level cache.
  package init(
    rowCount: Int, depth: Int, columnCount: Int, rowTile tile: Int, threadCount: Int? = nil,
    cacheSize: Int = CacheSize.secondLevel
  ) {
    self.rowCount = rowCount
    if let threadCount, columnCount > rowCount {
      // Three quarters for the rows, the rest for panels.
      let cached = cacheSize / 16 * 3 / depth / tile * tile
      let shared = ((rowCount + threadCount - 1) / threadCount).roundedUp(toMultipleOf: tile)
      rowsPerBlock = max(min(cached, shared), tile * 2)
      return
    }
    let cached = max(Self.cachedFloats / depth, tile)
    let shared = (rowCount + 7) / 8
    rowsPerBlock = max(min(cached, shared) / tile * tile, tile * 2)
  }

  init(
    rowCount: Int, matrix: PackedMatrix, threadCount: Int? = nil, cacheSize: Int = CacheSize.secondLevel
  ) {
    self.init(
      rowCount: rowCount, depth: matrix.depth, columnCount: matrix.columnCount,
      rowTile: matrix.kernels.rowTile, threadCount: threadCount, cacheSize: cacheSize)
  }

  /// Blocks of rows.
  package var blockCount: Int { (rowCount + rowsPerBlock - 1) / rowsPerBlock }

  /// The rows of a block.
  package func rows(ofBlock block: Int) -> Range<Int> {
    block * rowsPerBlock..<min((block + 1) * rowsPerBlock, rowCount)
  }
}
