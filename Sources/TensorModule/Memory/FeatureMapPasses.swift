package import KernelInterface
package import SystemModule

/// The activation below a layer, for a gradient that is led through both while it is in the cache.
package struct ActivationBelow {
  package let activation: Activation
  private let map: FeatureMap?
  private let mask: GradientMask?
  /// True if the map is the derivative.
  private var isSlopes = false

  /// - Parameter arguments: The input of the activation, or its output if it is idempotent; the gradient's shape and stride.
  package init(_ activation: Activation, at arguments: FeatureMap) {
    (self.activation, map, mask) = (activation, arguments, nil)
  }

  /// - Parameter mask: All that is known of the activation's values.
  package init(_ mask: GradientMask) { (activation, map, self.mask) = (mask.activation, nil, mask) }

  /// - Parameter slopes: The derivative, all that is known of the activation's values; the gradient's shape and stride.
  package init(_ activation: Activation, slopes: FeatureMap) {
    self.init(activation, at: slopes)
    isSlopes = true
  }

  package var arguments: FeatureMap {
    precondition(!isSlopes, "slopes read as values")
    guard let map else { preconditionFailure("a mask read as values") }
    return map
  }

  var shape: FeatureShape { mask?.shape ?? map!.shape }
  var pixelStride: Int { mask?.pixelStride ?? map!.pixelStride }

  /// The means of the channels, where they lie behind the arguments: padded channels.
  package var means: [Float] {
    [Float](UnsafeBufferPointer(start: arguments.valuesBehind, count: arguments.pixelStride))
  }

  /// Multiplies the gradient of some pixels, which lie as far apart as the arguments, by the derivative.
  ///
  /// - Parameter gradient: The first of the pixels.
  func apply(to gradient: UnsafeMutablePointer<Float>, pixels: Range<Int>, kernels: KernelSet) {
    if let mask { return mask.apply(to: gradient, pixels: pixels) }
    if isSlopes, let map {
      // One long row.
      let count = pixels.count * map.pixelStride
      return kernels.scaleColumns(
        ColumnScaling(
          matrix: gradient, rowCount: 1, columnCount: count, rowStride: count,
          factors: map.pointer + pixels.lowerBound * map.pixelStride))
    }
    let stride = arguments.pixelStride
    kernels.applyDerivative(
      DerivativePass(
        gradient: gradient, preActivation: UnsafePointer(arguments.pointer + pixels.lowerBound * stride),
        rowCount: pixels.count, columnCount: stride, rowStride: stride, activation: activation))
  }

  /// Multiplies a whole gradient by the derivative.
  package func apply(to gradient: FeatureMap, kernels: KernelSet, pool: ThreadPool) {
    requireLayout(of: gradient)
    pool.run(taskCount: shape.height) { y, _ in
      apply(
        to: gradient.pointer + y * gradient.rowStride, pixels: y * shape.width..<(y + 1) * shape.width,
        kernels: kernels)
    }
  }

  /// Adds the products of some pixels' gradient with what the activation gives.
  ///
  /// - Parameters:
  ///   - gradient: The first of the pixels, which lie as far apart as the arguments.
  ///   - sums: Padded channels.
  func addProducts(
    with gradient: UnsafePointer<Float>, pixels: Range<Int>, to sums: UnsafeMutablePointer<Float>,
    kernels: KernelSet
  ) {
    let stride = arguments.pixelStride
    kernels.addProducts(
      ProductSum(
        sums: sums, gradient: gradient,
        preActivation: UnsafePointer(arguments.pointer + pixels.lowerBound * stride), rowCount: pixels.count,
        columnCount: stride, rowStride: stride, activation: activation))
  }

  func requireLayout(of gradient: FeatureMap) {
    precondition(
      gradient.shape == shape && gradient.pixelStride == pixelStride,
      "a gradient \(gradient.shape) of stride \(gradient.pixelStride) for \(shape) of \(pixelStride)")
  }
}

extension FeatureMap {
  /// The floats behind the last pixel.
  package var valuesBehind: UnsafeMutablePointer<Float> { pointer + shape.pixelCount * pixelStride }

  /// The first of some channels of a pixel.
  func place(_ pixel: Int, _ channels: Range<Int>) -> UnsafeMutablePointer<Float> {
    pointer + pixel * pixelStride + channels.lowerBound
  }

  /// Floats in a row of pixels.
  var rowStride: Int { shape.width * pixelStride }

  /// Turns a gradient with respect to `activation(x) * factors` into one with respect to `x`:
  /// `(gradient * factors + offsets) * activation'(x)`.
  ///
  /// - Parameters:
  ///   - preActivation: `x`, of this map's shape and stride.
  ///   - factors: Padded channels, or nil for ones.
  ///   - offsets: Padded channels, or nil for zeros: what reaches every pixel by another way.
  package func applyDerivative(
    of activation: Activation, at preActivation: FeatureMap, factors: [Float]? = nil, offsets: [Float]? = nil,
    kernels: KernelSet, pool: ThreadPool
  ) {
    requireSameLayout(preActivation)
    precondition(
      (factors ?? offsets)?.count ?? pixelStride == pixelStride
        && (offsets ?? factors)?.count ?? pixelStride == pixelStride, "factors or offsets of another length")
    pool.run(taskCount: shape.height) { y, _ in
      factors.withPointer { factors in
        offsets.withPointer { offsets in
          kernels.applyDerivative(
            DerivativePass(
              gradient: pointer + y * rowStride,
              preActivation: UnsafePointer(preActivation.pointer + y * rowStride), rowCount: shape.width,
              columnCount: pixelStride, rowStride: pixelStride, factors: factors, offsets: offsets,
              activation: activation))
        }
      }
    }
  }

  /// Copies a map of the same shape and stride.
  package func copy(_ other: FeatureMap, pool: ThreadPool) {
    requireSameLayout(other)
    pool.run(taskCount: shape.height) { y, _ in
      (pointer + y * rowStride).update(from: other.pointer + y * rowStride, count: rowStride)
    }
  }

  /// Copies some channels of a map of the same pixels to those from `first` on. Where they end with this map's last channel,
  /// zeros follow.
  package func copyChannels(_ channels: Range<Int>, of other: FeatureMap, to first: Int, pool: ThreadPool) {
    precondition(
      shape.height == other.shape.height && shape.width == other.shape.width
        && first + channels.count <= shape.channels && channels.upperBound <= other.shape.channels,
      "channels \(channels) of \(other.shape) to \(first) of \(shape)")
    let padding = first + channels.count == shape.channels ? pixelStride - shape.channels : 0
    pool.run(taskCount: shape.height) { y, _ in
      for pixel in y * shape.width..<(y + 1) * shape.width {
        let target = pointer + pixel * pixelStride + first
        target.update(
          from: other.pointer + pixel * other.pixelStride + channels.lowerBound, count: channels.count)
        (target + channels.count).update(repeating: 0, count: padding)
      }
    }
  }

  /// Overwrites this map by what an activation gives of another, or of the sum of two. All have the same shape and stride;
  /// the first may be this map.
  package func activate(
    _ activation: Activation, of other: FeatureMap, plus addend: FeatureMap? = nil, kernels: KernelSet,
    pool: ThreadPool
  ) {
    requireSameLayout(other)
    addend?.requireSameLayout(self)
    pool.run(taskCount: shape.height) { y, _ in
      let row = pointer + y * rowStride
      if other.pointer != pointer { row.update(from: other.pointer + y * rowStride, count: rowStride) }
      if let addend { add(UnsafePointer(addend.pointer + y * rowStride), toRow: y, kernels: kernels) }
      if activation != .identity {
        kernels.activate(ActivationPass(values: row, count: rowStride, activation: activation))
      }
    }
  }

  /// Overwrites this map by another of the same shape and stride, each channel times a factor.
  package func write(
    _ other: FeatureMap, times factors: UnsafePointer<Float>, kernels: KernelSet, pool: ThreadPool
  ) {
    requireSameLayout(other)
    pool.run(taskCount: shape.height) { y, _ in
      (pointer + y * rowStride).update(from: other.pointer + y * rowStride, count: rowStride)
      kernels.scaleColumns(
        ColumnScaling(
          matrix: pointer + y * rowStride, rowCount: shape.width, columnCount: pixelStride,
          rowStride: pixelStride, factors: factors))
    }
  }

  /// Overwrites this map by another of the same shape and stride, each channel times a factor and plus an offset.
  ///
  /// - Parameters:
  ///   - factors: Padded channels, as are the offsets.
  package func write(
    _ other: FeatureMap, times factors: [Float], plus offsets: [Float], kernels: KernelSet, pool: ThreadPool
  ) {
    copy(other, pool: pool)
    applyDerivative(
      of: .identity, at: self, factors: factors, offsets: offsets, kernels: kernels, pool: pool)
  }

  /// The sum of each channel's products with another map of the same shape and stride, padded channels. Rows of pixels are
  /// summed first and then their sums, whatever the number of threads.
  package func sumsOfProducts(with other: FeatureMap, kernels: KernelSet, pool: ThreadPool) -> [Float] {
    requireSameLayout(other)
    let sums = AlignedBuffer(count: shape.height * pixelStride)
    pool.run(taskCount: shape.height) { y, _ in
      kernels.addProducts(
        ProductSum(
          sums: sums.pointer + y * pixelStride, gradient: pointer + y * rowStride,
          preActivation: UnsafePointer(other.pointer + y * rowStride), rowCount: shape.width,
          columnCount: pixelStride, rowStride: pixelStride, activation: .identity))
    }
    return sums.summed(rowCount: shape.height, columnCount: pixelStride, kernels: kernels)
  }

  /// Writes the sum of each channel over the pixels of each row: `[height, pixelStride]`.
  package func writeSumsOfRows(to sums: UnsafeMutablePointer<Float>, kernels: KernelSet, pool: ThreadPool) {
    pool.run(taskCount: shape.height) { y, _ in
      let row = FeatureMap(
        pointer + y * rowStride, shape: FeatureShape(height: 1, width: shape.width, channels: shape.channels),
        pixelStride: pixelStride)
      row.writeSums(to: sums + y * pixelStride, kernels: kernels)
    }
  }

  /// The mean of each channel, padded channels. Rows are summed first and then their sums, whatever the number of threads.
  package func means(kernels: KernelSet, pool: ThreadPool) -> [Float] {
    let sums = AlignedBuffer(count: shape.height * pixelStride)
    writeSumsOfRows(to: sums.pointer, kernels: kernels, pool: pool)
    let share = 1 / Float(shape.pixelCount)
    return sums.summed(rowCount: shape.height, columnCount: pixelStride, kernels: kernels).map { $0 * share }
  }

  /// Writes the sum of each channel over all pixels, padded channels.
  package func writeSums(to sums: UnsafeMutablePointer<Float>, kernels: KernelSet) {
    sums.update(repeating: 0, count: pixelStride)
    kernels.addRows(
      RowSum(
        sums: sums, matrix: pointer, rowCount: shape.pixelCount, columnCount: pixelStride,
        rowStride: pixelStride))
  }

  /// Adds a map of the same shape and stride.
  package func add(_ other: FeatureMap, kernels: KernelSet, pool: ThreadPool) {
    requireSameLayout(other)
    pool.run(taskCount: shape.height) { y, _ in
      add(UnsafePointer(other.pointer + y * rowStride), toRow: y, kernels: kernels)
    }
  }

  private func add(_ values: UnsafePointer<Float>, toRow y: Int, kernels: KernelSet) {
    kernels.addRows(
      RowSum(
        sums: pointer + y * rowStride, matrix: values, rowCount: 1, columnCount: rowStride,
        rowStride: rowStride))
  }

  func requireSameLayout(_ other: FeatureMap) {
    precondition(
      shape == other.shape && pixelStride == other.pixelStride,
      "maps of \(shape) with stride \(pixelStride) and \(other.shape) with stride \(other.pixelStride)")
  }
}

extension AlignedBuffer {
  /// The sum of each column of `[rowCount, columnCount]`.
  func summed(rowCount: Int, columnCount: Int, kernels: KernelSet) -> [Float] {
    var sums = [Float](repeating: 0, count: columnCount)
    sums.withUnsafeMutableBufferPointer {
      kernels.addRows(
        RowSum(
          sums: $0.baseAddress!, matrix: UnsafePointer(pointer), rowCount: rowCount, columnCount: columnCount,
          rowStride: columnCount))
    }
    return sums
  }
}

extension [Float]? {
  fileprivate func withPointer<Result>(_ body: (UnsafePointer<Float>?) -> Result) -> Result {
    guard let self else { return body(nil) }
    return self.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}

extension Activation {
  /// True if the output can take the input's place: the function leaves its own output as it is, and its derivative at the
  /// output is that at the input.
  package var isIdempotent: Bool {
    switch self {
    case .identity, .relu, .relu6: true
    case .silu, .sigmoid, .hardSwish, .hardSigmoid, .gelu: false
    }
  }

  /// The derivative at `x`; at a kink 0, as PyTorch has it.
  package func derivative(at x: Double) -> Double {
    switch self {
    case .identity: return 1
    case .relu: return x > 0 ? 1 : 0
    case .relu6: return x > 0 && x < 6 ? 1 : 0
    case .silu:
      // Far below, exp overflows, and the derivative has long been 0.
      if x < -700 { return 0 }
      let sigmoid = 1 / (1 + Mathematics.exp(-x))
      return sigmoid * (1 + x * (1 - sigmoid))
    case .sigmoid:
      let sigmoid = 1 / (1 + Mathematics.exp(-x))
      return sigmoid * (1 - sigmoid)
    case .hardSwish: return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5
    case .hardSigmoid: return x > -3 && x < 3 ? 1.0 / 6 : 0
    case .gelu:
      let magnitude = min(abs(x), 10)
      let coefficients = Activation.normalTail
      var power = 0.0
      for i in 0..<8 { power = power * magnitude + Double(coefficients[7 - i]) }
      for _ in 0..<4 { power *= power }
      let density = Mathematics.exp(-magnitude * magnitude / 2) * 0.3989422804014327
      return (x > 0 ? 1 - 0.5 / power : 0.5 / power) + (x > 0 ? magnitude : -magnitude) * density
    }
  }
}
