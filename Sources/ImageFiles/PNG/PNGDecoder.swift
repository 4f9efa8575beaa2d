import CPNG
import ImagePipeline

/// PNG files through libpng's classic interface.
enum PNGDecoder {
  static var library: String { "libpng \(String(cString: cpng_version()))" }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(ImageError) -> DecodedImage {
    guard let reader = cpng_open(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) else {
      throw .outOfMemory(.png)
    }
    defer { cpng_close(reader) }
    try check(cpng_read_header(reader), reader, seconds: limits.seconds)

    let width = Int(reader.pointee.width)
    let height = Int(reader.pointee.height)
    try limits.check(width: width, height: height, part: part)
    try requirePlausibleSize(reader.pointee, byteCount: bytes.count)

    // A turned image is there twice for a moment; whether it is turned may stand behind the pixels.
    let reservation = try limits.reserve(width * height * 6, for: .png)
    reader.pointee.deadline = cpng_now() + limits.seconds
    var status = CPNG_OK
    let image = PixelImage(width: width, height: height) { pixels in
      status = cpng_read_pixels(reader, pixels)
    }
    try check(status, reader, seconds: limits.seconds)
    guard reader.pointee.has_alpha == 0 || reader.pointee.is_visible != 0 else {
      throw .fullyTransparent(.png)
    }
    return DecodedImage(
      orientation(reader).applied(to: image), damage: damage(reader), reservation: reservation)
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
