import CPNG
import ImagePipeline

/// PNG files through libpng's classic interface.
enum PNGDecoder {
  static var library: String { "libpng \(String(cString: cpng_version()))" }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits,
    largeByteCount: Int = SquareRows.largeByteCount
  ) throws(ImageError) -> DecodedImage {
    var deadline: Double?
    var known: Orientation?
    while true {
      let decoded = try decode(
        bytes, part: part, limits: limits, largeByteCount: largeByteCount, deadline: &deadline,
        orientation: &known)
      if let decoded { return decoded }
    }
  }

  /// - Parameters:
  ///   - largeByteCount: for tests, which have no large images.
  ///   - deadline: when it must be over; set when the pixels are begun for the first time.
  ///   - orientation: where it is known already. It may stand behind the pixels of a large image: then it is set, and there is
  ///     no result.
  private static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits, largeByteCount: Int,
    deadline: inout Double?, orientation known: inout Orientation?
  ) throws(ImageError) -> DecodedImage? {
    guard let reader = cpng_open(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) else {
      throw .outOfMemory(.png)
    }
    defer { cpng_close(reader) }
    try check(cpng_read_header(reader), reader, seconds: limits.seconds)

    let width = Int(reader.pointee.width)
    let height = Int(reader.pointee.height)
    try limits.check(width: width, height: height, part: part)
    try requirePlausibleSize(reader.pointee, byteCount: bytes.count)

    let begin = { (seconds: Double, deadline: inout Double?) throws(ImageError) in
      reader.pointee.deadline = deadline ?? cpng_now() + seconds
      deadline = reader.pointee.deadline
      try check(cpng_start(reader), reader, seconds: seconds)
    }
    let finish = { (status: cpng_status) throws(ImageError) in
      try check(status, reader, seconds: limits.seconds)
      try check(cpng_finish(reader), reader, seconds: limits.seconds)
      guard reader.pointee.has_alpha == 0 || reader.pointee.is_visible != 0 else {
        throw .fullyTransparent(.png)
      }
    }
    if let size = part.networkSize, width * height * 3 >= largeByteCount, reader.pointee.is_interlaced == 0 {
      let reservation = try limits.reserve(
        SquareRows.byteCount(part, size: size, storedWidth: width, storedHeight: height), for: .png)
      try begin(limits.seconds, &deadline)
      let assumed = known ?? orientation(reader)
      var rows = SquareRows(
        part, size: size, storedWidth: width, storedHeight: height, placement: assumed.placement)
      try finish(readRows(reader, width: width, height: height) { rows.add($0) })
      let found = orientation(reader)
      guard found == assumed else {
        known = found
        return nil
      }
      return rows.finish(damage: damage(reader), reservation: reservation)
    }

    // A turned image is there twice for a moment; whether it is turned may stand behind the pixels.
    let reservation = try limits.reserve(width * height * 6, for: .png)
    try begin(limits.seconds, &deadline)
    var status = CPNG_OK
    let image = PixelImage(width: width, height: height) { pixels in
      status = cpng_read_rows(reader, pixels, UInt32(height))
    }
    try finish(status)
    return DecodedImage(
      orientation(reader).applied(to: image), damage: damage(reader), reservation: reservation)
  }

  private static func readRows(
    _ reader: UnsafeMutablePointer<cpng_reader>, width: Int, height: Int,
    _ body: (UnsafePointer<UInt8>) -> Void
  ) -> cpng_status {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 3) { row in
      guard let row = row.baseAddress else { return CPNG_CORRUPT }
      for _ in 0..<height {
        let status = cpng_read_rows(reader, row, 1)
        guard status == CPNG_OK else { return status }
        body(row)
      }
      return CPNG_OK
    }
  }

  /// Damaged pixels do not get here: the chunks' checksums are held against them.
  private static func damage(_ reader: UnsafeMutablePointer<cpng_reader>) -> ImageDamage? {
    if reader.pointee.warning_count > 0 {
      return ImageDamage(reason: text(&reader.pointee.warning), share: 0)
    }
    return reader.pointee.lacks_end == 0 ? nil : ImageDamage(reason: "the end chunk is missing", share: 0)
  }

  /// Deflate shrinks at most 1032-fold, so a short file that claims many pixels is refused before they are allocated.
  private static func requirePlausibleSize(_ header: cpng_reader, byteCount: Int) throws(ImageError) {
    let channels =
      switch header.color_type {
      case PNG_COLOR_TYPE_RGB: 3
      case PNG_COLOR_TYPE_RGB_ALPHA: 4
      case PNG_COLOR_TYPE_GRAY_ALPHA: 2
      default: 1
      }
    let rowBytes = (Int(header.width) * channels * Int(header.bit_depth) + 7) / 8 + 1
    guard rowBytes * Int(header.height) <= byteCount * 1032 else {
      throw .truncated(.png, reason: "\(byteCount) bytes cannot hold \(header.width)x\(header.height) pixels")
    }
  }

  private static func check(
    _ status: cpng_status, _ reader: UnsafeMutablePointer<cpng_reader>, seconds: Double
  ) throws(ImageError) {
    switch status {
    case CPNG_OK: return
    case CPNG_TRUNCATED: throw .truncated(.png, reason: text(&reader.pointee.message))
    case CPNG_TOO_SLOW: throw .tooSlow(.png, seconds: seconds)
    case CPNG_OUT_OF_MEMORY: throw .outOfMemory(.png)
    default: throw .corrupt(.png, reason: text(&reader.pointee.message))
    }
  }

  /// The characters up to the first zero.
  private static func text<Characters>(_ characters: inout Characters) -> String {
    withUnsafeBytes(of: &characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Looks where Pillow looks: the eXIf chunk, else ImageMagick's "Raw profile type exif" text; and where those name no
  /// orientation, XMP.
  private static func orientation(_ reader: UnsafeMutablePointer<cpng_reader>) -> Orientation {
    var exif: [UInt8]?
    var count = 0
    if let chunk = cpng_exif(reader, &count) {
      exif = Array(UnsafeBufferPointer(start: chunk, count: count))
    } else if let profile = text(reader, "Raw profile type exif") {
      exif = RawProfile.bytes(profile)
    }
    return Orientation(exif: exif, xmp: text(reader, "XML:com.adobe.xmp"))
  }

  private static func text(_ reader: UnsafeMutablePointer<cpng_reader>, _ keyword: String) -> [UInt8]? {
    var count = 0
    guard let text = cpng_text(reader, keyword, &count) else { return nil }
    return Array(UnsafeRawBufferPointer(start: text, count: count))
  }
}
