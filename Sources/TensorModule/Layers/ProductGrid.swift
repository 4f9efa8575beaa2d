import KernelInterface
import SystemModule

/// The cut of a product's rows into blocks. The bits of a product do not depend on it.
package struct ProductGrid {
  /// The most that the rows of a block take, in floats: 128 KiB, which leaves the panels as much of the smallest
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
  /// blocks to share out: eight, or four for each thread.
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
      let cached = max(cacheSize / 16 * 3 / depth, 1)
      let blockCount = ((rowCount + cached - 1) / cached).roundedUp(toMultipleOf: threadCount)
      // Tiles of four rows take what is left of a block.
      let shared = ((rowCount + blockCount - 1) / blockCount).roundedUp(toMultipleOf: 4)
      rowsPerBlock = max(shared, tile * 2)
      return
    }
    let cached = max(Self.cachedFloats / depth, tile)
    let blockCount = max(4 * (threadCount ?? 1), 8)
    let shared = (rowCount + blockCount - 1) / blockCount
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
  /// Multiply-adds that are worth a task of their own: some microseconds.
  private static let leastTaskSize = 1 << 18

  /// The pieces that the columns are cut into, so that threads with blocks of unlike sizes end together.
  private func columnPieces(_ grid: ProductGrid, threadCount: Int) -> Int {
    if threadCount == 1 { return 1 }
    let blockSize = grid.rowsPerBlock * rowWordCount * columnCount
    let wanted = min(16 * threadCount / grid.blockCount, blockSize / Self.leastTaskSize)
    return max(min(wanted, layout.panelCount), 1)
  }

  /// Computes all rows of `activation(A * matrix + bias + residual)`, a block of them in each task, or some of its columns.
  ///
  /// - Parameters:
  ///   - cutsColumns: True if `read` costs nothing and there is no `finish`.
  ///   - segmentCount: As in ``multiply(a:aStride:segmentCount:segmentStride:rowCount:runCount:into:cStride:runStride:panelRange:activation:levels:residual:scaledPanels:)``.
  ///   - residual: Added before the activation, or nil; the output's shape and stride.
  ///   - scratch: `scratchCount` floats.
  ///   - read: Gives the first word of some rows of `A` and the words from one to the next. It may write them to the task's
  ///     scratch memory.
  ///   - finish: Is called with rows that are done, and the first of them.
  func multiply(
    _ grid: ProductGrid, cutsColumns: Bool = false, segmentCount: Int = 1, segmentStride: Int = 0,
    activation: Activation = .identity, residual: FeatureMap? = nil,
    scaledPanels: UnsafePointer<Float>? = nil, into output: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, scratchCount: Int, pool: ThreadPool,
    read: (_ rows: Range<Int>, _ scratch: UnsafeMutablePointer<Float>) -> (
      first: UnsafeRawPointer, stride: Int
    ),
    finish: (_ rows: Range<Int>, _ first: UnsafeMutablePointer<Float>) -> Void = { _, _ in }
  ) {
    residual?.requireSameLayout(output)
    let pieces = cutsColumns ? columnPieces(grid, threadCount: pool.sharerCount) : 1
    pool.run(taskCount: grid.blockCount * pieces, scratch: scratch, scratchCount: scratchCount) {
      task, scratch in
      let (block, piece) = task.quotientAndRemainder(dividingBy: pieces)
      let rows = grid.rows(ofBlock: block)
      let a = read(rows, scratch)
      let offset = rows.lowerBound * output.pixelStride
      multiply(
        a: a.first, aStride: a.stride, segmentCount: segmentCount, segmentStride: segmentStride,
        rowCount: rows.count, into: output.pointer + offset, cStride: output.pixelStride,
        panelRange: layout.panelCount * piece / pieces..<layout.panelCount * (piece + 1) / pieces,
        activation: activation, residual: residual.map { UnsafePointer($0.pointer + offset) },
        scaledPanels: scaledPanels)
      finish(rows, output.pointer + offset)
    }
  }
}
