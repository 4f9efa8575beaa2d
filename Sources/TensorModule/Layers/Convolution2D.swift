package import KernelInterface
package import SystemModule

/// A convolution over all channels: a product of what lies under each window with the packed weight.
///
/// Each task takes some output pixels, as many as stay in the second-level cache with what it reads for them.
package struct Convolution2D: Sendable {
  /// The way the rows of the product are read, or what takes the product's place. The first three give the same bits.
  package enum Algorithm: Sendable, CaseIterable {
    /// The pixels where they lie; for a window of one tap and stride 1.
    case pixels
    /// The pixels under each window are copied side by side.
    case windows
    /// For few channels: the input rows under a row of outputs are copied with the zeros beside them, and the windows are
    /// pieces of those copies.
    case rows
    /// For a window of 3x3 and stride 1: four ninths of the products, for sums that are rounded elsewhere. See
    /// ``WinogradProduct``.
    case winograd

    /// The fastest one.
    ///
    /// - Parameter output: The shape from a convolution in groups, whose transforms small maps do not pay for.
    package static func best(
      for window: Window, isImage: Bool = false, inGroups output: FeatureShape? = nil
    ) -> Algorithm {
      if isImage { return .rows }
      if let output, WinogradProduct.tileCount(output) < 32 { return .windows }
      if window.stride > 1 { return .windows }
      return window.kernelSize == 1 ? .pixels : window.kernelSize == 3 ? .winograd : .windows
    }

    /// The multiply-adds for an output of each pair of channels.
    package func productCount(_ output: FeatureShape, _ window: Window) -> Int {
      self == .winograd
        ? WinogradProduct.tileCount(output) * 16 : output.pixelCount * window.kernelSize * window.kernelSize
    }
  }

  private enum Product: Sendable {
    /// `[kernelSize, kernelSize, input channels] x [output channels]`, packed.
    case matrix(PackedMatrix)
    case winograd(WinogradProduct)
  }

  private let product: Product
  package let inputChannels: Int
  package let outputChannels: Int
  package let window: Window
  /// Applied to each output.
  package let activation: Activation
  package let algorithm: Algorithm
  package let kernels: KernelSet

  /// - Parameters:
  ///   - weight: `OIHW`: `[outputChannels, inputChannels, kernelSize, kernelSize]`.
  ///   - bias: `[outputChannels]`.
  package init(
    weight: [Float], bias: [Float], inputChannels: Int, window: Window, activation: Activation,
    algorithm: Algorithm, kernels: KernelSet
  ) {
    let product: Product
    if algorithm == .winograd {
      precondition(window.kernelSize == 3 && window.stride == 1, "\(window) does not fit Winograd's products")
      product = .winograd(
        WinogradProduct(weight: weight, bias: bias, inputChannels: inputChannels, kernels: kernels))
    } else {
      product = .matrix(
        PackedMatrix(
          convolutionWeight: weight, bias: bias, inputChannels: inputChannels, kernelSize: window.kernelSize,
          kernels: kernels))
    }
    self.init(product, inputChannels, bias.count, window, activation, algorithm, kernels)
  }

  /// - Parameter matrix: `[kernelSize, kernelSize, inputChannels] x [outputChannels]`, packed; not of floats only where the
  ///   pixels are read where they lie.
  package init(
    matrix: PackedMatrix, window: Window = .pixel, activation: Activation, algorithm: Algorithm = .pixels
  ) {
    let taps = window.kernelSize * window.kernelSize
    precondition(
      matrix.depth.isMultiple(of: taps) && (algorithm == .pixels || matrix.type == .float32),
      "a matrix of \(matrix.type) and depth \(matrix.depth) under \(window), read by \(algorithm)")
    self.init(
      .matrix(matrix), matrix.depth / taps, matrix.columnCount, window, activation, algorithm, matrix.kernels)
  }

  private init(
    _ product: Product, _ inputChannels: Int, _ outputChannels: Int, _ window: Window,
    _ activation: Activation, _ algorithm: Algorithm, _ kernels: KernelSet
  ) {
    precondition(
      algorithm != .pixels || (window.kernelSize == 1 && window.stride == 1),
      "\(window) does not read the pixels where they lie")
    self.product = product
    self.inputChannels = inputChannels
    self.outputChannels = outputChannels
    self.window = window
    self.activation = activation
    self.algorithm = algorithm
    self.kernels = kernels
  }

  /// `[kernelSize, kernelSize, input channels] x [output channels]`, packed. Winograd's products have more than one.
  package var matrix: PackedMatrix {
    guard case .matrix(let matrix) = product else { preconditionFailure("Winograd's products as one matrix") }
    return matrix
  }

  /// The layer with the same weights as Float32.
  package var floats: Convolution2D {
    guard case .matrix(let matrix) = product else { return self }
    return Convolution2D(matrix: matrix.floats, window: window, activation: activation, algorithm: algorithm)
  }

  /// The weight, `[kernelSize, kernelSize, inputChannels, outputChannels]`; that of Winograd's products but for rounding.
  func unpackedWeight() -> [Float] {
    switch product {
    case .matrix(let matrix): matrix.unpacked()
    case .winograd(let product): product.unpacked()
    }
  }

  package func outputShape(_ input: FeatureShape) -> FeatureShape {
    window.outputShape(input, channels: outputChannels)
  }

  func requireShapes(_ input: FeatureShape, _ output: FeatureShape) {
    precondition(
      input.channels == inputChannels && output == outputShape(input),
      "convolution \(window) of \(inputChannels) to \(outputChannels) channels from \(input) to \(output)")
  }

  /// Floats of scratch memory.
  ///
  /// - Parameter isGated: True if it is called with a gate.
  package func scratchCount(_ input: FeatureShape, isGated: Bool = false, pool: ThreadPool) -> Int {
    let output = outputShape(input)
    switch product {
    case .winograd(let product): return product.scratchCount(output)
    case .matrix(let matrix):
      if isGated, scalesMatrix(matrix, output) { return matrix.panelFloatCount }
      return [1, pool.threadCount].map { threadCount in
        let grid = grid(matrix, output, threadCount)
        return readsFirst(grid, threadCount)
          ? output.pixelCount * readStride(matrix) : taskScratchCount(matrix, grid)
      }.max() ?? 0
    }
  }

  /// Floats that a task writes its rows of the product to.
  private func taskScratchCount(_ matrix: PackedMatrix, _ grid: ProductGrid) -> Int {
    algorithm == .rows
      ? window.kernelSize * rowLength(outputWidth: grid.rowsPerBlock)
      : grid.rowsPerBlock * readStride(matrix)
  }

  private func grid(_ matrix: PackedMatrix, _ output: FeatureShape, _ threadCount: Int) -> ProductGrid {
    algorithm == .rows
      ? ProductGrid(rowCount: output.pixelCount, rowsPerBlock: output.width)
      : ProductGrid(rowCount: output.pixelCount, matrix: matrix, threadCount: threadCount)
  }

  /// Words that are written for a row of the product; 0 where it is read where it lies.
  private func readStride(_ matrix: PackedMatrix) -> Int {
    algorithm == .pixels && matrix.type == .float32 ? 0 : matrix.rowWordCount
  }

  /// True if there are so few blocks that all rows are read before the product: the blocks can then be cut by columns.
  private func readsFirst(_ grid: ProductGrid, _ threadCount: Int) -> Bool {
    algorithm != .rows && threadCount > 1 && grid.blockCount < 2 * threadCount
  }

  /// True if a gate multiplies the matrix and not the input. Scaling the smaller of the two is the same product for less work.
  private func scalesMatrix(_ matrix: PackedMatrix, _ output: FeatureShape) -> Bool {
    matrix.type == .float32 && matrix.columnCount <= output.pixelCount
  }

  /// Computes the output.
  ///
  /// - Parameters:
  ///   - gate: Multiplies each input channel, or nil: squeeze-excite, folded into the product. As long as the input's
  ///     padded channels; only where the pixels are read where they lie. Where there are fewer pixels than output
  ///     channels, a product of floats overwrites the input by what it gates.
  ///   - residual: Added before the activation, or nil; the output's shape and stride.
  ///   - activation: In the place of the layer's own.
  ///   - activated: The output after the layer's own activation, or nil; the output's shape and stride.
  ///   - scratch: ``scratchCount(_:isGated:pool:)`` floats.
  package func callAsFunction(
    _ input: FeatureMap, gate: UnsafePointer<Float>? = nil, residual: FeatureMap? = nil,
    activation: Activation? = nil, activated: FeatureMap? = nil, into output: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    requireShapes(input.shape, output.shape)
    precondition(gate == nil || algorithm == .pixels, "a gate before a convolution read by \(algorithm)")
    let activation = activation ?? self.activation
    let matrix: PackedMatrix
    switch product {
    case .matrix(let packed): matrix = packed
    case .winograd(let product):
      let zeros = window.resolve(height: input.shape.height, width: input.shape.width)
      product(
        input, top: zeros.top, left: zeros.left, residual: residual, activation: activation, into: output,
        scratch: scratch, pool: pool)
      activated?.activate(self.activation, of: output, kernels: kernels, pool: pool)
      return
    }
    activated?.requireSameLayout(output)
    let scalesMatrix = gate != nil && scalesMatrix(matrix, output.shape)
    if let gate, scalesMatrix { matrix.writePanels(scaledBy: gate, to: scratch, pool: pool) }
    let inputGate = scalesMatrix ? nil : gate
    let readsRows = algorithm == .rows
    let rowLength = readsRows ? rowLength(outputWidth: output.shape.width) : 0
    func read(_ pixels: Range<Int>, _ scratch: UnsafeMutablePointer<Float>) -> (UnsafeRawPointer, Int) {
      switch algorithm {
      case .windows:
        gather(pixels, of: output.shape, from: input, into: scratch)
        return (UnsafeRawPointer(scratch), matrix.depth)
      case .rows:
        copyRows(input, y: pixels.lowerBound / output.shape.width, rowLength: rowLength, into: scratch)
        return (UnsafeRawPointer(scratch), window.stride * inputChannels)
      case .pixels, .winograd:
        return self.read(pixels, of: input, gate: inputGate, matrix, scratch: scratch)
      }
    }
    let threadCount = pool.sharerCount
    let grid = grid(matrix, output.shape, threadCount)
    let readStride = readStride(matrix)
    let isRead = readStride == 0 && inputGate == nil
    let readsFirst = !isRead && activated == nil && readsFirst(grid, threadCount)
    if readsFirst {
      let pieces = ProductGrid(
        rowCount: grid.rowCount, rowsPerBlock: (grid.rowCount + 2 * threadCount - 1) / (2 * threadCount))
      pool.run(taskCount: pieces.blockCount) { piece, _ in
        let pixels = pieces.rows(ofBlock: piece)
        _ = read(pixels, scratch + pixels.lowerBound * readStride)
      }
    }
    matrix.multiply(
      grid, cutsColumns: readsFirst || isRead && activated == nil,
      segmentCount: readsRows ? window.kernelSize : 1, segmentStride: rowLength, activation: activation,
      residual: residual, scaledPanels: scalesMatrix ? UnsafePointer(scratch) : nil, into: output,
      scratch: scratch, scratchCount: readsFirst ? 0 : taskScratchCount(matrix, grid), pool: pool
    ) { pixels, taskScratch in
      if !readsFirst { return read(pixels, taskScratch) }
      return readStride == 0
        ? (UnsafeRawPointer(input.pointer + pixels.lowerBound * input.pixelStride), input.pixelStride)
        : (UnsafeRawPointer(scratch + pixels.lowerBound * readStride), readStride)
    } finish: { pixels, first in
      guard let activated else { return }
      let count = pixels.count * output.pixelStride
      let target = activated.pointer + pixels.lowerBound * output.pixelStride
      target.update(from: first, count: count)
      kernels.activate(ActivationPass(values: target, count: count, activation: self.activation))
    }
  }

  /// Computes the output from the words that the matrix multiplies.
  ///
  /// - Parameter residual: Added before the activation, or nil; the output's shape and stride.
  package func callAsFunction(
    _ input: PackedMap, residual: FeatureMap? = nil, into output: FeatureMap,
    scratch: UnsafeMutablePointer<Float>, pool: ThreadPool
  ) {
    requireShapes(input.shape, output.shape)
    matrix.multiply(
      grid(matrix, output.shape, pool.sharerCount), cutsColumns: true, activation: activation,
      residual: residual, into: output, scratch: scratch, scratchCount: 0, pool: pool
    ) { pixels, _ in
      (UnsafeRawPointer(input.words + pixels.lowerBound * input.pixelStride), input.pixelStride)
    }
  }

  /// Some pixels where they lie, times the gate, or the words that the matrix multiplies.
  private func read(
    _ pixels: Range<Int>, of input: FeatureMap, gate: UnsafePointer<Float>?, _ matrix: PackedMatrix,
    scratch: UnsafeMutablePointer<Float>
  ) -> (UnsafeRawPointer, Int) {
    let first = input.pointer + pixels.lowerBound * input.pixelStride
    if matrix.type != .float32 {
      let block = FeatureShape(height: pixels.count, width: 1, channels: inputChannels)
      let words = PackedMap(scratch, block, matrix.type, kernels: kernels)
      let quantizer = matrix.quantized?.input
      words.write(
        pixel: 0, count: pixels.count, channels: 0..<inputChannels, values: first,
        valueStride: input.pixelStride, factors: quantizer.map { UnsafePointer($0.factors.pointer) } ?? gate,
        zeroPoint: quantizer?.levels.zeroPoint ?? 0)
      return (UnsafeRawPointer(words.words), words.pixelStride)
    }
    if let gate {
      kernels.scaleColumns(
        ColumnScaling(
          matrix: first, rowCount: pixels.count,
          columnCount: kernels.padded(inputChannels),
          rowStride: input.pixelStride, factors: gate))
    }
    return (UnsafeRawPointer(first), input.pixelStride)
  }

  /// Floats of a row that ``Algorithm/rows`` copies.
  private func rowLength(outputWidth: Int) -> Int {
    ((outputWidth - 1) * window.stride + window.kernelSize) * inputChannels
  }

  /// Writes what lies under the windows of some output pixels, zeros outside the input:
  /// `[pixels, kernelSize, kernelSize, input channels]`.
  private func gather(
    _ pixels: Range<Int>, of output: FeatureShape, from input: FeatureMap,
    into target: UnsafeMutablePointer<Float>
  ) {
    let (height, width, size) = (input.shape.height, input.shape.width, window.kernelSize)
    let resolved = window.resolve(height: height, width: width)
    let isDense = input.pixelStride == inputChannels
    let rowLength = size * inputChannels
    var target = target
    for pixel in pixels {
      let (y, x) = pixel.quotientAndRemainder(dividingBy: output.width)
      let top = y * window.stride - resolved.top
      let left = x * window.stride - resolved.left
      let columns = max(left, 0)..<max(min(left + size, width), max(left, 0))
      for row in top..<top + size {
        guard row >= 0, row < height else {
          target.update(repeating: 0, count: rowLength)
          target += rowLength
          continue
        }
        if columns.count < size { target.update(repeating: 0, count: rowLength) }
        let source = input.pointer + (row * width + columns.lowerBound) * input.pixelStride
        let start = target + (columns.lowerBound - left) * inputChannels
        if isDense {
          start.update(from: source, count: columns.count * inputChannels)
        } else {
          for i in 0..<columns.count {
            (start + i * inputChannels).update(from: source + i * input.pixelStride, count: inputChannels)
          }
        }
        target += rowLength
      }
    }
  }

  /// Writes the input rows under output row `y`, zeros where they leave the input.
  private func copyRows(
    _ input: FeatureMap, y: Int, rowLength: Int, into target: UnsafeMutablePointer<Float>
  ) {
    let resolved = window.resolve(height: input.shape.height, width: input.shape.width)
    let pixelCount = rowLength / inputChannels
    let first = -resolved.left
    let inside = max(first, 0)..<max(min(first + pixelCount, input.shape.width), max(first, 0))
    for ky in 0..<window.kernelSize {
      let copy = target + ky * rowLength
      let row = y * window.stride - resolved.top + ky
      guard (0..<input.shape.height).contains(row), !inside.isEmpty else {
        copy.update(repeating: 0, count: rowLength)
        continue
      }
      copy.update(repeating: 0, count: (inside.lowerBound - first) * inputChannels)
      let source = input.pointer + row * input.shape.width * input.pixelStride
      let start = copy + (inside.lowerBound - first) * inputChannels
      if input.pixelStride == inputChannels {
        start.update(from: source + inside.lowerBound * inputChannels, count: inside.count * inputChannels)
      } else {
        for (i, pixel) in inside.enumerated() {
          (start + i * inputChannels).update(from: source + pixel * input.pixelStride, count: inputChannels)
        }
      }
      (start + inside.count * inputChannels).update(
        repeating: 0, count: (first + pixelCount - inside.upperBound) * inputChannels)
    }
  }
}

extension PackedMatrix {
  /// Packs a convolution's weight, `OIHW`, as `[kernelSize, kernelSize, inputChannels] x [outputChannels]`.
  init(
    convolutionWeight weight: [Float], bias: [Float], inputChannels: Int, kernelSize: Int, kernels: KernelSet
  ) {
    let taps = kernelSize * kernelSize
    precondition(
      weight.count == bias.count * inputChannels * taps,
      "\(weight.count) weights for [\(bias.count), \(inputChannels), \(kernelSize), \(kernelSize)]")
    self.init(columnCount: bias.count, depth: taps * inputChannels, bias: bias, kernels: kernels) {
      column, start, target in
      weight.withUnsafeBufferPointer { weight in
        for i in target.indices {
          let (tap, channel) = (start + i).quotientAndRemainder(dividingBy: inputChannels)
          target[i] = weight[(column * inputChannels + channel) * taps + tap]
        }
      }
    }
  }
}
