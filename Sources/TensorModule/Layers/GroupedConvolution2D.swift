package import KernelInterface
package import SystemModule

/// A convolution whose channels are cut into groups, each of which is convolved on its own.
///
/// Groups that are narrower than a vector are computed side by side as one block, with zeros for the weights between them.
/// A task takes a block and some rows. With stride 1 it copies the block's channels with the zeros around them, so that the
/// pixels under each row of a window lie side by side and all windows are one product; the products of the columns beyond
/// the row's end are left out. With another stride it copies what lies under each window.
package struct GroupedConvolution2D: Sendable {
  package let window: Window
  /// Applied to each output.
  package let activation: Activation
  package let groups: Int
  package let inputChannels: Int
  package let outputChannels: Int
  package let kernels: KernelSet
  fileprivate let blocks: GroupBlocks
  /// `OIHW`, for the gradient.
  fileprivate let weight: [Float]

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels / groups, kernelSize, kernelSize]`.
  ///   - bias: `[outputChannels]`.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, groups: Int, window: Window, activation: Activation,
    kernels: KernelSet
  ) {
    let taps = window.kernelSize * window.kernelSize
    precondition(
      inputChannels.isMultiple(of: groups) && bias.count.isMultiple(of: groups)
        && weight.count == bias.count * (inputChannels / groups) * taps,
      "\(weight.count) weights of \(taps) taps for \(inputChannels) to \(bias.count) channels in \(groups) groups"
    )
    self.window = window
    self.activation = activation
    self.groups = groups
    self.inputChannels = inputChannels
    self.weight = weight
    outputChannels = bias.count
    self.kernels = kernels
    let (inputs, outputs) = (inputChannels / groups, bias.count / groups)
    blocks = GroupBlocks(
      groups: groups, inputs: inputs, outputs: outputs, taps: taps, bias: bias, kernels: kernels
    ) { group, output, input, tap in
      weight[((group * outputs + output) * inputs + input) * taps + tap]
    }
  }

  package func outputShape(_ input: FeatureShape) -> FeatureShape {
    window.outputShape(input, channels: outputChannels)
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape) -> Int {
    let output = outputShape(input)
    let rows = blocks.rowsPerTask(output)
    if window.stride != 1 { return blocks.scratchCount(pixels: rows * output.width) }
    let width = planeWidth(output)
    return (rows + window.kernelSize - 1) * width * blocks.inputs + rows * width * blocks.paddedOutputs
  }

  /// Pixels in a row of a copy, the zeros beside it included.
  private func planeWidth(_ output: FeatureShape) -> Int { output.width + window.kernelSize - 1 }

  /// Computes the output.
  ///
  /// - Parameters:
  ///   - activation: In the place of the layer's own.
  ///   - scratch: ``scratchCount(_:)`` floats for each task.
  package func callAsFunction(
    _ input: FeatureMap, activation: Activation? = nil, into output: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(
      input.shape.channels == inputChannels && output.shape == outputShape(input.shape),
      "convolution of \(inputChannels) to \(outputChannels) channels from \(input.shape) to \(output.shape)")
    let activation = activation ?? self.activation
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let size = window.kernelSize
    blocks.run(output, scratch: scratch, scratchCount: scratchCount(input.shape), pool: pool) {
      block, rows, scratch in
      let channels = block * blocks.inputs..<(block + 1) * blocks.inputs
      if window.stride == 1 {
        let width = planeWidth(output.shape)
        let planeCount = (rows.count + size - 1) * width * blocks.inputs
        for row in 0..<rows.count + size - 1 {
          input.copyRow(
            rows.lowerBound + row - resolved.top, from: -resolved.left, count: width, channels: channels,
            to: scratch + row * width * blocks.inputs)
        }
        let sums = scratch + planeCount
        blocks.matrices[block].multiply(
          a: scratch, aStride: blocks.inputs, segmentCount: size, segmentStride: width * blocks.inputs,
          rowCount: (rows.count - 1) * width + output.shape.width, into: sums, cStride: blocks.paddedOutputs,
          activation: activation)
        blocks.write(sums, rowLength: width, of: block, rows: rows, into: output)
        return
      }
      var target = scratch
      for pixel in rows.lowerBound * output.shape.width..<rows.upperBound * output.shape.width {
        let (y, x) = pixel.quotientAndRemainder(dividingBy: output.shape.width)
        for ky in 0..<size {
          input.copyRow(
            y * window.stride - resolved.top + ky, from: x * window.stride - resolved.left, count: size,
            channels: channels, to: target)
          target += size * blocks.inputs
        }
      }
      blocks.multiply(scratch, block: block, rows: rows, activation: activation, into: output)
    }
  }
}

/// The gradient of a ``GroupedConvolution2D`` with respect to its input: for each group a product of the outputs whose windows
/// cover a pixel with the transposed weight.
package struct GroupedConvolution2DGradient: Sendable {
  private let layer: GroupedConvolution2D
  private let blocks: GroupBlocks

  /// Packs the transposed weight.
  package init(_ layer: GroupedConvolution2D) {
    self.layer = layer
    let (inputs, outputs) = (layer.inputChannels / layer.groups, layer.outputChannels / layer.groups)
    let taps = layer.window.kernelSize * layer.window.kernelSize
    blocks = GroupBlocks(
      groups: layer.groups, inputs: outputs, outputs: inputs, taps: taps, bias: nil, kernels: layer.kernels
    ) { group, input, output, tap in
      layer.weight[((group * outputs + output) * inputs + input) * taps + tap]
    }
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape) -> Int {
    blocks.scratchCount(pixels: blocks.rowsPerTask(input) * input.width)
  }

  /// Computes the gradient of all input pixels.
  ///
  /// - Parameters:
  ///   - outputGradient: With respect to the sums, before the layer's activation.
  ///   - scratch: ``scratchCount(_:)`` floats for each task.
  package func callAsFunction(
    _ outputGradient: FeatureMap, into inputGradient: FeatureMap, scratch: UnsafeMutablePointer<Float>,
    pool: ThreadPool
  ) {
    let (input, output, window) = (inputGradient.shape, outputGradient.shape, layer.window)
    precondition(
      output == layer.outputShape(input) && input.channels == layer.inputChannels,
      "gradient of a grouped convolution from \(output) to \(input)")
    let resolved = window.resolve(height: input.height, width: input.width)
    blocks.run(inputGradient, scratch: scratch, scratchCount: scratchCount(input), pool: pool) {
      block, rows, scratch in
      let channels = block * blocks.inputs..<(block + 1) * blocks.inputs
      var target = scratch
      for pixel in rows.lowerBound * input.width..<rows.upperBound * input.width {
        let (y, x) = pixel.quotientAndRemainder(dividingBy: input.width)
        for ky in 0..<window.kernelSize {
          let (row, rowRest) = (y + resolved.top - ky).quotientAndRemainder(dividingBy: window.stride)
          for kx in 0..<window.kernelSize {
            let (column, rest) = (x + resolved.left - kx).quotientAndRemainder(dividingBy: window.stride)
            // No output has this tap here: a row or a column outside the map.
            outputGradient.copyRow(
              rowRest == 0 && rest == 0 ? row : -1, from: column, count: 1, channels: channels, to: target)
            target += blocks.inputs
          }
        }
      }
      blocks.multiply(scratch, block: block, rows: rows, activation: .identity, into: inputGradient)
    }
  }
}

/// The weights of groups that are computed side by side, a matrix for each block.
private struct GroupBlocks: Sendable {
  /// `[kernelSize, kernelSize, inputs] x [outputs]`, packed.
  let matrices: [PackedMatrix]
  /// Of a block.
  let inputs: Int
  let outputs: Int
  let paddedOutputs: Int

  /// - Parameters:
  ///   - inputs: Of a group, as are the outputs.
  ///   - bias: Of all groups.
  ///   - value: The weight of a group, an output and an input of it, and a tap.
  init(
    groups: Int, inputs: Int, outputs: Int, taps: Int, bias: [Float]?, kernels: KernelSet,
    value: (_ group: Int, _ output: Int, _ input: Int, _ tap: Int) -> Float
  ) {
    let merged = (1...max(kernels.vectorWidth / outputs, 1)).last { groups.isMultiple(of: $0) } ?? 1
    self.inputs = merged * inputs
    self.outputs = merged * outputs
    paddedOutputs = self.outputs.roundedUp(toMultipleOf: kernels.vectorWidth)
    let (blockInputs, blockOutputs) = (self.inputs, self.outputs)
    matrices = (0..<groups / merged).map { block in
      PackedMatrix(
        columnCount: blockOutputs, depth: taps * blockInputs,
        bias: bias.map { Array($0[block * blockOutputs..<(block + 1) * blockOutputs]) }, kernels: kernels
      ) { column, start, target in
        for i in target.indices {
          let (tap, input) = (start + i).quotientAndRemainder(dividingBy: blockInputs)
          let group = column / outputs
          target[i] =
            input / inputs == group
            ? value(block * merged + group, column % outputs, input % inputs, tap) : 0
        }
      }
    }
  }

  /// Rows of a map whose pixels and the windows under them stay in the second-level cache.
  func rowsPerTask(_ output: FeatureShape) -> Int {
    let cached = ProductGrid.cachedFloats / (output.width * matrices[0].depth)
    return min(max(cached, 1), output.height)
  }

  /// Floats for the windows of some pixels and their sums.
  func scratchCount(pixels: Int) -> Int { pixels * (matrices[0].depth + paddedOutputs) }

  /// Runs a task for each block and some rows of the output.
  func run(
    _ output: FeatureMap, scratch: UnsafeMutablePointer<Float>, scratchCount: Int, pool: ThreadPool,
    _ body: (_ block: Int, _ rows: Range<Int>, _ scratch: UnsafeMutablePointer<Float>) -> Void
  ) {
    let rowCount = rowsPerTask(output.shape)
    let bandCount = (output.shape.height + rowCount - 1) / rowCount
    pool.run(taskCount: matrices.count * bandCount, scratch: scratch, scratchCount: scratchCount) {
      task, scratch in
      let (block, band) = task.quotientAndRemainder(dividingBy: bandCount)
      body(block, band * rowCount..<min((band + 1) * rowCount, output.shape.height), scratch)
    }
  }

  /// Multiplies the windows of all pixels of some rows, which lie side by side.
  func multiply(
    _ windows: UnsafeMutablePointer<Float>, block: Int, rows: Range<Int>, activation: Activation,
    into output: FeatureMap
  ) {
    let matrix = matrices[block]
    let pixelCount = rows.count * output.shape.width
    let sums = windows + pixelCount * matrix.depth
    matrix.multiply(
      a: windows, aStride: matrix.depth, rowCount: pixelCount, into: sums, cStride: paddedOutputs,
      activation: activation)
    write(sums, rowLength: output.shape.width, of: block, rows: rows, into: output)
  }

  /// Copies a block's outputs to their channels, and zeros to the channels behind the last.
  func write(
    _ sums: UnsafePointer<Float>, rowLength: Int, of block: Int, rows: Range<Int>, into output: FeatureMap
  ) {
    let isLast = block == matrices.count - 1
    let padding = isLast ? output.pixelStride - output.shape.channels : 0
    for (index, y) in rows.enumerated() {
      for x in 0..<output.shape.width {
        let pixel = output.pointer + (y * output.shape.width + x) * output.pixelStride
        (pixel + block * outputs).update(from: sums + (index * rowLength + x) * paddedOutputs, count: outputs)
        (pixel + output.shape.channels).update(repeating: 0, count: padding)
      }
    }
  }
}

extension FeatureMap {
  /// Copies some channels of pixels of a row side by side, zeros outside the map.
  ///
  /// - Parameters:
  ///   - first: The first pixel's column.
  ///   - target: `[count, channels]`.
  fileprivate func copyRow(
    _ y: Int, from first: Int, count: Int, channels: Range<Int>, to target: UnsafeMutablePointer<Float>
  ) {
    guard (0..<shape.height).contains(y) else {
      target.update(repeating: 0, count: count * channels.count)
      return
    }
    let row = pointer + (y * shape.width * pixelStride + channels.lowerBound)
    for i in 0..<count {
      let place = target + i * channels.count
      if (0..<shape.width).contains(first + i) {
        place.update(from: row + (first + i) * pixelStride, count: channels.count)
      } else {
        place.update(repeating: 0, count: channels.count)
      }
    }
  }
}
