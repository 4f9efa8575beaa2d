import CJPEG
import ImagePipeline

/// JPEG files through libjpeg-turbo with its default settings, which are Pillow's.
enum JPEGDecoder {
  static func decode(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> PixelImage {
    guard let reader = cjpeg_open(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) else {
      throw .outOfMemory(.jpeg)
    }
    defer { cjpeg_close(reader) }
    try check(cjpeg_read_header(reader), reader, truncation: "the data end in the header")

    let width = Int(reader.pointee.width)
    let height = Int(reader.pointee.height)
    try PixelLimit.check(width: width, height: height)
    guard [1, 3, 4].contains(reader.pointee.components) else {
      throw .unsupportedVariant(.jpeg, reason: "\(reader.pointee.components) colour components")
    }
    try requirePlausibleSize(reader.pointee, byteCount: bytes.count)
    let orientation = orientation(reader)
    try check(cjpeg_start(reader), reader, truncation: "the data end before the last scan does")

    var status = CJPEG_OK
    let image = PixelImage(width: width, height: height) { pixels in
      status =
        reader.pointee.output_components == 4
        ? readCMYK(reader, into: pixels, width: width, height: height)
        : cjpeg_read_rows(reader, pixels, UInt32(height))
    }
    try check(status, reader, truncation: "the data end in row \(reader.pointee.rows_read + 1) of \(height)")
    try check(cjpeg_finish(reader), reader, truncation: "the data end after the last row")
    return orientation.applied(to: image)
  }

  /// Huffman coding takes at least a bit for each block of 8x8 values, of which a component may have a sixteenth of the
  /// image's, so a short file that claims many pixels is refused before they are allocated. Arithmetic coding may take
  /// less, and is decoded whatever it claims.
  private static func requirePlausibleSize(_ header: cjpeg_reader, byteCount: Int) throws(ImageError) {
    let blocks = Int(header.width) * Int(header.height) / 64
    guard header.is_arithmetic != 0 || blocks <= byteCount * 8 * 16 else {
      throw .truncated(
        .jpeg, reason: "\(byteCount) bytes cannot hold \(header.width)x\(header.height) pixels")
    }
  }

  /// Converts row by row, as Pillow does: four-component files are taken as inverted, as Adobe writes them, and turned
  /// into RGB without a colour profile.
  private static func readCMYK(
    _ reader: UnsafeMutablePointer<cjpeg_reader>, into pixels: UnsafeMutablePointer<UInt8>, width: Int,
    height: Int
  ) -> cjpeg_status {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * 4) { row in
      guard let row = row.baseAddress else { return CJPEG_CORRUPT }
      var pixel = pixels
      for _ in 0..<height {
        let status = cjpeg_read_rows(reader, row, 1)
        guard status == CJPEG_OK else { return status }
        for x in 0..<width {
          let notBlack = Int(row[x * 4 + 3])
          for channel in 0..<3 {
            let product = (255 - Int(row[x * 4 + channel])) * notBlack + 128
            pixel[channel] = UInt8(truncatingIfNeeded: notBlack - ((product >> 8) + product) >> 8)
          }
          pixel += 3
        }
      }
      return CJPEG_OK
    }
  }

  private static func check(
    _ status: cjpeg_status, _ reader: UnsafeMutablePointer<cjpeg_reader>, truncation: String
  ) throws(ImageError) {
    switch status {
    case CJPEG_OK: return
    case CJPEG_TRUNCATED: throw .truncated(.jpeg, reason: truncation)
    case CJPEG_OUT_OF_MEMORY: throw .outOfMemory(.jpeg)
    default:
      let message = withUnsafeBytes(of: &reader.pointee.message) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw .corrupt(.jpeg, reason: message)
    }
  }

  /// Joins the Exif segments and takes the last XMP segment, as Pillow does.
  private static func orientation(_ reader: UnsafeMutablePointer<cjpeg_reader>) -> Orientation {
    let exifMarker = Array("Exif\0\0".utf8)
    let xmpMarker = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    var exif: [UInt8]?
    var xmp: [UInt8]?
    var index = 0
    var count = 0
    while let segment = cjpeg_app1(reader, index, &count) {
      let bytes = UnsafeBufferPointer(start: segment, count: count)
      if bytes.starts(with: exifMarker) {
        if exif == nil {
          exif = Array(bytes)
        } else {
          exif!.append(contentsOf: bytes.dropFirst(exifMarker.count))
        }
      } else if bytes.starts(with: xmpMarker) {
        xmp = Array(bytes.dropFirst(xmpMarker.count))
      }
      index += 1
    }
    return Orientation(exif: exif, xmp: xmp)
  }
}
