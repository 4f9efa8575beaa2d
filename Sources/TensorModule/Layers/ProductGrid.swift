import KernelInterface
import SystemModule

/// The cut of a product's rows into blocks. The bits of a product do not depend on it.
package struct ProductGrid {
  /// What the rows of a block take at most, in floats: 128 KiB, which leaves the panels as much of the smallest
  /// second-level cache in use.
  static let cachedFloats = 32_768

  let rowCount: Int
  let rowsPerBlock: Int

  /// Blocks of a given size.
  init(rowCount: Int, rowsPerBlock: Int) {
    self.rowCount = rowCount
    self.rowsPerBlock = rowsPerBlock
  }

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
      rowCount: rowCount, depth: matrix.rowWordCount, columnCount: matrix.columnCount,
      rowTile: matrix.kernels.rowTile, threadCount: threadCount, cacheSize: cacheSize)
  }

  package var blockCount: Int { (rowCount + rowsPerBlock - 1) / rowsPerBlock }

  package func rows(ofBlock block: Int) -> Range<Int> {
    block * rowsPerBlock..<min((block + 1) * rowsPerBlock, rowCount)
  }
}

extension PackedMatrix {
  /// Computes all rows of `activation(A * matrix + bias + residual)`, a block of them in each task.
  ///
  /// - Parameters:
  ///   - segmentCount: As in ``multiply(a:aStride:segmentCount:segmentStride:rowCount:runCount:into:cStride:runStride:panelRange:activation:levels:residual:scaledPanels:)``.
  ///   - residual: Added before the activation, or nil; the output's shape and stride.
  ///   - scratch: `scratchCount` floats.
  ///   - read: Gives the first word of some rows of `A` and the words from one to the next. It may write them to the task's
  ///     scratch memory.
  ///   - finish: Is called with rows that are done, and the first of them.
  func multiply(
    _ grid: ProductGrid, segmentCount: Int = 1, segmentStride: Int = 0, activation: Activation = .identity,
    residual: FeatureMap? = nil, scaledPanels: UnsafePointer<Float>? = nil, into output: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, scratchCount: Int, pool: ThreadPool,
    read: (_ rows: Range<Int>, _ scratch: UnsafeMutablePointer<Float>) -> (
      first: UnsafeRawPointer, stride: Int
    ),
    finish: (_ rows: Range<Int>, _ first: UnsafeMutablePointer<Float>) -> Void = { _, _ in }
  ) {
    residual?.requireSameLayout(output)
    pool.run(taskCount: grid.blockCount, scratch: scratch, scratchCount: scratchCount) { task, scratch in
      let rows = grid.rows(ofBlock: task)
      let a = read(rows, scratch)
      let offset = rows.lowerBound * output.pixelStride
      multiply(
        a: a.first, aStride: a.stride, segmentCount: segmentCount, segmentStride: segmentStride,
        rowCount: rows.count, into: output.pointer + offset, cStride: output.pixelStride,
        activation: activation, residual: residual.map { UnsafePointer($0.pointer + offset) },
        scaledPanels: scaledPanels)
      finish(rows, output.pointer + offset)
    }
  }
}
