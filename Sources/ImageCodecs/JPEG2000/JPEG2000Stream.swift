import SystemModule

/// The main header of a JPEG 2000 code stream (ISO/IEC 15444-1, annex A), read before its library sees it.
struct JPEG2000Stream {
  static let signature: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]
  static let boxSignature: [UInt8] = [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20]

  let bytes: UnsafeRawBufferPointer
  let width: Int
  let height: Int
  let precisions: [Int]
  /// True if a component is signed, or has fewer samples than the image has pixels.
  let isUnusual: Bool
  /// True if the decoder turns the three components back into red, green and blue.
  private(set) var transformsColors = false

  /// - Parameter bytes: a code stream, or a JP2 file around one, which some programs put into DICOM.
  init(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
    self.bytes = Self.stream(in: bytes)
    let reader = ByteReader(self.bytes, isBigEndian: true)
    guard self.bytes.starts(with: Self.signature), let length = reader.integer16(at: 4),
      let numbers = Self.numbers(reader), let count = reader.integer16(at: 40), (1...4).contains(count),
      length >= 38 + 3 * count, reader.bytes(at: 42, count: 3 * count) != nil
    else { throw .corrupt(.jpeg2000, reason: "it has no header of a code stream") }
    (width, height) = (numbers[0] - numbers[2], numbers[1] - numbers[3])
    guard width > 0, height > 0 else { throw .corrupt(.jpeg2000, reason: "it has no size") }
    let components = (0..<count).map { index in (0..<3).compactMap { reader.byte(at: 42 + index * 3 + $0) } }
    precisions = components.map { $0[0] & 0x7F + 1 }
    isUnusual = components.contains { $0[0] & 0x80 != 0 || $0[1] != 1 || $0[2] != 1 }
    var position = 4 + length
    // Up to the first tile.
    while let marker = reader.integer16(at: position), marker != 0xFF90,
      let length = reader.integer16(at: position + 2), length >= 2
    {
      // COD: the style, the progression, two bytes of layers, then the transform.
      if marker == 0xFF52 { transformsColors = count >= 3 && reader.byte(at: position + 8) == 1 }
      position += 2 + length
    }
  }

  /// The right and bottom edge of the image, and its left and top one.
  private static func numbers(_ reader: ByteReader) -> [Int]? {
    let numbers = [8, 12, 16, 20].compactMap { reader.integer32(at: $0) }
    return numbers.count == 4 && numbers.allSatisfy { $0 < 1 << 31 } ? numbers : nil
  }

  private static func stream(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard bytes.starts(with: boxSignature) else { return bytes }
    var stream = bytes
    HEIFFile.forEachBox(ByteReader(bytes, isBigEndian: true), "jp2c", in: 0..<bytes.count) {
      stream = UnsafeRawBufferPointer(rebasing: bytes[$0])
    }
    return stream
  }

  /// Holds the header against what the DICOM file around it says.
  func requireSupport(_ file: DICOMFile) throws(DermaFusionError) {
    guard precisions.count == file.samples else {
      throw .corrupt(
        .dicom,
        reason:
          "a JPEG 2000 of \(precisions.count) components where there are \(file.samples) samples per pixel")
    }
    guard precisions.allSatisfy({ $0 == file.bitsStored }) else {
      throw .unsupportedVariant(
        .dicom, reason: "a JPEG 2000 of \(precisions[0]) bits where \(file.bitsStored) bits are stored")
    }
    guard !isUnusual else {
      throw .unsupportedVariant(.dicom, reason: "a JPEG 2000 with signed or subsampled components")
    }
  }
}
