package import KernelInterface

/// The activation below a layer, for a gradient that is led through both while it is in the cache.
package struct ActivationBelow {
  let activation: Activation
  let arguments: FeatureMap

  /// - Parameter arguments: What the activation got, or what it gave if it is idempotent; the gradient's shape and stride.
  package init(_ activation: Activation, at arguments: FeatureMap) {
    self.activation = activation
    self.arguments = arguments
  }

  /// Multiplies the gradient of some pixels by the derivative.
  func apply(to gradient: FeatureMap, pixels: Range<Int>, kernels: KernelSet) {
    let offset = pixels.lowerBound * gradient.pixelStride
    kernels.applyDerivative(
      gradient.pointer + offset, UnsafePointer(arguments.pointer + offset), pixels.count,
      gradient.pixelStride, gradient.pixelStride, nil, nil, activation)
  }

  func requireLayout(of gradient: FeatureMap) { arguments.requireSameLayout(gradient) }
}

extension FeatureMap {
  /// Floats in a row of pixels.
  private var rowStride: Int { shape.width * pixelStride }

  /// Applies an activation to a copy. Both have one shape and stride.
  package func activated(
    _ activation: Activation, into output: FeatureMap, kernels: KernelSet, pool: ThreadPool
  ) {
    requireSameLayout(output)
    pool.run(taskCount: shape.height) { y, _ in
      let row = output.pointer + y * rowStride
      row.update(from: pointer + y * rowStride, count: rowStride)
      kernels.activate(row, rowStride, activation)
    }
  }

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
            pointer + y * rowStride, UnsafePointer(preActivation.pointer + y * rowStride), shape.width,
            pixelStride, pixelStride, factors, offsets, activation)
        }
      }
    }
  }

  /// The sum over all pixels of `gradient * activation(x)`, channel by channel: the gradient with respect to factors that
  /// multiply the activated map.
  ///
  /// - Returns: Padded channels.
  package func productSums(
    with preActivation: FeatureMap, activation: Activation, kernels: KernelSet, pool: ThreadPool
  ) -> [Float] {
    requireSameLayout(preActivation)
    return sumsOfRows(kernels: kernels, pool: pool) { y, sums in
      kernels.addProducts(
        sums, UnsafePointer(pointer + y * rowStride), UnsafePointer(preActivation.pointer + y * rowStride),
        shape.width, pixelStride, pixelStride, activation)
    }
  }

  /// The means of the channels, padded.
  package func means(kernels: KernelSet, pool: ThreadPool) -> [Float] {
    let factor = 1 / Float(shape.pixelCount)
    return sumsOfRows(kernels: kernels, pool: pool) { y, sums in
      kernels.addRows(sums, UnsafePointer(pointer + y * rowStride), shape.width, pixelStride, pixelStride)
    }.map { $0 * factor }
  }

  /// Rows of pixels are summed first and then the rows, which keeps the rounding error of a large map small and does not
  /// depend on the number of threads.
  ///
  /// - Parameter addRow: Adds a row's share to sums that are zero.
  /// - Returns: Padded channels.
  private func sumsOfRows(
    kernels: KernelSet, pool: ThreadPool, addRow: (Int, UnsafeMutablePointer<Float>) -> Void
  ) -> [Float] {
    let height = shape.height
    let rows = AlignedBuffer(count: height * pixelStride)
    pool.run(taskCount: height) { y, _ in addRow(y, rows.pointer + y * pixelStride) }
    var sums = [Float](repeating: 0, count: pixelStride)
    sums.withUnsafeMutableBufferPointer {
      kernels.addRows($0.baseAddress!, UnsafePointer(rows.pointer), height, pixelStride, pixelStride)
    }
    withExtendedLifetime(rows) {}
    return sums
  }

  /// Copies a map of the same shape and stride.
  package func copy(_ other: FeatureMap, pool: ThreadPool) {
    requireSameLayout(other)
    pool.run(taskCount: shape.height) { y, _ in
      (pointer + y * rowStride).update(from: other.pointer + y * rowStride, count: rowStride)
    }
  }

  /// Adds a map of the same shape and stride.
  package func add(_ other: FeatureMap, kernels: KernelSet) {
    requireSameLayout(other)
    let count = shape.pixelCount * pixelStride
    kernels.addRows(pointer, UnsafePointer(other.pointer), 1, count, count)
  }

  fileprivate func requireSameLayout(_ other: FeatureMap) {
    precondition(
      shape == other.shape && pixelStride == other.pixelStride,
      "maps of \(shape) with stride \(pixelStride) and \(other.shape) with stride \(other.pixelStride)")
  }
}

extension [Float]? {
  fileprivate func withPointer<Result>(_ body: (UnsafePointer<Float>?) -> Result) -> Result {
    guard let self else { return body(nil) }
    return self.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
