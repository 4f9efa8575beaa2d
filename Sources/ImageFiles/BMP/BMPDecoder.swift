import ImagePipeline

/// Windows and OS/2 bitmaps: 1, 4, 8, 16, 24 and 32 bits per pixel, runs of indices, masks, rows in either order.
enum BMPDecoder {
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(ImageError) -> DecodedImage {
    let reader = ByteReader(bytes)
    let header = try BMPHeader(reader)
    let (width, height) = (header.width, header.height)
    try limits.check(width: width, height: height, part: part)
    if case .runs(let bits) = header.pixels {
      let reservation = try limits.reserve(width * height * 5, for: .bmp)
      var runs = BMPRunLengthReader(bytes, start: header.start, width: width, height: height, bits: bits)
      let indices = try runs.indices()
      let image = indices.withUnsafeBytes { indices in
        Self.image(header, indices, start: 0, stride: width, storedAs: .indices(bits: 8))
      }
      return DecodedImage(image, reservation: reservation)
    }
    let bits =
      switch header.pixels {
      case .indices(let bits), .runs(let bits): bits
      case .words: 16
      case .bytes(let count, _, _, _): count * 8
      }
    let stride = header.stride(bits: bits)
    // The last row need not be filled up.
    let needed = stride * (height - 1) + (width * bits + 7) / 8
    guard reader.bytes(at: header.start, count: needed) != nil else {
      let available = max(0, bytes.count - header.start)
      throw .truncated(.bmp, reason: "\(available) bytes of pixels where \(needed) are needed")
    }
    let reservation = try limits.reserve(width * height * 3, for: .bmp)
    return DecodedImage(
      image(header, bytes, start: header.start, stride: stride, storedAs: header.pixels),
      reservation: reservation)
  }

  /// - Parameter stored: every row lies within it.
  private static func image(
    _ header: BMPHeader, _ stored: UnsafeRawBufferPointer, start: Int, stride: Int,
    storedAs pixels: BMPHeader.Pixels
  ) -> PixelImage {
    let (width, height) = (header.width, header.height)
    return PixelImage(width: width, height: height) { target in
      for y in 0..<height {
        let row = UnsafeRawBufferPointer(
          rebasing: stored[(start + (header.isTopDown ? y : height - 1 - y) * stride)...])
        let rgb = target + y * width * 3
        switch pixels {
        case .indices(let bits), .runs(let bits):
          let mask = 1 << bits - 1
          for x in 0..<width {
            let index = Int(row[x * bits / 8]) >> (8 - bits - x * bits % 8) & mask
            for channel in 0..<3 { rgb[x * 3 + channel] = header.palette[index * 3 + channel] }
          }
        case .words(let greenBits):
          for x in 0..<width {
            let word = Int(row[x * 2]) | Int(row[x * 2 + 1]) << 8
            let green = 1 << greenBits - 1
            rgb[x * 3] = UInt8((word >> (5 + greenBits) & 31) * 255 / 31)
            rgb[x * 3 + 1] = UInt8((word >> 5 & green) * 255 / green)
            rgb[x * 3 + 2] = UInt8((word & 31) * 255 / 31)
          }
        case .bytes(let count, let red, let green, let blue):
          for x in 0..<width {
            rgb[x * 3] = row[x * count + red]
            rgb[x * 3 + 1] = row[x * count + green]
            rgb[x * 3 + 2] = row[x * count + blue]
          }
        }
      }
    }
  }
}
