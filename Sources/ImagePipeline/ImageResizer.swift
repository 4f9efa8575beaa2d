/// Pillow 13's `resize` of 8-bit RGB, to the bit: antialiased when shrinking, one pass per direction, 22-bit fixed-point
/// weights, and 8 bits between the passes.
enum ImageResizer {
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
    return resize(image, region, width, height, window, interpolation)
  }

  /// Resizes an image and cuts it as a frame says; what the image does not cover has the colour `fill`.
  static func resize(
    _ image: PixelImage, _ frame: Frame, interpolation: Interpolation, fill: [UInt8]
  ) -> PixelImage {
    let size = frame.size
    let kept = resize(image, frame.region, frame.width, frame.height, frame.window, interpolation)
    if kept.width == size, kept.height == size { return kept }
    let (left, top) = ((size - kept.width) / 2, (size - kept.height) / 2)
    return unsafe PixelImage(width: size, height: size) { result in
      for index in 0..<size * size * 3 { unsafe result[index] = fill[index % 3] }
      unsafe kept.pixels.withUnsafeBufferPointer { pixels in
        guard let base = pixels.baseAddress else { return }
        for y in 0..<kept.height {
          unsafe (result + ((top + y) * size + left) * 3).update(
            from: base + y * kept.width * 3, count: kept.width * 3)
        }
      }
    }
  }

  private static func resize(
    _ image: PixelImage, _ region: Region, _ width: Int, _ height: Int, _ window: Region,
    _ interpolation: Interpolation
  ) -> PixelImage {
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
    return unsafe image.pixels.withUnsafeBufferPointer { pixels in
      guard let base = pixels.baseAddress else { preconditionFailure("an image without pixels") }
      let source = unsafe Rows(
        start: base + (region.top * image.width + region.left) * 3, stride: image.width * 3)
      return unsafe PixelImage(width: window.width, height: window.height) { result in
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
          unsafe vertical.combineRows(
            kept[vertical.starts[output]], stride: kept.stride, count: rowBytes, output: output, target)
        } else {
          unsafe target.update(from: kept[y], count: rowBytes)
        }
      }
      return
    }

    // The rows that the current output needs, already resampled horizontally; they come four at a time. A byte follows each row.
    let (count, stride) = (across.inputCount * 3, rowBytes + 1)
    let window = UnsafeMutablePointer<UInt8>.allocate(capacity: ((vertical?.windowSize ?? 1) + 3) * stride)
    defer { unsafe window.deallocate() }
    let words = ResamplingWords(count: count)

    var first = 0
    var end = 0
    for output in 0..<down.kept.count {
      let start = unsafe vertical?.starts[output] ?? down.kept.lowerBound + output
      let inputs = unsafe vertical?.counts[output] ?? 1
      if start > first {
        let kept = max(end - start, 0)
        unsafe window.update(from: window + (start - first) * stride, count: kept * stride)
        first = start
        end = start + kept
      }
      while end < start + inputs {
        for row in 0..<4 {
          unsafe words.set(row, source[min(end + row, down.inputCount - 1)], for: horizontal)
        }
        unsafe words.resample(horizontal, window + (end - first) * stride, stride: stride)
        end += 4
      }
      let target = unsafe result + output * rowBytes
      if let vertical {
        unsafe vertical.combineRows(window, stride: stride, count: rowBytes, output: output, target)
      } else {
        unsafe target.update(from: window, count: rowBytes)
      }
    }
  }
}

extension PixelImage {
  /// The image at another size, by Pillow's `resize(size, BILINEAR)`: antialiased when shrinking.
  package func resized(width: Int, height: Int) -> PixelImage {
    ImageResizer.resize(
      self, region: ImageResizer.Region(left: 0, top: 0, width: self.width, height: self.height),
      width: width, height: height)
  }
}
