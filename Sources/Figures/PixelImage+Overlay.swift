import ImagePipeline

extension PixelImage {
  /// Colours laid over the image: `(1 - alpha) * image + alpha * colour`.
  ///
  /// - Parameters:
  ///   - values: `[height, width]`, 0...1.
  ///   - alpha: 0 (image only) ... 1 (colours only).
  package func overlaid(with values: [Float], colorMap: ColorMap, alpha: Double) -> PixelImage {
    precondition(values.count == width * height, "\(values.count) values over \(width)x\(height)")
    let colors = colorMap.table
    let share = Int((alpha * 256).rounded())
    let blended = unsafe [UInt8](unsafeUninitializedCapacity: pixels.count) { target, count in
      unsafe pixels.withUnsafeBufferPointer { photograph in
        unsafe colors.withUnsafeBufferPointer { colors in
          for pixel in values.indices {
            let color = min(Int(values[pixel] * 256), 255) * 3
            for channel in 0..<3 {
              let place = pixel * 3 + channel
              let sum =
                unsafe Int(photograph[place]) * (256 - share) + Int(colors[color + channel]) * share + 128
              unsafe target[place] = UInt8(sum >> 8)
            }
          }
        }
      }
      count = pixels.count
    }
    return PixelImage(width: width, height: height, pixels: blended)
  }
}
