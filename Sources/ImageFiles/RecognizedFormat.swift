import ImagePipeline

/// What the first bytes of a file say about it.
enum RecognizedFormat: Equatable {
  case supported(ImageFormat)
  case unsupported(String)
  case unknown

  /// Compares with the magic numbers; a file cut off inside its magic number still counts as its kind.
  init(_ bytes: UnsafeRawBufferPointer) {
    if Self.agrees(bytes, with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], atLeast: 4) {
      self = .supported(.png)
    } else if Self.agrees(bytes, with: [0xFF, 0xD8, 0xFF], atLeast: 2) {
      self = .supported(.jpeg)
    } else if bytes.count >= 2, bytes[0] == UInt8(ascii: "P"), (0x31...0x36).contains(bytes[1]),
      bytes.count == 2 || bytes[2].isASCIIWhitespace
    {
      self = .supported(.pnm)
    } else if DICOMFile.isRecognized(bytes) {
      self = .supported(.dicom)
    } else if Self.isBitmap(ByteReader(bytes)) {
      self = .supported(.bmp)
    } else if Self.isTIFF(bytes) {
      self = .supported(.tiff)
    } else if ByteReader(bytes).holds("RIFF", at: 0), ByteReader(bytes).holds("WEBP", at: 8) {
      self = .supported(.webp)
    } else if HEIFFile.isRecognized(bytes) {
      self = .supported(.heif)
    } else if let name = Self.unsupportedName(bytes) {
      self = .unsupported(name)
    } else {
      self = .unknown
    }
  }

  private static func agrees(
    _ bytes: UnsafeRawBufferPointer, with magic: [UInt8], atLeast count: Int
  ) -> Bool {
    bytes.count >= count && zip(bytes, magic).allSatisfy { $0 == $1 }
  }

  /// The letters BM alone also begin a text. A bitmap without the file's header is known by its planes and bits.
  private static func isBitmap(_ reader: ByteReader) -> Bool {
    if reader.holds("BM", at: 0) {
      return reader.integer32(at: 14).map(BMPHeader.sizes.contains) ?? false
        || reader.bytes(at: 6, count: 8)?.prefix(4).allSatisfy { $0 == 0 } ?? false
    }
    guard let size = reader.integer32(at: 0), size >= 40, BMPHeader.sizes.contains(size) else { return false }
    return reader.integer16(at: 12) == 1 && [1, 4, 8, 16, 24, 32].contains(reader.integer16(at: 14))
  }

  private static func isTIFF(_ bytes: UnsafeRawBufferPointer) -> Bool {
    [0x2A, 0x2B].contains { (version: UInt8) in
      bytes.starts(with: [0x49, 0x49, version, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, version])
    }
  }

  private static func unsupportedName(_ bytes: UnsafeRawBufferPointer) -> String? {
    func starts(_ text: String, at offset: Int = 0) -> Bool {
      let magic = Array(text.utf8)
      return bytes.count >= offset + magic.count && bytes[offset..<offset + magic.count].elementsEqual(magic)
    }
    func starts(_ magic: [UInt8]) -> Bool { bytes.starts(with: magic) }

    if starts("GIF8") { return "GIF" }
    if starts("ftyp", at: 4) { return "MP4 or QuickTime" }
    if starts([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]) || starts([0xFF, 0x4F, 0xFF, 0x51]) {
      return "JPEG 2000"
    }
    if starts([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) || starts([0xFF, 0x0A]) { return "JPEG XL" }
    if starts("8BPS") { return "Photoshop" }
    if starts("%PDF") { return "PDF" }
    if starts([0, 0, 1, 0]) { return "ICO" }
    if starts("P7\n") { return "PAM" }
    if starts("PF\n") || starts("Pf\n") { return "PFM" }
    return nil
  }
}
