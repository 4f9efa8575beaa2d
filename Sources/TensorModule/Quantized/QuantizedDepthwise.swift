package import KernelInterface
package import SystemModule

/// A depthwise convolution of levels, after a 1x1 convolution where there is one.
///
/// Its sums are whole numbers below 2^24, which floats hold: the same kernels as without quantisation give them, in whatever
/// order. ReLU6 is a clamp to the levels 0...255, before and after, and an instruction may multiply them as bytes. Other
/// activations are computed in a fixed order, and the levels before are fine ones.
package struct QuantizedDepthwise: Sendable {
  /// The 1x1 convolution before, or nil; with ReLU6 its matrix makes levels of `input`.
  package let expansion: Convolution2D?
  /// The convolution of levels by levels.
  private let depthwise: DepthwiseConvolution2D
  /// For each channel, padded, what a step of the sums stands for; with ReLU6, of levels of the next layer.
  private let scales: AlignedBuffer
  /// From values to levels of the next layer, for each channel, padded.
  private let outputFactors: AlignedBuffer
  /// The weight that it was made from.
  package let weight: QuantizedWeight
  /// The form of the depthwise convolution's input.
  package let input: Quantization
  /// The form of the next layer's input.
  package let output: Quantization
  /// After the expansion and after the depthwise convolution.
  package let activation: Activation

  /// The greatest magnitude of a depthwise sum.
  package static let sumLimit = 16_777_216.0

  /// - Parameters:
  ///   - weight: `[channels, kernelSize * kernelSize]`.
  ///   - input: Its zero point is 0.
  ///   - output: Its zero point is 0 where the activation is ReLU6.
  /// - Returns: nil where a sum could leave the integers that a float holds.
  package init?(
    expansion: Convolution2D?, weight: QuantizedWeight, input: Quantization, output: Quantization,
    window: Window, activation: Activation, kernels: KernelSet
  ) {
    let isFine = activation != .relu6
    precondition(
      input.zeroPoint == 0 && (isFine || output.zeroPoint == 0),
      "a depthwise convolution between levels with 0 at \(input.zeroPoint) and at \(output.zeroPoint)")
    precondition(isFine || expansion != nil, "ReLU6 in 8 bits without an expansion")
    let largestLevel = isFine ? Quantization.fineLimit : 255
    guard let biases = weight.integerBias(of: input, largestLevel: largestLevel, limit: Self.sumLimit) else {
      return nil
    }
    self.expansion = expansion
    self.weight = weight
    self.input = input
    self.output = output
    self.activation = activation
    if !isFine, let windows = kernels.products.int8.windows,
      ProductKernels.Windows.takes(kernelSize: window.kernelSize, stride: window.stride)
    {
      depthwise = DepthwiseConvolution2D(
        levels: weight.levels, bias: biases, window: window, windows: windows, kernels: kernels)
    } else {
      depthwise = DepthwiseConvolution2D(
        weight: weight.levels.map { Float($0) }, bias: biases.map { Float($0) }, window: window,
        activation: .identity, kernels: kernels)
    }
    scales = AlignedBuffer(count: depthwise.paddedChannels)
    for (channel, scale) in weight.sumScale(of: input).enumerated() {
      scales.pointer[channel] = isFine ? scale : Float(Double(scale) / Double(output.scale))
    }
    outputFactors = AlignedBuffer(count: isFine ? depthwise.paddedChannels : 0)
    outputFactors.pointer.update(repeating: 1 / output.scale, count: outputFactors.count)
  }

  /// Cuts the work on an input of the given shape.
  package func plan(_ input: FeatureShape, threadCount: Int) -> DepthwisePlan {
    DepthwisePlan(depthwise, expansion: expansion, input: input, threadCount: threadCount)
  }

  /// Rows of the depthwise convolution's input.
  package enum Input {
    /// Levels that the expansion reads.
    case levels(PackedMap)
    /// Fine levels, where there is no expansion.
    case fineLevels(FeatureMap)
  }

  /// Floats of scratch memory for each task.
  package func scratchCount(_ plan: DepthwisePlan) -> Int { plan.scratchCount + plan.widestRowCount }

  /// Computes the next layer's levels.
  ///
  /// - Parameter scratch: ``scratchCount(_:)`` floats.
  package func callAsFunction(
    _ input: Input, into words: PackedMap, plan: DepthwisePlan, scratch: UnsafeMutablePointer<Float>,
    pool: ThreadPool
  ) {
    precondition(words.shape == plan.output, "to \(words.shape) where \(plan.output) was planned")
    plan.run(
      depthwise, over: source(input, plan), scratch: scratch, extraScratchCount: plan.widestRowCount,
      pool: pool
    ) { y, channels, row, compute in
      let (width, count) = (words.shape.width, channels.count)
      compute(row, count, nil)
      if activation != .relu6 {
        depthwise.kernels.activateExactly(
          ExactPass(
            values: row, valueStride: count, output: row, outputStride: count, rowCount: width,
            columnCount: count, scales: scales.pointer + channels.lowerBound, activation: activation))
      }
      words.write(
        pixel: y * width, count: width, channels: channels, values: row, valueStride: count,
        factors: activation == .relu6 ? scales.pointer : outputFactors.pointer, zeroPoint: output.zeroPoint)
    }
  }

  /// Computes fine levels of the output, and for each run of rows their sums.
  ///
  /// - Parameters:
  ///   - scale: A step of the levels.
  ///   - sums: `[sumCount, padded channels]`, overwritten.
  ///   - scratch: ``scratchCount(_:)`` floats.
  package func callAsFunction(
    _ input: Input, into levels: FeatureMap, scale: Float, sums: UnsafeMutablePointer<Int32>,
    plan: DepthwisePlan, scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    precondition(levels.shape == plan.output, "to \(levels.shape) where \(plan.output) was planned")
    let padded = depthwise.paddedChannels
    sums.update(repeating: 0, count: plan.sumCount * padded)
    let (width, stride) = (levels.shape.width, levels.pixelStride)
    plan.run(
      depthwise, over: source(input, plan), scratch: scratch, extraScratchCount: plan.widestRowCount,
      pool: pool
    ) { y, channels, row, compute in
      compute(row, channels.count, nil)
      depthwise.kernels.activateExactly(
        ExactPass(
          values: row, valueStride: channels.count,
          output: levels.pointer + (y * width * stride + channels.lowerBound), outputStride: stride,
          rowCount: width, columnCount: channels.count, scales: scales.pointer + channels.lowerBound,
          activation: activation, levels: .fine(scale: scale),
          sums: sums + plan.sum(ofRow: y) * padded + channels.lowerBound))
    }
  }

  private func source(_ input: Input, _ plan: DepthwisePlan) -> RowSource {
    switch input {
    case .fineLevels(let map):
      precondition(
        expansion == nil && map.shape == plan.input, "levels of \(map.shape) where \(plan.input) was planned")
      return .map(map)
    case .levels(let words):
      guard let expansion, words.shape == plan.input else {
        preconditionFailure("levels of \(words.shape) where \(plan.input) was planned")
      }
      guard activation == .relu6 else {
        return expansion.matrix.rows(
          of: words, activation: activation, levels: .fine(scale: self.input.scale))
      }
      // The step of the levels is part of the matrix, and the clamp is the activation.
      let rows = expansion.matrix.rows(of: words, activation: .identity, levels: .bytes)
      return depthwise.windows.map { packed(rows, by: $0, plan) } ?? rows
    }
  }

  /// Rows of levels as words of four.
  private func packed(
    _ source: RowSource, by windows: ProductKernels.Windows, _ plan: DepthwisePlan
  ) -> RowSource {
    guard case .expanded(let layout, let vectorWidth, let expand) = source else { return source }
    let (before, after, width) = (plan.ringSides.before, plan.ringSides.after, plan.input.width)
    return .expanded(layout, vectorWidth: vectorWidth) { rows in
      expand(rows)
      let first = rows.output + 2 * vectorWidth * rows.panels.lowerBound - before * rows.pixelStride
      // Without padding, all rows are one run.
      for run in 0..<rows.runCount {
        for pixel in stride(from: 0, to: rows.pixelCount, by: width) {
          windows.pack(
            LevelWindowPass(
              row: first + run * rows.runStride + pixel * rows.pixelStride, pixelStride: rows.pixelStride,
              width: before + width + after, levels: before..<before + width, channelCount: rows.pixelStride))
        }
      }
    }
  }
}
