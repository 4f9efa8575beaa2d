import ImagePipeline

/// Windows and OS/2 bitmaps: 1, 4, 8, 16, 24 and 32 bits per pixel, runs of indices, masks, rows in either order.
enum BMPDecoder {
  /// - Parameter largeByteCount: for tests, which have no large images.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits,
    largeByteCount: Int = SquareRows.largeByteCount
  ) throws(ImageError) -> DecodedImage {
    let reader = ByteReader(bytes)
    let header = try BMPHeader(reader)
    let (width, height) = (header.width, header.height)
    try limits.check(width: width, height: height, part: part)
    let largeSize = width * height * 3 >= largeByteCount ? part.networkSize : nil
    let keptCount =
      largeSize.map { SquareRows.byteCount(part, size: $0, storedWidth: width, storedHeight: height) }
      ?? width * height * 3
    if case .runs(let bits) = header.pixels {
      // An index for each pixel, in an array that grows.
      let reservation = try limits.reserve(width * height * 2 + keptCount, for: .bmp)
      var runs = BMPRunLengthReader(bytes, start: header.start, width: width, height: height, bits: bits)
      let indices = try runs.indices()
      return indices.withUnsafeBytes { indices in
        let rows = Rows(header: header, stored: indices, start: 0, stride: width, pixels: .indices(bits: 8))
        return rows.decoded(part, largeSize: largeSize, reservation: reservation)
      }
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
    let reservation = try limits.reserve(keptCount, for: .bmp)
    let rows = Rows(
      header: header, stored: bytes, start: header.start, stride: stride, pixels: header.pixels)
    return rows.decoded(part, largeSize: largeSize, reservation: reservation)
  }

  /// The rows as they are stored, all of which lie within `stored`.
  private struct Rows {
    let header: BMPHeader
    let stored: UnsafeRawBufferPointer
    let start: Int
    let stride: Int
    let pixels: BMPHeader.Pixels

    /// - Parameter largeSize: the side of the network's input where no more than the centre square is to be kept.
    func decoded(_ part: ImagePart, largeSize: Int?, reservation: DecodingReservation) -> DecodedImage {
      let (width, height) = (header.width, header.height)
      guard let size = largeSize else {
        let image = PixelImage(width: width, height: height) { target in
          for y in 0..<height { write(y, to: target + y * width * 3) }
        }
        return DecodedImage(image, reservation: reservation)
      }
      var square = SquareRows(
        part, size: size, storedWidth: width, storedHeight: height, placement: Orientation.upright.placement)
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 3) { row in
        guard let row = row.baseAddress else { preconditionFailure("an image without columns") }
        for y in 0..<height {
          write(y, to: row)
          square.add(row)
        }
      }
      return square.finish(damage: nil, reservation: reservation)
    }

    /// Writes a row from the top as RGB, `[width, 3]`.
    private func write(_ y: Int, to rgb: UnsafeMutablePointer<UInt8>) {
      let (width, height) = (header.width, header.height)
      let row = UnsafeRawBufferPointer(
        rebasing: stored[(start + (header.isTopDown ? y : height - 1 - y) * stride)...])
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
