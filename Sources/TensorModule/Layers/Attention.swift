import CBuiltins
package import KernelInterface
package import SystemModule

/// Multi-head attention of rows: each looks at all rows of its set, `softmax(q k^T / sqrt(head size) + bias) v` for each
/// head (Vaswani et al., "Attention Is All You Need", 2017). A set is all tokens of an image, or a window of a map.
///
/// Scores are made for some rows at a time, so that those of all rows never lie in memory at once. Keys and values are
/// packed for the matrix kernels; the softmax's division is left to the product with the values. Rows are cut the same way
/// for any number of threads, and so are the bits.
package struct Attention: Sendable {
  /// Rows of the map in each set, the sets one after another, all of one size.
  private let rows: [Int]
  private let setSize: Int
  private let headCount: Int
  private let headSize: Int
  /// `[bias rows of sets, heads, set size, padded set size]`, added to the scores.
  private let bias: AlignedBuffer?
  /// The bias of each set.
  private let biasIndices: [Int]
  private let kernels: KernelSet
  private let zeros: AlignedBuffer

  /// - Parameters:
  ///   - rows: Rows of the map in each set, which take part in no other.
  ///   - bias: Added to the scores of a set's rows: `[heads, set size, set size]`, of each kind of set. Empty: nothing.
  ///   - biasIndices: The kind of each set.
  package init(
    rows: [Int], setSize: Int, headCount: Int, headSize: Int, bias: [[Float]] = [], biasIndices: [Int] = [],
    kernels: KernelSet
  ) {
    precondition(
      rows.count % setSize == 0 && (bias.isEmpty || biasIndices.count == rows.count / setSize),
      "\(rows.count) rows in sets of \(setSize), with \(biasIndices.count) biases")
    (self.rows, self.setSize, self.headCount, self.headSize) = (rows, setSize, headCount, headSize)
    (self.biasIndices, self.kernels) = (biasIndices, kernels)
    let stride = kernels.padded(setSize)
    zeros = AlignedBuffer(count: max(stride, kernels.padded(headSize)))
    let rowCount = headCount * setSize
    let padded = AlignedBuffer(count: bias.count * rowCount * stride)
    for (index, values) in bias.enumerated() {
      precondition(values.count == rowCount * setSize, "a bias of \(values.count) for \(rowCount) rows")
      for row in 0..<rowCount {
        (padded.pointer + (index * rowCount + row) * stride).update(
          from: Array(values[row * setSize..<(row + 1) * setSize]), count: setSize)
      }
    }
    self.bias = bias.isEmpty ? nil : padded
  }

  private var setCount: Int { rows.count / setSize }
  private var taskCount: Int { setCount * headCount }
  /// Floats of a row of scores, and of a row of a head.
  private var scoreStride: Int { kernels.padded(setSize) }
  private var headStride: Int { kernels.padded(headSize) }
  private var channelCount: Int { headCount * headSize }
  private var scale: Float { 1 / Float(headSize).squareRoot() }

  /// Rows whose scores lie in memory at once: 256 KiB of them, and enough blocks to share out. A panel of keys is read from
  /// the second-level cache once for all of them.
  private var blockSize: Int {
    let tile = kernels.rowTile
    return max(min(65_536 / scoreStride, 96) / tile * tile, tile)
  }

  private var blockCount: Int { (setSize + blockSize - 1) / blockSize }

  /// Multiply-adds of all sets.
  package var multiplyAdds: Int { 2 * setCount * setSize * setSize * channelCount }

  /// Floats of the keys and values of all heads.
  private var packedCount: Int { taskCount * (scoreStride * headSize + setSize * headStride) }

  /// Floats that a task works in.
  private var taskScratchCount: Int { blockSize * (2 * headStride + scoreStride + 1) }

  /// Floats of scratch memory.
  package var scratchCount: Int { packedCount + taskScratchCount }

  /// Computes all rows.
  ///
  /// - Parameters:
  ///   - input: Queries, keys and values side by side, each of all heads: `[rows, 3 * heads * head size]`.
  ///   - output: `[rows, heads * head size]`
  ///   - scratch: ``scratchCount`` floats.
  package func callAsFunction(
    _ input: FeatureMap, into output: FeatureMap, scratch packed: UnsafeMutablePointer<Float>,
    pool: ThreadPool
  ) {
    requireShapes(input, output)
    let (keyCount, valueCount) = (scoreStride * headSize, setSize * headStride)
    pool.run(taskCount: taskCount) { task, _ in
      let keys = packed + task * (keyCount + valueCount)
      packTransposed(input, task: task, part: 1, into: keys)
      pack(input, task: task, part: 2, into: keys + keyCount)
    }
    let blockCount = blockCount
    pool.run(
      taskCount: taskCount * blockCount, scratch: packed + packedCount, scratchCount: taskScratchCount
    ) { item, scratch in
      let task = item / blockCount
      let block = block(item % blockCount)
      let keys = packed + task * (keyCount + valueCount)
      let queries = scratch
      let scores = queries + blockSize * headStride
      let results = scores + blockSize * scoreStride
      let factors = results + blockSize * headStride
      gather(input, task: task, part: 0, block, scale: scale, into: queries)
      if item + 1 < taskCount * blockCount {
        prefetch(
          input, from: (item + 1) % blockCount * blockSize, count: blockSize, task: (item + 1) / blockCount,
          part: 0)
      }
      multiply(
        queries, headStride, headSize, keys, setSize, bias: bias(task, block), into: scores, block.count)
      kernels.softmaxRows(
        RowSoftmax(
          values: scores, rowCount: block.count, columnCount: setSize, rowStride: scoreStride,
          factors: factors))
      multiply(scores, scoreStride, setSize, keys + keyCount, headSize, into: results, block.count)
      kernels.scaleRows(
        RowScaling(
          output: results, matrix: UnsafePointer(results), rowCount: block.count, columnCount: headStride,
          factors: factors))
      scatter(results, task: task, part: 0, block, into: output)
    }
  }

  private func requireShapes(_ input: FeatureMap, _ output: FeatureMap) {
    precondition(
      input.shape.channels == 3 * channelCount && output.shape.channels == channelCount
        && input.shape.pixelCount == rows.count && output.shape.pixelCount == rows.count,
      "attention of \(headCount) heads of \(headSize) from \(input.shape) to \(output.shape)")
  }

  private func block(_ index: Int) -> Range<Int> {
    index * blockSize..<min((index + 1) * blockSize, setSize)
  }

  private func bias(_ task: Int, _ block: Range<Int>) -> UnsafePointer<Float>? {
    bias.map {
      let head = biasIndices[task / headCount] * headCount + task % headCount
      return UnsafePointer($0.pointer + (head * setSize + block.lowerBound) * scoreStride)
    }
  }

  /// `c = a * panels + bias`, dense rows of whole vectors.
  private func multiply(
    _ a: UnsafePointer<Float>, _ aStride: Int, _ depth: Int, _ panels: UnsafePointer<Float>,
    _ columnCount: Int, bias: UnsafePointer<Float>? = nil, into c: UnsafeMutablePointer<Float>,
    _ rowCount: Int
  ) {
    let layout = PanelLayout(columnCount: columnCount, vectorWidth: kernels.vectorWidth)
    var product = MatrixProduct(
      a: a, aStride: aStride, panels: panels, bias: zeros.pointer, c: c,
      cStride: layout.vectorCount * kernels.vectorWidth, rowCount: rowCount, depth: depth, layout: layout)
    product.residual = bias
    kernels.products.float32.multiply(product)
  }

  /// A row of a task's part of the map: of its queries (0), keys (1) or values (2).
  private func row(_ index: Int, _ map: FeatureMap, task: Int, part: Int) -> UnsafeMutablePointer<Float> {
    let row = rows[task / headCount * setSize + index]
    return map.pointer + row * map.pixelStride + part * channelCount + task % headCount * headSize
  }

  /// Prefetches rows of a head: they lie so far apart that the CPU does not see which come next.
  private func prefetch(_ map: FeatureMap, from first: Int, count: Int, task: Int, part: Int) {
    for index in first..<max(min(first + count, setSize), first) {
      let row = row(index, map, task: task, part: part)
      for c in stride(from: 0, to: headSize, by: 16) { CBuiltins.prefetch(row + c) }
    }
  }

  /// Copies rows one after another, zeros behind each.
  private func gather(
    _ map: FeatureMap, task: Int, part: Int, _ block: Range<Int>, scale: Float = 1,
    into target: UnsafeMutablePointer<Float>
  ) {
    for (place, index) in block.enumerated() {
      let (source, row) = (row(index, map, task: task, part: part), target + place * headStride)
      for c in 0..<headSize { row[c] = source[c] * scale }
      for c in headSize..<headStride { row[c] = 0 }
    }
  }

  private func scatter(
    _ source: UnsafePointer<Float>, task: Int, part: Int, _ block: Range<Int>, into map: FeatureMap
  ) {
    // The lanes behind the last head are zeros, as behind every row of a map.
    let isLast = map.shape.channels == channelCount && task % headCount == headCount - 1
    let padding = isLast ? map.pixelStride - channelCount : 0
    for (place, index) in block.enumerated() {
      let target = row(index, map, task: task, part: part)
      target.update(from: source + place * headStride, count: headSize)
      (target + headSize).update(repeating: 0, count: padding)
    }
  }

  /// Packs `[set size, head size]`: a product sums over the rows.
  private func pack(_ map: FeatureMap, task: Int, part: Int, into target: UnsafeMutablePointer<Float>) {
    let layout = PanelLayout(columnCount: headSize, vectorWidth: kernels.vectorWidth)
    for panel in 0..<layout.panelCount {
      let first = panel * 2 * kernels.vectorWidth
      let lanes = layout.vectorCount(ofPanel: panel) * kernels.vectorWidth
      let used = min(lanes, headSize - first)
      for index in 0..<setSize {
        prefetch(map, from: index + 16, count: 1, task: task, part: part)
        let line = target + first * setSize + index * lanes
        line.update(from: row(index, map, task: task, part: part) + first, count: used)
        (line + used).update(repeating: 0, count: lanes - used)
      }
    }
  }

  /// Packs the transpose, `[head size, set size]`: a product sums over the channels.
  private func packTransposed(
    _ map: FeatureMap, task: Int, part: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let layout = PanelLayout(columnCount: setSize, vectorWidth: kernels.vectorWidth)
    for panel in 0..<layout.panelCount {
      let first = panel * 2 * kernels.vectorWidth
      let lanes = layout.vectorCount(ofPanel: panel) * kernels.vectorWidth
      let line = target + first * headSize
      prefetch(map, from: first + lanes, count: lanes, task: task, part: part)
      func source(_ lane: Int) -> UnsafePointer<Float> {
        let index = first + lane
        return UnsafePointer(
          index < setSize ? row(index, map, task: task, part: part) : zeros.pointer)
      }
      for lane in stride(from: 0, to: lanes, by: 4) {
        // Four by four, which the compiler makes shuffles of.
        let (a, b, c, d) = (source(lane), source(lane + 1), source(lane + 2), source(lane + 3))
        var k = 0
        while k + 4 <= headSize {
          let (a, b, c, d) = (fourFloats(a + k), fourFloats(b + k), fourFloats(c + k), fourFloats(d + k))
          for i in 0..<4 {
            UnsafeMutableRawPointer(line + ((k + i) * lanes + lane)).storeBytes(
              of: SIMD4(a[i], b[i], c[i], d[i]), as: SIMD4<Float>.self)
          }
          k += 4
        }
        while k < headSize {
          let column = line + (k * lanes + lane)
          (column[0], column[1], column[2], column[3]) = (a[k], b[k], c[k], d[k])
          k += 1
        }
      }
    }
  }

  private func fourFloats(_ pointer: UnsafePointer<Float>) -> SIMD4<Float> {
    UnsafeRawPointer(pointer).loadUnaligned(as: SIMD4<Float>.self)
  }
}

extension Attention {
  /// Floats of scratch memory for the backward pass, in which a task works.
  package var gradientScratchCount: Int {
    2 * scoreStride * headSize + setSize * headStride + blockSize * (5 * headStride + 3 * scoreStride + 1)
      + 4 * scoreStride * headSize
  }

  /// Computes the gradient with respect to the input, of which the scores are made again.
  ///
  /// With `P` the probabilities, `dP = dO v^T` and `dS = P (dP - sum of P dP over the row)`: `dq = dS k`, `dk = dS^T q`,
  /// `dv = P^T dO`. A head's keys and values gather contributions of all rows, so a task is a head of a set.
  ///
  /// - Parameters:
  ///   - outputGradient: `[rows, heads * head size]`
  ///   - inputGradient: Overwritten, of the input's shape.
  ///   - scratch: ``gradientScratchCount`` floats.
  package func inputGradient(
    _ outputGradient: FeatureMap, at input: FeatureMap, into inputGradient: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    requireShapes(input, outputGradient)
    inputGradient.requireSameLayout(input)
    for row in rows {
      let end = inputGradient.pointer + row * inputGradient.pixelStride + 3 * channelCount
      end.update(repeating: 0, count: inputGradient.pixelStride - 3 * channelCount)
    }
    pool.run(taskCount: taskCount, scratch: scratch, scratchCount: gradientScratchCount) { task, scratch in
      var next = scratch
      func take(_ count: Int) -> UnsafeMutablePointer<Float> {
        defer { next += count }
        return next
      }
      let (keys, values) = (take(scoreStride * headSize), take(scoreStride * headSize))
      let keyRows = take(setSize * headStride)
      packTransposed(input, task: task, part: 1, into: keys)
      packTransposed(input, task: task, part: 2, into: values)
      pack(input, task: task, part: 1, into: keyRows)
      let (queries, gradients) = (take(blockSize * headStride), take(blockSize * headStride))
      let (queryGradients, transposed) = (take(blockSize * headStride), take(2 * blockSize * headStride))
      let (scores, products) = (take(blockSize * scoreStride), take(blockSize * scoreStride))
      let (panels, factors) = (take(blockSize * scoreStride), take(blockSize))
      // The transposed gradients of keys and values, each read while the next is written.
      var sums = (0..<2).map { _ in (take(scoreStride * headSize), take(scoreStride * headSize)) }
      for index in 0..<blockCount {
        let block = block(index)
        gather(input, task: task, part: 0, block, scale: scale, into: queries)
        gather(outputGradient, task: task, part: 0, block, into: gradients)
        multiply(
          queries, headStride, headSize, keys, setSize, bias: bias(task, block), into: scores, block.count)
        kernels.softmaxRows(
          RowSoftmax(
            values: scores, rowCount: block.count, columnCount: setSize, rowStride: scoreStride,
            factors: factors))
        kernels.scaleRows(
          RowScaling(
            output: scores, matrix: UnsafePointer(scores), rowCount: block.count, columnCount: scoreStride,
            factors: factors))
        multiply(gradients, headStride, headSize, values, setSize, into: products, block.count)
        kernels.softmaxRows(
          RowSoftmax(
            values: scores, gradient: products, rowCount: block.count, columnCount: setSize,
            rowStride: scoreStride, factors: factors))
        multiply(products, scoreStride, setSize, keyRows, headSize, into: queryGradients, block.count)
        for i in 0..<block.count * headStride { queryGradients[i] *= scale }
        scatter(queryGradients, task: task, part: 0, block, into: inputGradient)
        for (part, left, right) in [(0, queries, products), (1, gradients, scores)] {
          for i in 0..<block.count {
            for c in 0..<headSize { transposed[c * block.count + i] = left[i * headStride + c] }
          }
          packRows(right, rowCount: block.count, into: panels)
          multiply(
            transposed, block.count, block.count, panels, setSize, bias: index == 0 ? nil : sums[part].0,
            into: sums[part].1, headSize)
          sums[part] = (sums[part].1, sums[part].0)
        }
      }
      for part in 0..<2 {
        for index in 0..<setSize {
          let target = row(index, inputGradient, task: task, part: part + 1)
          for c in 0..<headSize { target[c] = sums[part].0[c * scoreStride + index] }
        }
      }
    }
  }

  /// Packs `[rowCount, set size]`, dense rows of whole vectors.
  private func packRows(
    _ matrix: UnsafePointer<Float>, rowCount: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let layout = PanelLayout(columnCount: setSize, vectorWidth: kernels.vectorWidth)
    for panel in 0..<layout.panelCount {
      let first = panel * 2 * kernels.vectorWidth
      let lanes = layout.vectorCount(ofPanel: panel) * kernels.vectorWidth
      for row in 0..<rowCount {
        (target + first * rowCount + row * lanes).update(
          from: matrix + row * scoreStride + first, count: lanes)
      }
    }
  }
}
