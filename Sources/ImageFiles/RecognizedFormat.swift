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

  private static func unsupportedName(_ bytes: UnsafeRawBufferPointer) -> String? {
    func starts(_ text: String, at offset: Int = 0) -> Bool {
      let magic = Array(text.utf8)
      return bytes.count >= offset + magic.count && bytes[offset..<offset + magic.count].elementsEqual(magic)
    }
    func starts(_ magic: [UInt8]) -> Bool { bytes.starts(with: magic) }

    if starts("GIF8") { return "GIF" }
    if starts("RIFF"), starts("WEBP", at: 8) { return "WebP" }
    if starts([0x49, 0x49, 0x2A, 0]) || starts([0x4D, 0x4D, 0, 0x2A]) { return "TIFF" }
    if starts([0x49, 0x49, 0x2B, 0]) || starts([0x4D, 0x4D, 0, 0x2B]) { return "BigTIFF" }
    if starts("ftyp", at: 4) {
      if starts("avif", at: 8) || starts("avis", at: 8) { return "AVIF" }
      for brand in ["heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"] where starts(brand, at: 8) {
        return "HEIF"
      }
      return "MP4 or QuickTime"
    }
    if starts([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]) || starts([0xFF, 0x4F, 0xFF, 0x51]) {
      return "JPEG 2000"
    }
    if starts([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) || starts([0xFF, 0x0A]) { return "JPEG XL" }
    if starts("DICM", at: 128) { return "DICOM" }
    if starts("8BPS") { return "Photoshop" }
    if starts("%PDF") { return "PDF" }
    if starts([0, 0, 1, 0]) { return "ICO" }
    if starts("P7\n") { return "PAM" }
    if starts("PF\n") || starts("Pf\n") { return "PFM" }
    if starts("BM"), bytes.count >= 14, bytes[6..<10].allSatisfy({ $0 == 0 }) { return "BMP" }
    return nil
  }
}
