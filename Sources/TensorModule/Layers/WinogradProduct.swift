import KernelInterface
import SystemModule

/// A 3x3 convolution of stride 1 by Winograd's F(2x2, 3x3): for 2x2 pixels of the output 16 products of channels in the
/// place of 36. See ``WinogradInput`` for the source.
///
/// Tiles of 4x4 input pixels are transformed, each of their 16 values is multiplied by a matrix of its own, and the
/// products are transformed back. The sums are those of the convolution, rounded elsewhere. Where the channels are cut into
/// groups, those of some groups go through all three steps before the next.
struct WinogradProduct: Sendable {
  /// Channels that are transformed together: those of some blocks of groups; without groups all.
  private struct Part: Sendable {
    /// For each block, or for two, the matrices of all values of a tile, one upon another: `[16, inputs] x [outputs]`, packed.
    let matrices: [PackedMatrix]
    let isPair: Bool
    let firstInput: Int
    let firstOutput: Int
  }

  private let parts: [Part]
  private let cut: GroupCut
  private let kernels: KernelSet
  private let bias: AlignedBuffer
  /// Floats from one tile to the next among the transformed tiles.
  private let inputStride: Int
  /// Channels of a part's output, whole vectors.
  private let outputCount: Int
  /// Floats from one tile to the next among the products, of which the last block's fill whole vectors too.
  private let outputStride: Int

  /// A tile's values along a side, of which ``WinogradProduct`` keeps the product with `G`.
  private static let side = 4
  /// Tiles that are transformed before they are multiplied. More would leave the cache, fewer would read the matrices
  /// more often.
  private static let chunkSize = 200
  /// The same in groups, whose matrices are small.
  private static let groupedChunkSize = 48
  /// Tiles of a task of the products, at most.
  private static let taskSize = 48

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels / groups, 3, 3]`.
  ///   - bias: `[outputChannels]`.
  init(weight: [Float], bias: [Float], inputChannels: Int, groups: Int = 1, kernels: KernelSet) {
    let cut = GroupCut(groups: groups, inputs: inputChannels, outputs: bias.count, kernels: kernels)
    precondition(
      weight.count == bias.count * cut.groupInputs * 9,
      "\(weight.count) weights for [\(bias.count), \(cut.groupInputs), 3, 3]")
    let values = Self.transformed(weight, inputChannels: cut.groupInputs)
    // As few blocks as make whole vectors of channels.
    let wholeVectors = (1...kernels.vectorWidth).first {
      ($0 * cut.inputs).isMultiple(of: kernels.vectorWidth)
        && ($0 * cut.outputs).isMultiple(of: kernels.vectorWidth)
    }!
    let perPart = min(wholeVectors, cut.blockCount)
    parts = stride(from: 0, to: cut.blockCount, by: perPart).map { first in
      let side = perPart == 2 ? cut.side(first) : 1
      let matrices = stride(from: first, to: min(first + perPart, cut.blockCount), by: side).map { block in
        PackedMatrix(columnCount: side * cut.outputs, depth: 16 * cut.inputs, bias: nil, kernels: kernels) {
          column, start, target in
          let own = cut.inputs(ofColumn: column % cut.outputs)
          let row = (block * cut.outputs + column) * 16
          for i in target.indices {
            let (value, input) = (start + i).quotientAndRemainder(dividingBy: cut.inputs)
            target[i] =
              own.contains(input) ? values[(row + value) * cut.groupInputs + input - own.lowerBound] : 0
          }
        }
      }
      return Part(
        matrices: matrices, isPair: side == 2, firstInput: first * cut.inputs,
        firstOutput: first * cut.outputs)
    }
    inputStride = kernels.padded(perPart * cut.inputs)
    outputCount = kernels.padded(perPart * cut.outputs)
    outputStride = kernels.padded((perPart - 1) * cut.outputs + kernels.padded(cut.outputs))
    self.cut = cut
    self.kernels = kernels
    self.bias = AlignedBuffer(count: kernels.padded(bias.count))
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

  /// The weight of a convolution without groups, `[3, 3, inputChannels, outputChannels]`, but for rounding.
  func unpacked() -> [Float] {
    precondition(cut.blockCount == 1, "the weight of \(cut.blockCount) blocks of groups as one matrix")
    // The product of these rows with G is the unit matrix.
    let inverse: [[(value: Int, sign: Float)]] = [[(0, 1)], [(1, 1), (2, -1)], [(3, 1)]]
    let values = parts[0].matrices[0].unpacked()
    let count = values.count / 16
    var weight: [Float] = []
    for tap in 0..<9 {
      var plane = [Float](repeating: 0, count: count)
      for row in inverse[tap / 3] {
        for column in inverse[tap % 3] {
          let sign = row.sign * column.sign
          let first = (row.value * Self.side + column.value) * count
          for index in 0..<count { plane[index] += sign * values[first + index] }
        }
      }
      weight += plane
    }
    return weight
  }

  private var chunkSize: Int { cut.blockCount == 1 ? Self.chunkSize : Self.groupedChunkSize }

  /// Tiles that make an output.
  static func tileCount(_ output: FeatureShape) -> Int { (output.width + 1) / 2 * ((output.height + 1) / 2) }

  /// Floats from one of the 16 planes of tiles to the next: a few more than they take, or the planes would share the same
  /// places of the first-level cache.
  private func planeStride(_ tileCount: Int, _ pixelStride: Int) -> Int { tileCount * pixelStride + 16 }

  /// Floats of scratch memory: a pixel of zeros, the transformed tiles, their products.
  func scratchCount(_ output: FeatureShape) -> Int {
    let tiles = min(Self.tileCount(output), chunkSize)
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
    let (inputs, outputs) = (kernels.padded(input.shape.channels), kernels.padded(output.shape.channels))
    precondition(
      input.pixelStride >= inputs && output.pixelStride >= outputs,
      "pixels of \(input.pixelStride) and \(output.pixelStride) floats for \(inputs) and \(outputs)")
    let count = Self.tileCount(output.shape)
    // If there are enough, each thread takes whole chunks: it waits for no other between the steps, and finds in its cache
    // what it wrote. For a byte of the matrices it does a hundred operations, so these may come from farther away.
    let fewest = (count + chunkSize - 1) / chunkSize
    let takesChunks = parts.count > 1 || fewest >= pool.threadCount
    let chunkCount =
      takesChunks && parts.count == 1 ? fewest.roundedUp(toMultipleOf: pool.threadCount) : fewest
    let call = Call(
      input: input, output: output, top: top, left: left, residual: residual, activation: activation,
      inputPlane: planeStride(min(count, chunkSize), inputStride),
      outputPlane: planeStride(min(count, chunkSize), outputStride))
    func tiles(_ chunk: Int) -> Range<Int> {
      chunk * count / chunkCount..<(chunk + 1) * count / chunkCount
    }
    if takesChunks {
      pool.run(
        taskCount: parts.count * chunkCount, scratch: scratch, scratchCount: scratchCount(output.shape)
      ) { task, scratch in
        let (part, chunk) = task.quotientAndRemainder(dividingBy: chunkCount)
        compute(tiles(chunk), parts[part], of: call, scratch: scratch) { count, body in body(0..<count) }
      }
      return
    }
    // The threads share the tiles in the transforms, and the 16 products between them, so that each matrix is read by few.
    for chunk in 0..<chunkCount {
      compute(tiles(chunk), parts[0], of: call, scratch: scratch) { count, body in
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

  /// Computes the outputs of a chunk in some channels.
  ///
  /// - Parameter share: Calls its argument with ranges that make up the given count.
  private func compute(
    _ tiles: Range<Int>, _ part: Part, of call: Call, scratch: UnsafeMutablePointer<Float>,
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
            pixels: pixels(
              of: input, y: 2 * y - call.top, x: 2 * x - call.left, channel: part.firstInput, zeros: scratch),
            channelCount: min(inputStride, kernels.padded(input.shape.channels) - part.firstInput),
            output: transformed + index * inputStride,
            planeStride: call.inputPlane))
      }
    }
    let blocks = (tiles.count + Self.taskSize - 1) / Self.taskSize
    let multiply = kernels.products.float32.multiply
    share(16 * blocks) { tasks in
      // Matrices of groups are so small that a call for each would cost as much as the transforms.
      let runs = cut.blockCount > 1 && blocks == 1 ? tasks.count : 1
      for task in stride(from: tasks.lowerBound, to: tasks.upperBound, by: runs) {
        let (value, block) = task.quotientAndRemainder(dividingBy: blocks)
        let rows = block * tiles.count / blocks..<(block + 1) * tiles.count / blocks
        let a = transformed + (value * call.inputPlane + rows.lowerBound * inputStride)
        let c = products + (value * call.outputPlane + rows.lowerBound * outputStride)
        // In order: a block's vectors may reach over the first products of the next.
        for (index, matrix) in part.matrices.enumerated() {
          var product = matrix.product(
            a: a + index * cut.inputs, aStride: inputStride, rowCount: rows.count,
            into: c + index * cut.outputs,
            cStride: outputStride)
          product.isPair = part.isPair
          (product.segmentDepth, product.firstRow) = (cut.inputs, value * cut.inputs)
          (product.runCount, product.runDepth) = (runs, cut.inputs)
          (product.runAStride, product.runStride) = (call.inputPlane, call.outputPlane)
          multiply(product)
        }
      }
    }
    // The last block's products may end before the channels' padding does.
    let padding = cut.blockCount > 1 ? kernels.padded(output.shape.channels) - output.shape.channels : 0
    share(tiles.count) { range in
      for index in range {
        let (y, x) = (tiles.lowerBound + index).quotientAndRemainder(dividingBy: across)
        let places = places(in: output, y: 2 * y, x: 2 * x)
        kernels.winogradOutput(
          WinogradOutput(
            input: products + index * outputStride, planeStride: call.outputPlane,
            channelCount: min(outputCount, kernels.padded(output.shape.channels) - part.firstOutput),
            bias: bias.pointer + part.firstOutput, output: output.pointer + part.firstOutput,
            residual: call.residual.map { UnsafePointer($0.pointer + part.firstOutput) },
            places: places, activation: call.activation))
        guard padding > 0, part.firstOutput + outputCount > output.shape.channels else { continue }
        for index in 0..<4 {
          guard let place = places[index] else { continue }
          (output.pointer + (place + output.shape.channels)).update(repeating: 0, count: padding)
        }
      }
    }
  }

  /// The pixels of the tile whose first one lies at a place of the input, which may lie outside.
  private func pixels(
    of input: FeatureMap, y: Int, x: Int, channel: Int, zeros: UnsafePointer<Float>
  ) -> InlineArray<16, UnsafePointer<Float>> {
    let (height, width) = (input.shape.height, input.shape.width)
    return InlineArray { index in
      let (row, column) = (y + index / Self.side, x + index % Self.side)
      let isInside = row >= 0 && row < height && column >= 0 && column < width
      return isInside
        ? UnsafePointer(input.pointer + ((row * width + column) * input.pixelStride + channel)) : zeros
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
