/// Pillow 13's `resize` of 8-bit RGB, to the bit: antialiased when shrinking, one pass per direction, 22-bit fixed-point
/// weights, and 8 bits between the passes.
enum ImageResizer {
  /// A rectangle of whole pixels inside an image.
  struct Region: Equatable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
  }

  /// One direction of a resize.
  private struct Axis {
    let inputCount: Int
    let outputCount: Int
    /// The outputs that are computed.
    let kept: Range<Int>
    let interpolation: Interpolation

    /// Nil in a direction in which the size stays: that pass is left out.
    var weights: ResamplingWeights? {
      outputCount == inputCount
        ? nil
        : ResamplingWeights(
          inputSize: inputCount, outputSize: outputCount, kept: kept, interpolation: interpolation)
    }

    /// Every input, as it is.
    static func unchanged(_ count: Int) -> Axis {
      Axis(inputCount: count, outputCount: count, kept: 0..<count, interpolation: .bilinear)
    }
  }

  /// Resizes a region of an image, as if it had been cut out before.
  static func resize(
    _ image: PixelImage, region: Region, width: Int, height: Int, interpolation: Interpolation = .bilinear
  ) -> PixelImage {
    let window = Region(left: 0, top: 0, width: width, height: height)
    return unsafe PixelImage(width: width, height: height) { result in
      unsafe resize(image, region, width, height, window, interpolation, result)
    }
  }

  /// Resizes an image and cuts it as a frame says; what the image does not cover has the colour `fill`.
  static func resize(
    _ image: PixelImage, _ frame: Frame, interpolation: Interpolation, fill: [UInt8]
  ) -> PixelImage {
    let (window, size) = (frame.window, frame.size)
    if window.width == size, window.height == size {
      return unsafe PixelImage(width: size, height: size) { result in
        unsafe resize(image, frame.region, frame.width, frame.height, window, interpolation, result)
      }
    }
    let kept = unsafe PixelImage(width: window.width, height: window.height) { result in
      unsafe resize(image, frame.region, frame.width, frame.height, window, interpolation, result)
    }
    let (left, top) = ((size - window.width) / 2, (size - window.height) / 2)
    return unsafe PixelImage(width: size, height: size) { result in
      for index in 0..<size * size * 3 { unsafe result[index] = fill[index % 3] }
      unsafe kept.pixels.withUnsafeBufferPointer { pixels in
        guard let base = pixels.baseAddress else { return }
        for y in 0..<window.height {
          unsafe (result + ((top + y) * size + left) * 3).update(
            from: base + y * window.width * 3, count: window.width * 3)
        }
      }
    }
  }

  private static func resize(
    _ image: PixelImage, _ region: Region, _ width: Int, _ height: Int, _ window: Region,
    _ interpolation: Interpolation, _ result: UnsafeMutablePointer<UInt8>
  ) {
    precondition(
      region.left >= 0 && region.top >= 0 && region.width > 0 && region.height > 0
        && region.left + region.width <= image.width && region.top + region.height <= image.height,
      "\(region) does not lie in an image of \(image.width)x\(image.height)")
    precondition(width > 0 && height > 0, "resize to \(width)x\(height)")
    let across = Axis(
      inputCount: region.width, outputCount: width, kept: window.left..<window.left + window.width,
      interpolation: interpolation)
    let down = Axis(
      inputCount: region.height, outputCount: height, kept: window.top..<window.top + window.height,
      interpolation: interpolation)
    unsafe image.pixels.withUnsafeBufferPointer { pixels in
      guard let base = pixels.baseAddress else { preconditionFailure("an image without pixels") }
      let source = unsafe Rows(
        start: base + (region.top * image.width + region.left) * 3, stride: image.width * 3)
      // Pillow turns the passes round where the height shrinks much more than the width, which changes the rounding.
      if height < region.height, region.height - height > 2 * (region.width - width) {
        let middle = UnsafeMutablePointer<UInt8>.allocate(capacity: region.width * window.height * 3)
        defer { unsafe middle.deallocate() }
        unsafe resizeInOrder(source, across: .unchanged(region.width), down: down, middle)
        unsafe resizeInOrder(
          Rows(start: middle, stride: region.width * 3), across: across, down: .unchanged(window.height),
          result)
      } else {
        unsafe resizeInOrder(source, across: across, down: down, result)
      }
    }
  }

  /// Rows of RGB pixels in memory that someone else owns; `stride` counts bytes from row to row.
  @unsafe private struct Rows {
    var start: UnsafePointer<UInt8>
    var stride: Int

    subscript(y: Int) -> UnsafePointer<UInt8> { unsafe start + y * stride }
  }

  /// Horizontally, then vertically; a direction in which the size stays is left out.
  private static func resizeInOrder(
    _ source: Rows, across: Axis, down: Axis, _ result: UnsafeMutablePointer<UInt8>
  ) {
    let rowBytes = across.kept.count * 3
    let vertical = down.weights
    guard let horizontal = across.weights else {
      let kept = unsafe Rows(start: source.start + across.kept.lowerBound * 3, stride: source.stride)
      for y in down.kept.indices {
        let target = unsafe result + (y - down.kept.lowerBound) * rowBytes
        if let vertical {
          let output = y - down.kept.lowerBound
          unsafe combineRows(
            kept[vertical.starts[output]], stride: kept.stride, count: rowBytes,
            vertical.parts + output * vertical.windowSize, rowCount: vertical.counts[output], target)
        } else {
          unsafe target.update(from: kept[y], count: rowBytes)
        }
      }
      return
    }

    // The rows that the current output needs, already resampled horizontally; they come four at a time.
    let window = UnsafeMutablePointer<UInt8>.allocate(capacity: ((vertical?.windowSize ?? 1) + 3) * rowBytes)
    defer { unsafe window.deallocate() }
    let packed = UnsafeMutablePointer<UInt32>.allocate(capacity: across.inputCount * 3 + 1)
    defer { unsafe packed.deallocate() }
    unsafe packed[across.inputCount * 3] = 0
    let resampled = UnsafeMutablePointer<UInt32>.allocate(capacity: rowBytes + 1)
    defer { unsafe resampled.deallocate() }

    var first = 0
    var end = 0
    for output in 0..<down.kept.count {
      let start = unsafe vertical?.starts[output] ?? down.kept.lowerBound + output
      let count = unsafe vertical?.counts[output] ?? 1
      if start > first {
        let kept = max(end - start, 0)
        unsafe window.update(from: window + (start - first) * rowBytes, count: kept * rowBytes)
        first = start
        end = start + kept
      }
      while end < start + count {
        let last = down.inputCount - 1
        unsafe interleave(
          (source[end], source[min(end + 1, last)], source[min(end + 2, last)], source[min(end + 3, last)]),
          count: across.inputCount * 3, packed)
        unsafe resampleRows(packed, horizontal, resampled)
        unsafe separate(resampled, count: rowBytes, window + (end - first) * rowBytes, stride: rowBytes)
        end += 4
      }
      let target = unsafe result + output * rowBytes
      if let vertical {
        unsafe combineRows(
          window, stride: rowBytes, count: rowBytes, vertical.parts + output * vertical.windowSize,
          rowCount: count, target)
      } else {
        unsafe target.update(from: window, count: rowBytes)
      }
    }
  }
}

extension PixelImage {
  /// The image at another size, by Pillow's `resize(size, BILINEAR)`: antialiased when shrinking.
  ///
  /// - Parameters:
  ///   - width: At least 1.
  ///   - height: At least 1.
  package func resized(width: Int, height: Int) -> PixelImage {
    ImageResizer.resize(
      self, region: ImageResizer.Region(left: 0, top: 0, width: self.width, height: self.height),
      width: width, height: height)
  }
}

extension ImageResizer {
  private typealias Lanes = SIMD4<Int32>

  private static var precisionBits: Int32 { ResamplingWeights.precisionBits }
  private static var half: Int32 { 1 << (precisionBits - 1) }

  /// Packs four rows: byte j of `words[x]` is `rows[j][x]`.
  static func interleave(
    _ rows: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>),
    count: Int,
    _ words: UnsafeMutablePointer<UInt32>
  ) {
    for x in 0..<count {
      unsafe words[x] =
        unsafe UInt32(rows.0[x]) | UInt32(rows.1[x]) << 8 | UInt32(rows.2[x]) << 16 | UInt32(rows.3[x]) << 24
    }
  }

  /// Unpacks what ``interleave(_:count:_:)`` packs, into rows that follow one another `stride` bytes apart.
  static func separate(
    _ words: UnsafePointer<UInt32>, count: Int, _ rows: UnsafeMutablePointer<UInt8>, stride: Int
  ) {
    for row in 0..<4 {
      let target = unsafe rows + row * stride
      let shift = UInt32(row * 8)
      for x in 0..<count { unsafe target[x] = unsafe UInt8(truncatingIfNeeded: words[x] &>> shift) }
    }
  }

  /// Resamples four packed rows of pixels, `[inputs, 3]` words, into packed rows of `weights.outputCount` pixels. Reads and
  /// writes one word more than the rows have.
  ///
  /// A word's four bytes are the same place in four rows and share their weights, so nothing has to be gathered.
  static func resampleRows(
    _ words: UnsafePointer<UInt32>, _ weights: ResamplingWeights, _ result: UnsafeMutablePointer<UInt32>
  ) {
    let source = unsafe UnsafeRawPointer(words)
    let target = UnsafeMutableRawPointer(result)
    for output in 0..<weights.outputCount {
      var sums = Sums()
      unsafe sums.add(
        source + weights.starts[output] * 12, stride: 12, weights.parts + output * weights.windowSize,
        count: weights.counts[output])
      unsafe (target + output * 12).storeBytes(of: sums.bytes, as: SIMD4<UInt32>.self)
    }
  }

  /// Writes one row of `count` bytes as the weighted sum of `rowCount` rows, which lie `stride` bytes apart.
  static func combineRows(
    _ rows: UnsafePointer<UInt8>, stride: Int, count: Int, _ parts: UnsafePointer<ResamplingWeights.Parts>,
    rowCount: Int, _ result: UnsafeMutablePointer<UInt8>
  ) {
    let blockEnd = count - count % 16
    for x in Swift.stride(from: 0, to: blockEnd, by: 16) {
      var sums = Sums()
      unsafe sums.add(UnsafeRawPointer(rows + x), stride: stride, parts, count: rowCount)
      unsafe UnsafeMutableRawPointer(result + x).storeBytes(of: sums.bytes, as: SIMD4<UInt32>.self)
    }
    for x in blockEnd..<count {
      var sum = half
      for index in 0..<rowCount { unsafe sum &+= Int32(rows[x + index * stride]) &* parts[index].whole }
      unsafe result[x] = UInt8(truncatingIfNeeded: min(max(sum >> precisionBits, 0), 255))
    }
  }

  /// Sixteen weighted sums of bytes. Byte j of four words is a lane of accumulator j, so no byte has to be moved.
  private struct Sums {
    private var high = (Lanes(), Lanes(), Lanes(), Lanes())
    private var low = (
      Lanes(repeating: half), Lanes(repeating: half), Lanes(repeating: half), Lanes(repeating: half)
    )

    /// Adds the 16 bytes at `bytes`, at `bytes + stride` and so on, each with its weight.
    @inline(__always)
    mutating func add(
      _ bytes: UnsafeRawPointer, stride: Int, _ parts: UnsafePointer<ResamplingWeights.Parts>, count: Int
    ) {
      var bytes = unsafe bytes
      var parts = unsafe parts
      for _ in 0..<count {
        let words = unsafe bytes.loadUnaligned(as: SIMD4<UInt32>.self)
        let values = (
          Lanes(truncatingIfNeeded: words & 0xFF), Lanes(truncatingIfNeeded: words &>> 8 & 0xFF),
          Lanes(truncatingIfNeeded: words &>> 16 & 0xFF), Lanes(truncatingIfNeeded: words &>> 24)
        )
        let highPart = unsafe Lanes(repeating: Int32(parts.pointee.high))
        let lowPart = unsafe Lanes(repeating: Int32(parts.pointee.low))
        high.0 &+= values.0 &* highPart
        high.1 &+= values.1 &* highPart
        high.2 &+= values.2 &* highPart
        high.3 &+= values.3 &* highPart
        low.0 &+= values.0 &* lowPart
        low.1 &+= values.1 &* lowPart
        low.2 &+= values.2 &* lowPart
        low.3 &+= values.3 &* lowPart
        unsafe bytes += stride
        unsafe parts += 1
      }
    }

    /// The sums, shifted, clipped to 0...255 and packed as they came.
    var bytes: SIMD4<UInt32> {
      @inline(__always) get {
        Self.clipped(high.0, low.0) | Self.clipped(high.1, low.1) &<< 8 | Self.clipped(high.2, low.2) &<< 16
          | Self.clipped(high.3, low.3) &<< 24
      }
    }

    @inline(__always)
    private static func clipped(_ high: Lanes, _ low: Lanes) -> SIMD4<UInt32> {
      let shifted = ((high &<< ResamplingWeights.lowBits) &+ low) &>> precisionBits
      let positive = shifted.replacing(with: 0, where: shifted .< 0)
      return SIMD4<UInt32>(truncatingIfNeeded: positive.replacing(with: 255, where: positive .> 255))
    }
  }
}

/// Which inputs make up each output of a one-dimensional resize, and with what fixed-point weights.
///
/// This is `precompute_coeffs` and `normalize_coeffs_8bpc` of Pillow's Resample.c, operation by operation, because the
/// weights are rounded: another order of the same arithmetic gives other pixels.
@safe final class ResamplingWeights {
  /// The fraction bits of a weight: 1.0 is `1 << 22`.
  static let precisionBits: Int32 = 22

  /// The bits of a weight that ``Parts/low`` holds.
  static let lowBits: Int32 = 11

  /// A weight in two halves: the product of 8 and 16 bits is one instruction on every CPU, that of 32 bits is not.
  struct Parts {
    var high: Int16
    var low: Int16

    init(_ whole: Int32) {
      high = Int16(whole >> ResamplingWeights.lowBits)
      low = Int16(whole & ((1 << ResamplingWeights.lowBits) - 1))
    }

    var whole: Int32 { Int32(high) << ResamplingWeights.lowBits | Int32(low) }
  }

  /// The number of outputs.
  let outputCount: Int

  /// Weights that are stored for one output, from its first input on.
  let windowSize: Int

  /// First input of each output; never decreases.
  let starts: UnsafeMutablePointer<Int>

  /// Number of inputs of each output, 1...windowSize.
  let counts: UnsafeMutablePointer<Int>

  /// `[outputCount, windowSize]`, of which the first `counts` in each row are set.
  let parts: UnsafeMutablePointer<Parts>

  /// - Parameter kept: the outputs that are computed; nil: all.
  init(
    inputSize: Int, outputSize: Int, kept: Range<Int>? = nil, interpolation: Interpolation = .bilinear
  ) {
    let scale = Double(inputSize) / Double(outputSize)
    let filterScale = max(scale, 1)
    let support = interpolation.support * filterScale
    let inverseScale = 1 / filterScale
    let kept = kept ?? 0..<outputSize
    outputCount = kept.count
    windowSize = Int(support.rounded(.up)) * 2 + 1
    unsafe starts = .allocate(capacity: outputCount)
    unsafe counts = .allocate(capacity: outputCount)
    unsafe parts = .allocate(capacity: outputCount * windowSize)
    var window = [Double](repeating: 0, count: windowSize)
    for (output, place) in kept.enumerated() {
      let center = (Double(place) + 0.5) * scale
      let start = max(Int(center - support + 0.5), 0)
      let count = min(Int(center + support + 0.5), inputSize) - start
      var sum = 0.0
      for index in 0..<count {
        let weight = interpolation.weight(at: (Double(index + start) - center + 0.5) * inverseScale)
        window[index] = weight
        sum += weight
      }
      unsafe starts[output] = start
      unsafe counts[output] = count
      for index in 0..<count {
        let scaled = window[index] / sum * Double(1 << Self.precisionBits)
        unsafe parts[output * windowSize + index] = Parts(Int32(scaled < 0 ? scaled - 0.5 : scaled + 0.5))
      }
    }
  }

  deinit {
    unsafe starts.deallocate()
    unsafe counts.deallocate()
    unsafe parts.deallocate()
  }
}
