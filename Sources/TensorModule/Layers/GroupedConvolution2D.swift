package import KernelInterface
package import SystemModule

/// A convolution whose channels are cut into groups, each of which is convolved on its own.
///
/// Groups that are narrower than a vector are computed side by side as one block, with zeros for the weights between them. A
/// window of 3x3 and stride 1 may take ``WinogradProduct``. Otherwise a task takes a block and some rows, and copies what lies
/// under each window.
package struct GroupedConvolution2D: Sendable {
  package let window: Window
  /// Applied to each output.
  package let activation: Activation
  package let groups: Int
  package let inputChannels: Int
  package let outputChannels: Int
  package let kernels: KernelSet
  private enum Product: Sendable {
    case winograd(WinogradProduct)
    case windows(GroupBlocks)
  }

  private let product: Product
  /// `OIHW`, for the gradient.
  fileprivate let weight: [Float]

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels / groups, kernelSize, kernelSize]`.
  ///   - bias: `[outputChannels]`.
  ///   - algorithm: Winograd's or windows.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, groups: Int, window: Window, activation: Activation,
    algorithm: Convolution2D.Algorithm, kernels: KernelSet
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
    if algorithm == .winograd {
      product = .winograd(
        WinogradProduct(
          weight: weight, bias: bias, inputChannels: inputChannels, groups: groups, kernels: kernels))
      return
    }
    let cut = GroupCut(groups: groups, inputs: inputChannels, outputs: bias.count, kernels: kernels)
    product = .windows(
      GroupBlocks(cut, taps: taps, bias: bias, kernels: kernels) { output, input, tap in
        weight[(output * cut.groupInputs + input) * taps + tap]
      })
  }

  package func outputShape(_ input: FeatureShape) -> FeatureShape {
    window.outputShape(input, channels: outputChannels)
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape) -> Int {
    let output = outputShape(input)
    return switch product {
    case .winograd(let product): product.scratchCount(output)
    case .windows(let blocks): blocks.scratchCount(output)
    }
  }

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
    switch product {
    case .winograd(let product):
      product(
        input, top: resolved.top, left: resolved.left, residual: nil, activation: activation, into: output,
        scratch: scratch, pool: pool)
    case .windows(let blocks):
      let size = window.kernelSize
      blocks.multiply(into: output, activation: activation, scratch: scratch, pool: pool) {
        y, x, channels, target in
        for ky in 0..<size {
          input.copyRow(
            y * window.stride - resolved.top + ky, from: x * window.stride - resolved.left, count: size,
            channels: channels, to: target + ky * size * channels.count)
        }
      }
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
    let taps = layer.window.kernelSize * layer.window.kernelSize
    let cut = GroupCut(
      groups: layer.groups, inputs: layer.outputChannels, outputs: layer.inputChannels, kernels: layer.kernels
    )
    blocks = GroupBlocks(cut, taps: taps, bias: nil, kernels: layer.kernels) { input, output, tap in
      let (group, channel) = input.quotientAndRemainder(dividingBy: cut.groupOutputs)
      return layer.weight[((group * cut.groupInputs + output) * cut.groupOutputs + channel) * taps + tap]
    }
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ input: FeatureShape) -> Int { blocks.scratchCount(input) }

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
    blocks.multiply(into: inputGradient, activation: .identity, scratch: scratch, pool: pool) {
      y, x, channels, target in
      for ky in 0..<window.kernelSize {
        let (row, rowRest) = (y + resolved.top - ky).quotientAndRemainder(dividingBy: window.stride)
        for kx in 0..<window.kernelSize {
          let (column, rest) = (x + resolved.left - kx).quotientAndRemainder(dividingBy: window.stride)
          // No output has this tap here: a row or a column outside the map.
          outputGradient.copyRow(
            rowRest == 0 && rest == 0 ? row : -1, from: column, count: 1, channels: channels,
            to: target + (ky * window.kernelSize + kx) * channels.count)
        }
      }
    }
  }
}

/// The cut of a grouped convolution's channels into blocks, each of one group, or of several that lie side by side in a vector.
struct GroupCut: Sendable {
  /// The inputs of a group.
  let groupInputs: Int
  let groupOutputs: Int
  let blockCount: Int
  /// The inputs of a block.
  let inputs: Int
  let outputs: Int
  /// True if two blocks fill three vectors, of which each alone takes two: one product then multiplies both.
  let makesPairs: Bool

  /// - Parameter inputs: Those of all groups, as are the outputs.
  init(groups: Int, inputs: Int, outputs: Int, kernels: KernelSet) {
    precondition(
      inputs.isMultiple(of: groups) && outputs.isMultiple(of: groups),
      "\(inputs) to \(outputs) channels in \(groups) groups")
    (groupInputs, groupOutputs) = (inputs / groups, outputs / groups)
    let most = max(kernels.vectorWidth / groupOutputs, 1)
    let merged = (1...most).last { groups.isMultiple(of: $0) } ?? 1
    blockCount = groups / merged
    (self.inputs, self.outputs) = (merged * groupInputs, merged * groupOutputs)
    makesPairs = self.inputs == self.outputs && 2 * self.outputs == 3 * kernels.vectorWidth
  }

  /// The blocks of the product that begins with a block.
  func side(_ block: Int) -> Int { makesPairs && block + 2 <= blockCount ? 2 : 1 }

  /// The inputs of a block that one of its outputs has weights for: its group's.
  func inputs(ofColumn column: Int) -> Range<Int> {
    let group = column / groupOutputs
    return group * groupInputs..<(group + 1) * groupInputs
  }
}

/// The windows of groups as products, a matrix for each block or pair of blocks.
private struct GroupBlocks: Sendable {
  private let cut: GroupCut
  private let taps: Int
  /// `[kernelSize, kernelSize, inputs] x [outputs]`, packed.
  private let matrices: [PackedMatrix]
  private let kernels: KernelSet

  /// - Parameters:
  ///   - bias: That of all groups.
  ///   - value: The weight of an output of all, an input of its group, and a tap.
  init(
    _ cut: GroupCut, taps: Int, bias: [Float]?, kernels: KernelSet,
    value: (_ output: Int, _ input: Int, _ tap: Int) -> Float
  ) {
    self.cut = cut
    self.taps = taps
    self.kernels = kernels
    matrices = stride(from: 0, to: cut.blockCount, by: cut.side(0)).map { block in
      let outputs = block * cut.outputs..<(block + cut.side(block)) * cut.outputs
      return PackedMatrix(
        columnCount: outputs.count, depth: taps * cut.inputs, bias: bias.map { Array($0[outputs]) },
        kernels: kernels
      ) { column, start, target in
        let own = cut.inputs(ofColumn: column % cut.outputs)
        for i in target.indices {
          let (tap, input) = (start + i).quotientAndRemainder(dividingBy: cut.inputs)
          target[i] =
            own.contains(input) ? value(outputs.lowerBound + column, input - own.lowerBound, tap) : 0
        }
      }
    }
  }

  /// Floats under the windows of the blocks that a product multiplies, at most.
  private var windowCount: Int { taps * cut.side(0) * cut.inputs }

  /// Rows of a map whose pixels and the windows under them stay in the second-level cache.
  private func rowsPerTask(_ output: FeatureShape) -> Int {
    min(max(ProductGrid.cachedFloats / (output.width * windowCount), 1), output.height)
  }

  /// Floats for the windows of a task's pixels and their products.
  func scratchCount(_ output: FeatureShape) -> Int {
    rowsPerTask(output) * output.width * (windowCount + kernels.padded(cut.outputs))
  }

  /// Multiplies the windows of all pixels, a block or a pair and some rows in each task.
  ///
  /// - Parameters:
  ///   - scratch: ``scratchCount(_:)`` floats for each task.
  ///   - read: Writes what lies under the window of the pixel in row `y` and column `x`.
  func multiply(
    into output: FeatureMap, activation: Activation, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool,
    read: (_ y: Int, _ x: Int, _ channels: Range<Int>, _ target: UnsafeMutablePointer<Float>) -> Void
  ) {
    let (width, rowCount) = (output.shape.width, rowsPerTask(output.shape))
    let bandCount = (output.shape.height + rowCount - 1) / rowCount
    pool.run(
      taskCount: matrices.count * bandCount, scratch: scratch, scratchCount: scratchCount(output.shape)
    ) { task, scratch in
      let (index, band) = task.quotientAndRemainder(dividingBy: bandCount)
      let block = index * cut.side(0)
      let side = cut.side(block)
      let inputs = block * cut.inputs..<(block + side) * cut.inputs
      let pixels = band * rowCount * width..<min((band + 1) * rowCount, output.shape.height) * width
      for (index, pixel) in pixels.enumerated() {
        read(pixel / width, pixel % width, inputs, scratch + index * taps * inputs.count)
      }
      let first = output.pointer + (pixels.lowerBound * output.pixelStride + block * cut.outputs)
      // The outputs of a pair are whole vectors, those of a block may not be.
      let products = scratch + pixels.count * taps * inputs.count
      var product = matrices[index].product(
        a: scratch, aStride: taps * inputs.count, rowCount: pixels.count, into: side == 2 ? first : products,
        cStride: side == 2 ? output.pixelStride : kernels.padded(cut.outputs))
      product.isPair = side == 2
      (product.segmentCount, product.segmentDepth, product.segmentStride) = (taps, cut.inputs, inputs.count)
      product.activation = activation
      kernels.products.float32.multiply(product)
      if side == 2 { return }
      let padding = block == cut.blockCount - 1 ? output.pixelStride - output.shape.channels : 0
      for index in 0..<pixels.count {
        let place = first + index * output.pixelStride
        place.update(from: products + index * product.cStride, count: cut.outputs)
        (place + cut.outputs).update(repeating: 0, count: padding)
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
        copy(row + (first + i) * pixelStride, to: place, count: channels.count)
      } else {
        place.update(repeating: 0, count: channels.count)
      }
    }
  }

  /// A call of `memmove` would cost as much as some dozen floats do.
  private func copy(
    _ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int
  ) {
    var i = 0
    while i + 8 <= count {
      let values = UnsafeRawPointer(source + i).loadUnaligned(as: SIMD8<Float>.self)
      UnsafeMutableRawPointer(target + i).storeBytes(of: values, as: SIMD8<Float>.self)
      i += 8
    }
    while i < count {
      target[i] = source[i]
      i += 1
    }
  }
}
