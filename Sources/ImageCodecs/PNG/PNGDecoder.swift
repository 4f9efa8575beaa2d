import CPNG
import ImagePipeline
import SystemModule

/// PNG files through libpng's classic interface.
enum PNGDecoder {
  static var library: String { "libpng \(String(cString: cpng_version()))" }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    var turned: Turned?
    while true {
      if var image = try attempt(bytes, part: part, limits: limits, turned: &turned) {
        image.details = PNGFacts.read(bytes).details
        return image
      }
    }
  }

  /// The orientation of a large image that stood behind its pixels, which are to be decoded once more before `deadline`.
  private struct Turned {
    let orientation: Orientation
    let deadline: Double
  }

  /// - Returns: nil where `turned` is now known.
  private static func attempt(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits, turned: inout Turned?
  ) throws(DermaFusionError) -> DecodedImage? {
    guard let reader = cpng_open(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) else {
      throw .outOfMemory(.png)
    }
    defer { cpng_close(reader) }
    try check(cpng_read_header(reader), reader, seconds: limits.seconds)

    let width = Int(reader.pointee.width)
    let height = Int(reader.pointee.height)
    try limits.check(width: width, height: height, part: part)
    try requirePlausibleSize(reader.pointee, byteCount: bytes.count)

    let deadline = turned?.deadline
    let begin = { () throws(DermaFusionError) in
      reader.pointee.deadline = deadline ?? cpng_now() + limits.seconds
      try check(cpng_start(reader), reader, seconds: limits.seconds)
    }
    let finish = { (status: cpng_status) throws(DermaFusionError) in
      try check(status, reader, seconds: limits.seconds)
      try check(cpng_finish(reader), reader, seconds: limits.seconds)
      guard reader.pointee.has_alpha == 0 || reader.pointee.is_visible != 0 else {
        throw .fullyTransparent(.png)
      }
    }
    let isInterlaced = reader.pointee.is_interlaced != 0
    let assumed = turned?.orientation ?? orientation(reader)
    if let plan = SquareRows.Plan(
      part, storedWidth: width, storedHeight: height, orientation: assumed,
      isInOrder: !isInterlaced, limits: limits)
    {
      let keptCount = isInterlaced ? keptByteCount(width: width, height: height) : 0
      let reservation = try limits.reserve(plan.byteCount + keptCount, for: .png)
      try begin()
      var rows = SquareRows(plan)
      try finish(readRows(reader, width: width, height: height) { rows.add($0, at: $1) })
      let found = orientation(reader)
      guard found == assumed else {
        turned = Turned(orientation: found, deadline: reader.pointee.deadline)
        return nil
      }
      return rows.finish(damage: damage(reader), reservation: reservation)
    }

    // A turned image is there twice for a moment; whether it is turned may stand behind the pixels.
    let reservation = try limits.reserve(width * height * 6, for: .png)
    try begin()
    let image = try PixelImage(width: width, height: height) { (pixels) throws(DermaFusionError) in
      try finish(cpng_read_rows(reader, pixels))
    }
    return DecodedImage(
      orientation(reader).applied(to: image), damage: damage(reader), reservation: reservation)
  }

  private static func readRows(
    _ reader: UnsafeMutablePointer<cpng_reader>, width: Int, height: Int,
    _ body: (UnsafePointer<UInt8>, _ y: Int) -> Void
  ) -> cpng_status {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 3) { row in
      guard let row = row.baseAddress else { return CPNG_CORRUPT }
      if reader.pointee.is_interlaced != 0 {
        return readInterlacedRows(reader, row, width: width, height: height, body)
      }
      for y in 0..<height {
        let status = cpng_read_row(reader, row)
        guard status == CPNG_OK else { return status }
        body(row, y)
      }
      return CPNG_OK
    }
  }

  /// Hands over the rows of an interlaced image as soon as they are complete. Of its seven passes the first five give the
  /// even pixels of the even rows, the sixth the other pixels of these, and the last the odd rows.
  private static func readInterlacedRows(
    _ reader: UnsafeMutablePointer<cpng_reader>, _ row: UnsafeMutablePointer<UInt8>, width: Int, height: Int,
    _ body: (UnsafePointer<UInt8>, _ y: Int) -> Void
  ) -> cpng_status {
    let passes = [(0, 8), (0, 8), (4, 8), (0, 4), (2, 4), (0, 2), (1, 2)]
    var kept = [UInt8](repeating: 0, count: keptByteCount(width: width, height: height))
    for (pass, (first, step)) in passes.enumerated() {
      for y in 0..<height {
        let isInPass = y % step == first
        let keptStart = y / 2 * ((width + 1) / 2) * 3
        if isInPass, pass <= 5 {
          for x in stride(from: 0, to: width, by: 2) {
            for channel in 0..<3 { row[x * 3 + channel] = kept[keptStart + x / 2 * 3 + channel] }
          }
        }
        // Leaves the row alone where this pass has nothing of it.
        let status = cpng_read_row(reader, row)
        guard status == CPNG_OK else { return status }
        if isInPass, pass <= 4 {
          for x in stride(from: 0, to: width, by: 2) {
            for channel in 0..<3 { kept[keptStart + x / 2 * 3 + channel] = row[x * 3 + channel] }
          }
        } else if isInPass {
          body(row, y)
        }
      }
    }
    return CPNG_OK
  }

  /// Bytes of the even pixels of the even rows.
  private static func keptByteCount(width: Int, height: Int) -> Int {
    (width + 1) / 2 * ((height + 1) / 2) * 3
  }

  /// Damaged pixels do not get here: the chunks' checksums are held against them.
  private static func damage(_ reader: UnsafeMutablePointer<cpng_reader>) -> ImageDamage? {
    if reader.pointee.warning_count > 0 {
      return ImageDamage(reason: String(untilZeroIn: reader.pointee.warning), share: 0)
    }
    return reader.pointee.lacks_end == 0 ? nil : ImageDamage(reason: "the end chunk is missing", share: 0)
  }

  /// Deflate shrinks at most 1032-fold, so a short file that claims many pixels is refused before they are allocated.
  private static func requirePlausibleSize(_ header: cpng_reader, byteCount: Int) throws(DermaFusionError) {
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
  ) throws(DermaFusionError) {
    switch status {
    case CPNG_OK: return
    case CPNG_TRUNCATED: throw .truncated(.png, reason: String(untilZeroIn: reader.pointee.message))
    case CPNG_TOO_SLOW: throw .tooSlow(.png, seconds: seconds)
    case CPNG_OUT_OF_MEMORY: throw .outOfMemory(.png)
    default: throw .corrupt(.png, reason: String(untilZeroIn: reader.pointee.message))
    }
  }

  /// Looks where Pillow looks: in the eXIf chunk, or without one in ImageMagick's "Raw profile type exif" text. If these
  /// name no orientation, it looks in XMP.
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
