import ImagePipeline
import SystemModule

/// Windows and OS/2 bitmaps: 1, 4, 8, 16, 24 and 32 bits per pixel, runs of indices, masks, rows in either order.
enum BMPDecoder {
  /// - Parameter largeByteCount: for tests, which have no large images.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits,
    largeByteCount: Int = SquareRows.largeByteCount
  ) throws(DermaFusionError) -> DecodedImage {
    let reader = ByteReader(bytes)
    let header = try BMPHeader(reader)
    let (width, height) = (header.width, header.height)
    try limits.check(width: width, height: height, part: part)
    let rows = try Rows(header, reader)
    let orientation = header.isTopDown ? Orientation.upright : .mirroredVertically
    if let plan = SquareRows.Plan(
      part, storedWidth: width, storedHeight: height, placement: orientation.placement,
      largeByteCount: largeByteCount)
    {
      let reservation = try limits.reserve(plan.byteCount + rows.waitingByteCount, for: .bmp)
      var square = SquareRows(plan)
      try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 3) {
        (rgb) throws(DermaFusionError) in
        guard let rgb = rgb.baseAddress else { preconditionFailure("an image without columns") }
        try rows.read { row, index in
          rows.convert(row, to: rgb)
          square.add(rgb, at: index)
        }
      }
      return square.finish(damage: nil, reservation: reservation)
    }
    let reservation = try limits.reserve(width * height * 3 + rows.waitingByteCount, for: .bmp)
    let image = try PixelImage(width: width, height: height) { (pixels) throws(DermaFusionError) in
      try rows.read { row, index in
        let y = header.isTopDown ? index : height - 1 - index
        rows.convert(row, to: pixels + y * width * 3)
      }
    }
    return DecodedImage(image, reservation: reservation)
  }

  /// The rows in the order in which they are stored.
  private struct Rows {
    let header: BMPHeader
    let bytes: UnsafeRawBufferPointer
    let stride: Int

    init(_ header: BMPHeader, _ reader: ByteReader) throws(DermaFusionError) {
      self.header = header
      bytes = reader.bytes
      let bits: Int
      switch header.pixels {
      case .runs:
        stride = 0
        return
      case .indices(let count): bits = count
      case .words: bits = 16
      case .bytes(let count, _, _, _): bits = count * 8
      }
      stride = header.stride(bits: bits)
      // The last row need not be filled up.
      let needed = stride * (header.height - 1) + (header.width * bits + 7) / 8
      guard reader.bytes(at: header.start, count: needed) != nil else {
        let available = max(0, bytes.count - header.start)
        throw .truncated(.bmp, reason: "\(available) bytes of pixels where \(needed) are needed")
      }
    }

    /// Bytes of a run that is longer than its row, in an array that doubles: the longest passes over 255 rows.
    var waitingByteCount: Int {
      if case .runs = header.pixels { header.width * 512 } else { 0 }
    }

    /// Hands over each row as it is stored, one of runs as an index of 8 bits for each pixel, and its number.
    func read(_ body: (UnsafeRawBufferPointer, _ index: Int) -> Void) throws(DermaFusionError) {
      if case .runs(let bits) = header.pixels {
        var runs = BMPRunLengthReader(
          bytes, start: header.start, width: header.width, height: header.height, bits: bits)
        return try runs.readRows(body)
      }
      for index in 0..<header.height {
        body(UnsafeRawBufferPointer(rebasing: bytes[(header.start + index * stride)...]), index)
      }
    }

    /// Writes a row as RGB, `[width, 3]`.
    func convert(_ row: UnsafeRawBufferPointer, to rgb: UnsafeMutablePointer<UInt8>) {
      let width = header.width
      switch header.pixels {
      case .indices, .runs:
        let bits = if case .indices(let bits) = header.pixels { bits } else { 8 }
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
