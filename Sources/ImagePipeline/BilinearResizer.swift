/// Pillow's `resize(size, BILINEAR)` of 8-bit RGB, to the bit: antialiased when shrinking, one pass per direction,
/// 22-bit fixed-point weights, and 8 bits between the passes.
enum BilinearResizer {
  /// A rectangle of whole pixels inside an image.
  struct Region: Equatable {
    var left: Int
    var top: Int
    var width: Int
    var height: Int
  }

  /// Resizes a region of an image, as if it had been cut out before.
  static func resize(_ image: PixelImage, region: Region, width: Int, height: Int) -> PixelImage {
    precondition(
      region.left >= 0 && region.top >= 0 && region.width > 0 && region.height > 0
        && region.left + region.width <= image.width && region.top + region.height <= image.height,
      "\(region) does not lie in an image of \(image.width)x\(image.height)")
    precondition(width > 0 && height > 0, "resize to \(width)x\(height)")
    return image.pixels.withUnsafeBufferPointer { pixels in
      guard let base = pixels.baseAddress else { preconditionFailure("an image without pixels") }
      let source = Rows(
        start: base + (region.top * image.width + region.left) * 3, stride: image.width * 3,
        width: region.width,
        height: region.height)
      return PixelImage(width: width, height: height) { result in
        // Pillow turns the passes round for very tall images, which changes the rounding.
        if source.height > source.width * 100, height < source.height {
          let middle = UnsafeMutablePointer<UInt8>.allocate(capacity: source.width * height * 3)
          defer { middle.deallocate() }
          resizeInOrder(source, width: source.width, height: height, middle)
          let narrow = Rows(start: middle, stride: source.width * 3, width: source.width, height: height)
          resizeInOrder(narrow, width: width, height: height, result)
        } else {
          resizeInOrder(source, width: width, height: height, result)
        }
      }
    }
  }

  /// Rows of RGB pixels in memory that someone else owns; `stride` counts bytes from row to row.
  private struct Rows {
    var start: UnsafePointer<UInt8>
    var stride: Int
    var width: Int
    var height: Int

    subscript(y: Int) -> UnsafePointer<UInt8> { start + y * stride }
  }

  /// Horizontally, then vertically; a direction in which the size stays is left out.
  private static func resizeInOrder(
    _ source: Rows, width: Int, height: Int, _ result: UnsafeMutablePointer<UInt8>
  ) {
    let rowBytes = width * 3
    let vertical =
      height == source.height ? nil : ResamplingWeights(inputSize: source.height, outputSize: height)
    guard width != source.width else {
      for y in 0..<height {
        let target = result + y * rowBytes
        if let vertical {
          combineRows(
            source[vertical.starts[y]], stride: source.stride, count: rowBytes,
            vertical.parts + y * vertical.windowSize,
            rowCount: vertical.counts[y], target)
        } else {
          target.update(from: source[y], count: rowBytes)
        }
      }
      return
    }

    let horizontal = ResamplingWeights(inputSize: source.width, outputSize: width)
    // The rows that the current output needs, already resampled horizontally; they come four at a time.
    let window = UnsafeMutablePointer<UInt8>.allocate(capacity: ((vertical?.windowSize ?? 1) + 3) * rowBytes)
    defer { window.deallocate() }
    let packed = UnsafeMutablePointer<UInt32>.allocate(capacity: source.width * 3 + 1)
    defer { packed.deallocate() }
    packed[source.width * 3] = 0
    let resampled = UnsafeMutablePointer<UInt32>.allocate(capacity: rowBytes + 1)
    defer { resampled.deallocate() }

    var first = 0
    var end = 0
    for y in 0..<height {
      let start = vertical?.starts[y] ?? y
      let count = vertical?.counts[y] ?? 1
      if start > first {
        let kept = max(end - start, 0)
        window.update(from: window + (start - first) * rowBytes, count: kept * rowBytes)
        first = start
        end = start + kept
      }
      while end < start + count {
        let last = source.height - 1
        interleave(
          (source[end], source[min(end + 1, last)], source[min(end + 2, last)], source[min(end + 3, last)]),
          count: source.width * 3, packed)
        resampleRows(packed, horizontal, resampled)
        separate(resampled, count: rowBytes, window + (end - first) * rowBytes, stride: rowBytes)
        end += 4
      }
      if let vertical {
        combineRows(
          window, stride: rowBytes, count: rowBytes, vertical.parts + y * vertical.windowSize,
          rowCount: count,
          result + y * rowBytes)
      } else {
        (result + y * rowBytes).update(from: window, count: rowBytes)
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
    BilinearResizer.resize(
      self, region: BilinearResizer.Region(left: 0, top: 0, width: self.width, height: self.height),
      width: width, height: height)
  }
}
