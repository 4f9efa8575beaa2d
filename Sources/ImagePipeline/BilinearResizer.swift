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
      // Pillow turns the passes round for very tall images, which saves memory and changes the rounding.
      let verticalFirst = region.height > region.width * 100 && height < region.height
      if verticalFirst {
        return PixelImage(width: width, height: height) { result in
          twoPasses(
            source, middleWidth: region.width, middleHeight: height, width: width, height: height, result)
        }
      }
      return PixelImage(width: width, height: height) { result in
        twoPasses(
          source, middleWidth: width, middleHeight: region.height, width: width, height: height, result)
      }
    }
  }

  /// Rows of RGB pixels in memory that someone else owns; `stride` counts bytes from row to row.
  struct Rows {
    var start: UnsafePointer<UInt8>
    var stride: Int
    var width: Int
    var height: Int
  }

  private static func twoPasses(
    _ source: Rows, middleWidth: Int, middleHeight: Int, width: Int, height: Int,
    _ result: UnsafeMutablePointer<UInt8>
  ) {
    if (middleWidth, middleHeight) == (width, height)
      || (middleWidth, middleHeight) == (source.width, source.height)
    {
      onePass(source, width: width, height: height, result)
      return
    }
    let middle = UnsafeMutablePointer<UInt8>.allocate(capacity: middleWidth * middleHeight * 3)
    defer { middle.deallocate() }
    onePass(source, width: middleWidth, height: middleHeight, middle)
    let rows = Rows(start: middle, stride: middleWidth * 3, width: middleWidth, height: middleHeight)
    onePass(rows, width: width, height: height, result)
  }

  /// Changes at most one of the two sides.
  private static func onePass(_ source: Rows, width: Int, height: Int, _ result: UnsafeMutablePointer<UInt8>)
  {
    if width != source.width {
      horizontal(source, ResamplingWeights(inputSize: source.width, outputSize: width), result)
    } else if height != source.height {
      vertical(source, ResamplingWeights(inputSize: source.height, outputSize: height), result)
    } else {
      for y in 0..<height {
        (result + y * width * 3).update(from: source.start + y * source.stride, count: width * 3)
      }
    }
  }
}
