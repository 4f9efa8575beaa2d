import KernelInterface
package import SystemModule

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
