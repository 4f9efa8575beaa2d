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

  package var blockCount: Int { (rowCount + rowsPerBlock - 1) / rowsPerBlock }

  package func rows(ofBlock block: Int) -> Range<Int> {
    block * rowsPerBlock..<min((block + 1) * rowsPerBlock, rowCount)
  }
}

extension PointwiseConvolution {
  /// Computes all output pixels of a map whose words are the matrix's.
  ///
  /// - Parameter residual: Added before the activation, or nil; the output's shape and stride.
  package func callAsFunction(
    _ input: PackedMap, residual: FeatureMap? = nil, into output: FeatureMap, pool: ThreadPool
  ) {
    let grid = packedGrid(pixelCount: input.shape.pixelCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      multiply(
        input.words + rows.lowerBound * input.pixelStride, aStride: input.pixelStride, rows: rows,
        residual: residual, into: output)
    }
  }

  /// Floats of scratch memory for each task of a product over so many pixels of floats.
  package func taskScratchCount(pixelCount: Int) -> Int {
    matrix.type == .float32 ? 0 : packedGrid(pixelCount: pixelCount).rowsPerBlock * wordCount
  }

  /// The words of a pixel.
  private var wordCount: Int { PackedMap.wordCount(matrix.depth, matrix.type, kernels: matrix.kernels) }

  /// A block's words stay in the cache. The cut does not depend on the threads, so that memory can be planned for it.
  private func packedGrid(pixelCount: Int) -> ProductGrid {
    ProductGrid(
      rowCount: pixelCount, depth: wordCount, columnCount: matrix.columnCount, rowTile: matrix.kernels.rowTile
    )
  }

  /// Packs the pixels of a task, multiplied by the gate where there is one, and computes their outputs.
  func multiplyPacked(
    _ input: FeatureMap, gate: UnsafePointer<Float>?, residual: FeatureMap?, into output: FeatureMap,
    taskScratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    let grid = packedGrid(pixelCount: input.shape.pixelCount)
    pool.run(
      taskCount: grid.blockCount, scratch: taskScratch, scratchCount: grid.rowsPerBlock * wordCount
    ) { task, scratch in
      let rows = grid.rows(ofBlock: task)
      let block = FeatureShape(height: rows.count, width: 1, channels: matrix.depth)
      let words = PackedMap(scratch, block, matrix.type, kernels: matrix.kernels)
      words.write(
        pixel: 0, count: rows.count, channels: 0..<matrix.depth,
        values: input.pointer + rows.lowerBound * input.pixelStride, valueStride: input.pixelStride,
        factors: gate)
      multiply(words.words, aStride: words.pixelStride, rows: rows, residual: residual, into: output)
    }
  }

  private func multiply(
    _ words: UnsafePointer<Int32>, aStride: Int, rows: Range<Int>, residual: FeatureMap?,
    into output: FeatureMap
  ) {
    matrix.multiply(
      a: words, aStride: aStride, rowCount: rows.count,
      into: output.pointer + rows.lowerBound * output.pixelStride, cStride: output.pixelStride,
      activation: activation,
      residual: residual.map { UnsafePointer($0.pointer + rows.lowerBound * $0.pixelStride) })
  }

  /// The layer with the same weights as Float32.
  package var floats: PointwiseConvolution {
    PointwiseConvolution(matrix: matrix.floats, activation: activation)
  }
}

/// The gradient of a ``PointwiseConvolution`` with respect to its input: a product with the transposed weight.
package struct PointwiseConvolutionGradient: Sendable {
  /// `[output channels, input channels]`, packed.
  private let transposed: PackedMatrix

  /// Packs the transposed weight, which takes as much memory as the layer.
  package init(_ layer: PointwiseConvolution) { transposed = layer.matrix.transposed() }

  /// Computes the gradient of all input pixels.
  ///
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - residual: Added to the result, or nil; the result's shape and stride.
  ///   - below: The activation that made the layer's input; the result is then the gradient at its argument.
  package func callAsFunction(
    _ outputGradient: FeatureMap, residual: FeatureMap? = nil, below: ActivationBelow? = nil,
    into inputGradient: FeatureMap, pool: ThreadPool
  ) {
    requireShapes(outputGradient.shape, residual: residual, inputGradient)
    below?.requireLayout(of: inputGradient)
    let grid = ProductGrid(
      rowCount: inputGradient.shape.pixelCount, matrix: transposed, threadCount: pool.threadCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let pixels = grid.rows(ofBlock: task)
      computePixels(
        pixels, outputGradient.pointer + pixels.lowerBound * outputGradient.pixelStride,
        stride: outputGradient.pixelStride, residual: residual, into: inputGradient)
      below?.apply(
        to: inputGradient.pointer + pixels.lowerBound * inputGradient.pixelStride, pixels: pixels,
        kernels: transposed.kernels)
    }
  }

  /// Computes the gradient of all input pixels, and on the way the sum over all pixels of its products with the input,
  /// channel by channel: the gradient with respect to factors that multiply the input.
  ///
  /// - Parameter below: The activation that made the input.
  /// - Returns: Padded channels.
  package func productSums(
    _ outputGradient: FeatureMap, below: ActivationBelow, into inputGradient: FeatureMap, pool: ThreadPool
  ) -> [Float] {
    requireShapes(outputGradient.shape, residual: nil, inputGradient)
    below.requireLayout(of: inputGradient)
    let stride = inputGradient.pixelStride
    let kernels = transposed.kernels
    let grid = ProductGrid(rowCount: inputGradient.shape.pixelCount, matrix: transposed)
    // Blocks are summed first and then their sums, which keeps the rounding error of a large map small and does not
    // depend on the number of threads.
    let blocks = AlignedBuffer(count: grid.blockCount * stride)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let pixels = grid.rows(ofBlock: task)
      computePixels(
        pixels, outputGradient.pointer + pixels.lowerBound * outputGradient.pixelStride,
        stride: outputGradient.pixelStride, residual: nil, into: inputGradient)
      below.addProducts(
        with: inputGradient.pointer + pixels.lowerBound * stride, pixels: pixels,
        to: blocks.pointer + task * stride, kernels: kernels)
    }
    return blocks.summed(rowCount: grid.blockCount, columnCount: stride, kernels: kernels)
  }

  /// Precondition: The gradients are of this layer's output and input, of one size.
  func requireShapes(_ output: FeatureShape, residual: FeatureMap?, _ inputGradient: FeatureMap) {
    precondition(
      output.channels == transposed.depth && inputGradient.shape.channels == transposed.columnCount
        && inputGradient.shape.pixelCount == output.pixelCount,
      "gradient of a 1x1 convolution from \(output) to \(inputGradient.shape)")
    precondition(
      residual == nil || residual?.pixelStride == inputGradient.pixelStride, "a residual of another stride")
  }

  /// Computes the gradient of some input pixels, whose shapes were looked at.
  ///
  /// - Parameter outputGradient: The first of those pixels, the next `stride` floats on.
  func computePixels(
    _ pixels: Range<Int>, _ outputGradient: UnsafePointer<Float>, stride: Int, residual: FeatureMap?,
    into inputGradient: FeatureMap
  ) {
    let offset = pixels.lowerBound * inputGradient.pixelStride
    transposed.multiply(
      a: outputGradient, aStride: stride, rowCount: pixels.count, into: inputGradient.pointer + offset,
      cStride: inputGradient.pixelStride, residual: residual.map { UnsafePointer($0.pointer + offset) })
  }
}

extension PointwiseConvolution {
  /// Computes the sums of all output pixels, before the activation.
  ///
  /// - Parameter activated: What the activation gives too, or nil; the output's shape and stride.
  package func preActivation(
    _ input: FeatureMap, into output: FeatureMap, activated: FeatureMap? = nil, pool: ThreadPool
  ) {
    activated?.requireSameLayout(output)
    precondition(
      input.shape.channels == matrix.depth && output.shape.channels == matrix.columnCount
        && input.shape.pixelCount == output.shape.pixelCount,
      "1x1 convolution [\(matrix.depth), \(matrix.columnCount)] from \(input.shape) to \(output.shape)")
    let grid = ProductGrid(
      rowCount: input.shape.pixelCount, matrix: matrix, threadCount: pool.threadCount)
    pool.run(taskCount: grid.blockCount) { task, _ in
      let rows = grid.rows(ofBlock: task)
      let first = output.pointer + rows.lowerBound * output.pixelStride
      matrix.multiply(
        a: input.pointer + rows.lowerBound * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows.count, into: first, cStride: output.pixelStride)
      if let activated {
        let count = rows.count * output.pixelStride
        let target = activated.pointer + rows.lowerBound * output.pixelStride
        target.update(from: first, count: count)
        matrix.kernels.activate(ActivationPass(values: target, count: count, activation: activation))
      }
    }
  }
}
