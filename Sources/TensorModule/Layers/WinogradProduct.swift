import KernelInterface
import SystemModule

/// A 3x3 convolution of stride 1 by Winograd's F(2x2, 3x3): for 2x2 pixels of the output 16 products of channels in the
/// place of 36. See ``WinogradInput`` for the source.
///
/// Tiles of 4x4 input pixels are transformed, each of their 16 values is multiplied by a matrix of its own, and the
/// products are transformed back. The sums are those of the convolution, rounded elsewhere.
struct WinogradProduct: Sendable {
  /// For each value of a tile: `[inputChannels] x [outputChannels]`, packed.
  let matrices: [PackedMatrix]
  private let bias: AlignedBuffer

  /// A tile's values along a side, of which ``WinogradProduct`` keeps the product with `G`.
  private static let side = 4
  /// Tiles that are transformed before they are multiplied. More would leave the cache, fewer would read the matrices
  /// more often.
  private static let chunkSize = 200
  /// Tiles of a task of the products, at most.
  private static let taskSize = 48

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels, 3, 3]`.
  ///   - bias: `[outputChannels]`.
  init(weight: [Float], bias: [Float], inputChannels: Int, kernels: KernelSet) {
    precondition(
      weight.count == bias.count * inputChannels * 9,
      "\(weight.count) weights for [\(bias.count), \(inputChannels), 3, 3]")
    let values = Self.transformed(weight, inputChannels: inputChannels)
    matrices = (0..<16).map { value in
      PackedMatrix(columnCount: bias.count, depth: inputChannels, bias: nil, kernels: kernels) {
        column, start, target in
        values.withUnsafeBufferPointer {
          target.baseAddress!.update(
            from: $0.baseAddress! + ((column * 16 + value) * inputChannels + start), count: target.count)
        }
      }
    }
    self.bias = AlignedBuffer(count: bias.count.roundedUp(toMultipleOf: kernels.vectorWidth))
    for (channel, value) in bias.enumerated() { self.bias.pointer[channel] = value }
  }

  /// `G g G^T` of each pair of channels: `[outputChannels, 16, inputChannels]`.
  ///
  /// `G = [[1, 0, 0], [1/2, 1/2, 1/2], [1/2, -1/2, 1/2], [0, 0, 1]]`
  private static func transformed(_ weight: [Float], inputChannels: Int) -> [Float] {
    func spread(_ a: Float, _ b: Float, _ c: Float) -> SIMD4<Float> {
      SIMD4(a, (a + c + b) * 0.5, (a + c - b) * 0.5, c)
    }
    let pairCount = weight.count / 9
    return [Float](unsafeUninitializedCapacity: pairCount * 16) { target, count in
      for pair in 0..<pairCount {
        let (output, input) = pair.quotientAndRemainder(dividingBy: inputChannels)
        let first = pair * 9
        let a = spread(weight[first], weight[first + 3], weight[first + 6])
        let b = spread(weight[first + 1], weight[first + 4], weight[first + 7])
        let c = spread(weight[first + 2], weight[first + 5], weight[first + 8])
        for row in 0..<side {
          let values = spread(a[row], b[row], c[row])
          for column in 0..<side {
            target[(output * 16 + row * side + column) * inputChannels + input] = values[column]
          }
        }
      }
      count = pairCount * 16
    }
  }

  /// The weight of the convolution, `[3, 3, inputChannels, outputChannels]`, but for rounding.
  func unpacked() -> [Float] {
    // The product of these rows with G is the unit matrix.
    let inverse: [[(value: Int, sign: Float)]] = [[(0, 1)], [(1, 1), (2, -1)], [(3, 1)]]
    let values = matrices.map { $0.unpacked() }
    var weight: [Float] = []
    for tap in 0..<9 {
      var plane = [Float](repeating: 0, count: values[0].count)
      for row in inverse[tap / 3] {
        for column in inverse[tap % 3] {
          let sign = row.sign * column.sign
          for (index, value) in values[row.value * Self.side + column.value].enumerated() {
            plane[index] += sign * value
          }
        }
      }
      weight += plane
    }
    return weight
  }

  private var kernels: KernelSet { matrices[0].kernels }
  private var inputStride: Int { matrices[0].depth.roundedUp(toMultipleOf: kernels.vectorWidth) }
  private var outputStride: Int { matrices[0].columnCount.roundedUp(toMultipleOf: kernels.vectorWidth) }

  /// Tiles that make an output.
  static func tileCount(_ output: FeatureShape) -> Int { (output.width + 1) / 2 * ((output.height + 1) / 2) }

  /// Floats from one of the 16 planes of tiles to the next: a few more than they take, or the planes would share the same
  /// places of the first-level cache.
  private func planeStride(_ tileCount: Int, _ pixelStride: Int) -> Int { tileCount * pixelStride + 16 }

  /// Floats of scratch memory: a pixel of zeros, the transformed tiles, their products.
  func scratchCount(_ output: FeatureShape) -> Int {
    let tiles = min(Self.tileCount(output), Self.chunkSize)
    return inputStride + 16 * (planeStride(tiles, inputStride) + planeStride(tiles, outputStride))
  }

  /// Computes the output. The bits do not depend on how the threads share it.
  ///
  /// - Parameters:
  ///   - input: Channels padded to whole vectors.
  ///   - top: Rows of zeros above the input.
  ///   - left: Columns of zeros before it.
  ///   - residual: Added before the activation, or nil; the output's shape and stride.
  ///   - scratch: ``scratchCount(_:)`` floats.
  func callAsFunction(
    _ input: FeatureMap, top: Int, left: Int, residual: FeatureMap?, activation: Activation,
    into output: FeatureMap, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(
      input.pixelStride >= inputStride && output.pixelStride >= outputStride,
      "pixels of \(input.pixelStride) and \(output.pixelStride) floats for \(inputStride) and \(outputStride)"
    )
    let count = Self.tileCount(output.shape)
    // If there are enough, each thread takes whole chunks: it waits for no other between the steps, and finds in its cache
    // what it wrote. For a byte of the matrices it does a hundred operations, so these may come from farther away.
    let fewest = (count + Self.chunkSize - 1) / Self.chunkSize
    let takesChunks = fewest >= pool.threadCount
    let chunkCount = takesChunks ? fewest.roundedUp(toMultipleOf: pool.threadCount) : fewest
    let call = Call(
      input: input, output: output, top: top, left: left, residual: residual, activation: activation,
      inputPlane: planeStride(min(count, Self.chunkSize), inputStride),
      outputPlane: planeStride(min(count, Self.chunkSize), outputStride))
    func tiles(_ chunk: Int) -> Range<Int> {
      chunk * count / chunkCount..<(chunk + 1) * count / chunkCount
    }
    if takesChunks {
      pool.run(taskCount: chunkCount, scratch: scratch, scratchCount: scratchCount(output.shape)) {
        chunk, scratch in
        compute(tiles(chunk), of: call, scratch: scratch) { count, body in body(0..<count) }
      }
      return
    }
    // The threads share the tiles in the transforms, and the 16 products between them, so that each matrix is read by few.
    for chunk in 0..<chunkCount {
      compute(tiles(chunk), of: call, scratch: scratch) { count, body in
        let taskCount = min(2 * pool.threadCount, count)
        pool.run(taskCount: taskCount) { task, _ in
          body(task * count / taskCount..<(task + 1) * count / taskCount)
        }
      }
    }
  }

  /// The maps of a call.
  private struct Call {
    let input: FeatureMap
    let output: FeatureMap
    let top: Int
    let left: Int
    let residual: FeatureMap?
    let activation: Activation
    /// Floats from one of the 16 planes to the next.
    let inputPlane: Int
    let outputPlane: Int
  }

  /// Computes the outputs of a chunk.
  ///
  /// - Parameter share: Calls its argument with ranges that make up the given count.
  private func compute(
    _ tiles: Range<Int>, of call: Call, scratch: UnsafeMutablePointer<Float>,
    share: (_ count: Int, _ body: (Range<Int>) -> Void) -> Void
  ) {
    let (input, output) = (call.input, call.output)
    let across = (output.shape.width + 1) / 2
    let transformed = scratch + inputStride
    let products = transformed + 16 * call.inputPlane
    scratch.update(repeating: 0, count: inputStride)
    share(tiles.count) { range in
      for index in range {
        let (y, x) = (tiles.lowerBound + index).quotientAndRemainder(dividingBy: across)
        kernels.winogradInput(
          WinogradInput(
            pixels: pixels(of: input, y: 2 * y - call.top, x: 2 * x - call.left, zeros: scratch),
            channelCount: inputStride, output: transformed + index * inputStride,
            planeStride: call.inputPlane))
      }
    }
    let blocks = (tiles.count + Self.taskSize - 1) / Self.taskSize
    share(16 * blocks) { tasks in
      for task in tasks {
        let (value, block) = task.quotientAndRemainder(dividingBy: blocks)
        let rows = block * tiles.count / blocks..<(block + 1) * tiles.count / blocks
        matrices[value].multiply(
          a: transformed + value * call.inputPlane + rows.lowerBound * inputStride, aStride: inputStride,
          rowCount: rows.count, into: products + value * call.outputPlane + rows.lowerBound * outputStride,
          cStride: outputStride)
      }
    }
    share(tiles.count) { range in
      for index in range {
        let (y, x) = (tiles.lowerBound + index).quotientAndRemainder(dividingBy: across)
        kernels.winogradOutput(
          WinogradOutput(
            input: products + index * outputStride, planeStride: call.outputPlane,
            channelCount: outputStride, bias: bias.pointer, output: output.pointer,
            residual: call.residual.map { UnsafePointer($0.pointer) },
            places: places(in: output, y: 2 * y, x: 2 * x), activation: call.activation))
      }
    }
  }

  /// The pixels of the tile whose first one lies at a place of the input, which may lie outside.
  private func pixels(
    of input: FeatureMap, y: Int, x: Int, zeros: UnsafePointer<Float>
  ) -> InlineArray<16, UnsafePointer<Float>> {
    let (height, width) = (input.shape.height, input.shape.width)
    return InlineArray { index in
      let (row, column) = (y + index / Self.side, x + index % Self.side)
      let isInside = row >= 0 && row < height && column >= 0 && column < width
      return isInside ? UnsafePointer(input.pointer + (row * width + column) * input.pixelStride) : zeros
    }
  }

  private func places(in output: FeatureMap, y: Int, x: Int) -> InlineArray<4, Int?> {
    InlineArray { index in
      let (row, column) = (y + index / 2, x + index % 2)
      let isInside = row < output.shape.height && column < output.shape.width
      return isInside ? (row * output.shape.width + column) * output.pixelStride : nil
    }
  }
}
