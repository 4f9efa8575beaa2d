import CJPEG
import ImagePipeline
import SystemModule

/// JPEG files through libjpeg-turbo with its default settings, which are Pillow's.
enum JPEGDecoder {
  static var library: String { String(cString: cjpeg_version()) }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    try decode(bytes, part: part, limits: limits, embeddedAsRGB: nil)
  }

  /// - Parameter embeddedAsRGB: nil for a file of its own. In another file the JPEG's own orientation does not count, and its
  ///   components are, where so and the JPEG itself does not say what they are, red, green and blue.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits, embeddedAsRGB: Bool?
  ) throws(DermaFusionError) -> DecodedImage {
    let start = bytes.bindMemory(to: UInt8.self).baseAddress
    guard let reader = cjpeg_open(start, bytes.count) else { throw .outOfMemory(.jpeg) }
    defer { cjpeg_close(reader) }
    let check = { (status: cjpeg_status, truncation: String) throws(DermaFusionError) in
      try Self.check(status, reader, truncation: truncation, seconds: limits.seconds)
    }
    try check(cjpeg_read_header(reader), "the data end in the header")

    let width = Int(reader.pointee.width)
    let height = Int(reader.pointee.height)
    try limits.check(width: width, height: height, part: part)
    guard [1, 3, 4].contains(reader.pointee.components) else {
      throw .unsupportedVariant(.jpeg, reason: "\(reader.pointee.components) colour components")
    }
    try requirePlausibleSize(reader.pointee, byteCount: bytes.count)
    let scans = Int(cjpeg_count_scans(start, bytes.count))
    guard width * height * scans <= limits.scannedPixels else {
      throw .tooManyScans(width: width, height: height, scans: scans, limit: limits.scannedPixels)
    }
    let segments = JPEGSegments(reader, bytes)
    let orientation = embeddedAsRGB == nil ? segments.orientation : .upright
    // The JPEG's own statement on its colours goes before that of the file around it.
    if embeddedAsRGB != nil, cjpeg_obey_ids(reader) == 0, embeddedAsRGB == true { cjpeg_take_as_rgb(reader) }
    let details = embeddedAsRGB == nil ? segments.facts(of: reader.pointee).details : [:]

    let begin = { () throws(DermaFusionError) in
      reader.pointee.deadline = cjpeg_now() + limits.seconds
      try check(cjpeg_start(reader), "the data end before the last scan does")
    }
    let finish = { (status: cjpeg_status) throws(DermaFusionError) in
      try check(status, "the data end in row \(reader.pointee.rows_read + 1) of \(height)")
      try check(cjpeg_finish(reader), "the data end after the last row")
    }
    let coefficientBytes = Int(cjpeg_coefficient_bytes(reader))
    if let plan = SquareRows.Plan(
      part, storedWidth: width, storedHeight: height, orientation: orientation,
      limits: limits)
    {
      let reservation = try limits.reserve(coefficientBytes + plan.byteCount, for: .jpeg)
      try begin()
      var rows = SquareRows(plan)
      try finish(readRows(reader, width: width, height: height) { rows.add($0, at: $1) })
      var image = rows.finish(damage: damage(reader), reservation: reservation)
      image.details = details
      return image
    }

    let pixelBytes = width * height * 3
    let reservation = try limits.reserve(
      coefficientBytes + (orientation == .upright ? pixelBytes : 2 * pixelBytes), for: .jpeg)
    try begin()
    let image = try PixelImage(width: width, height: height) { (pixels) throws(DermaFusionError) in
      let status =
        reader.pointee.output_components == 4
        ? readRows(reader, width: width, height: height) { row, y in
          (pixels + y * width * 3).update(from: row, count: width * 3)
        } : cjpeg_read_rows(reader, pixels, UInt32(height))
      try finish(status)
    }
    var decoded = DecodedImage(
      orientation.applied(to: image), damage: damage(reader), reservation: reservation)
    decoded.details = details
    return decoded
  }

  /// The fault that the decoder warns of or finds missing; nil for an intact image.
  private static func damage(_ reader: UnsafeMutablePointer<cjpeg_reader>) -> ImageDamage? {
    if reader.pointee.warning_count == 0 {
      return reader.pointee.lacks_end == 0
        ? nil : ImageDamage(reason: "the end-of-image marker is missing", share: 0)
    }
    return ImageDamage(
      reason: String(untilZeroIn: reader.pointee.warning), share: cjpeg_misread_share(reader))
  }

  /// A short file that claims many pixels is refused before they are allocated. Huffman coding takes at least a bit for
  /// each block of 8x8 values, of which a component may have a sixteenth of the image's. Arithmetic coding may take less:
  /// a small image is decoded whatever its file claims, a large one where it claims what a photograph might.
  private static func requirePlausibleSize(_ header: cjpeg_reader, byteCount: Int) throws(DermaFusionError) {
    let (width, height) = (Int(header.width), Int(header.height))
    if header.is_arithmetic != 0 {
      guard width * height <= max(1 << 24, byteCount * 8192) else {
        throw .implausibleSize(.jpeg, byteCount: byteCount, width: width, height: height)
      }
    } else {
      guard width * height / 64 <= byteCount * 8 * 16 else {
        throw .truncated(
          .jpeg, reason: "\(byteCount) bytes cannot hold \(header.width)x\(header.height) pixels")
      }
    }
  }

  /// Hands over the rows as RGB. Those of four components are converted as Pillow does: they are taken as inverted, as
  /// Adobe writes them, and turned into RGB without a colour profile.
  private static func readRows(
    _ reader: UnsafeMutablePointer<cjpeg_reader>, width: Int, height: Int,
    _ body: (UnsafePointer<UInt8>, _ y: Int) -> Void
  ) -> cjpeg_status {
    let components = Int(reader.pointee.output_components)
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 7) { buffer in
      guard let rgb = buffer.baseAddress else { return CJPEG_CORRUPT }
      let row = rgb + width * 3
      for y in 0..<height {
        let status = cjpeg_read_rows(reader, components == 4 ? row : rgb, 1)
        guard status == CJPEG_OK else { return status }
        if components == 4 { convertCMYK(row, to: rgb, width: width) }
        body(rgb, y)
      }
      return CJPEG_OK
    }
  }

  private static func convertCMYK(
    _ row: UnsafePointer<UInt8>, to rgb: UnsafeMutablePointer<UInt8>, width: Int
  ) {
    for x in 0..<width {
      let notBlack = Int(row[x * 4 + 3])
      for channel in 0..<3 {
        let product = (255 - Int(row[x * 4 + channel])) * notBlack + 128
        rgb[x * 3 + channel] = UInt8(truncatingIfNeeded: notBlack - ((product >> 8) + product) >> 8)
      }
    }
  }

  private static func check(
    _ status: cjpeg_status, _ reader: UnsafeMutablePointer<cjpeg_reader>, truncation: String,
    seconds: Double
  ) throws(DermaFusionError) {
    switch status {
    case CJPEG_OK: return
    case CJPEG_TRUNCATED: throw .truncated(.jpeg, reason: truncation)
    case CJPEG_OUT_OF_MEMORY: throw .outOfMemory(.jpeg)
    case CJPEG_TOO_SLOW: throw .tooSlow(.jpeg, seconds: seconds)
    case CJPEG_UNSUPPORTED:
      throw .unsupportedVariant(.jpeg, reason: String(untilZeroIn: reader.pointee.message))
    default: throw .corrupt(.jpeg, reason: String(untilZeroIn: reader.pointee.message))
    }
  }
}

/// Writes JPEG files through libjpeg, for pictures that are only looked at.
package enum JPEGEncoder {
  /// - Parameter quality: from 1 to 100. Every pixel keeps its colour: the lines of a heatmap are coloured.
  package static func encode(_ image: PixelImage, quality: Int) throws(DermaFusionError) -> [UInt8] {
    precondition((1...100).contains(quality), "a quality of \(quality)")
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    var message = [CChar](repeating: 0, count: Int(JMSG_LENGTH_MAX))
    let status = image.pixels.withUnsafeBufferPointer { pixels in
      cjpeg_encode(
        pixels.baseAddress, UInt32(image.width), UInt32(image.height), Int32(quality), &bytes, &count,
        &message)
    }
    defer { cjpeg_free(bytes) }
    guard status == CJPEG_OK, let bytes else {
      throw .encodingFailed(
        reason: status == CJPEG_UNSUPPORTED
          ? message.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
          : "out of memory")
    }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
