import ImagePipeline
import SystemModule

/// DICOM images: the first frame, 8-bit colour or grey, uncompressed or JPEG.
///
/// Grey of more than 8 bits is taken by the high 8 of its stored bits, as in other formats; windows and rescaling are not
/// applied.
enum DICOMDecoder {
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    let file = try DICOMFile(bytes)
    guard let pixels = file.pixels else {
      throw .unsupportedVariant(.dicom, reason: "it holds no image")
    }
    guard file.columns > 0, file.rows > 0 else {
      throw .corrupt(.dicom, reason: "the size is \(file.columns)x\(file.rows)")
    }
    try limits.check(width: file.columns, height: file.rows, part: part)
    try requireSupport(file)
    let patient = file.patient
    switch file.syntax {
    case .jpeg:
      var image = try DICOMFragments.withFirstFrame(of: file, pixels) { frame throws(DermaFusionError) in
        try JPEGDecoder.decode(
          frame, part: part, limits: limits,
          embeddedAsRGB: file.photometricInterpretation == "RGB")
      }
      guard image.width == file.columns, image.height == file.rows else {
        throw .corrupt(
          .dicom,
          reason: "a JPEG of \(image.width)x\(image.height) in an image of \(file.columns)x\(file.rows)")
      }
      image.patient = patient
      return image
    case .native:
      guard !pixels.isUndefined else {
        throw .corrupt(.dicom, reason: "uncompressed pixels of undefined length")
      }
      let reservation = try limits.reserve(file.columns * file.rows * 3, for: .dicom)
      var image = DecodedImage(
        try DICOMPixels(file, bytes: UnsafeRawBufferPointer(rebasing: bytes[pixels.value])).image(),
        reservation: reservation)
      image.patient = patient
      return image
    }
  }

  private static func requireSupport(_ file: DICOMFile) throws(DermaFusionError) {
    let interpretation = file.photometricInterpretation
    let samples: Int
    switch interpretation {
    case "RGB", "YBR_FULL", "YBR_FULL_422": samples = 3
    case "MONOCHROME2": samples = 1
    case "MONOCHROME1":
      throw .unsupportedVariant(.dicom, reason: "MONOCHROME1, a negative")
    default:
      throw .unsupportedVariant(
        .dicom,
        reason: interpretation.isEmpty
          ? "no photometric interpretation" : "the photometric interpretation \(interpretation)")
    }
    guard file.samples == samples else {
      throw .corrupt(.dicom, reason: "\(file.samples) samples per pixel in \(interpretation)")
    }
    guard file.bitsAllocated == 8 || (file.bitsAllocated == 16 && samples == 1) else {
      throw .unsupportedVariant(.dicom, reason: "\(file.bitsAllocated) bits allocated in \(interpretation)")
    }
    guard (1...file.bitsAllocated).contains(file.bitsStored) else {
      throw .corrupt(.dicom, reason: "\(file.bitsStored) bits stored in \(file.bitsAllocated)")
    }
    guard !file.isSigned else {
      throw .unsupportedVariant(.dicom, reason: "signed pixels")
    }
  }
}

/// The fragments of encapsulated pixels that belong to the first frame.
enum DICOMFragments {
  static func withFirstFrame<Result>(
    of file: DICOMFile, _ pixels: DICOMElement,
    _ body: (UnsafeRawBufferPointer) throws(DermaFusionError) -> Result
  ) throws(DermaFusionError) -> Result {
    guard pixels.isUndefined else {
      throw .corrupt(.dicom, reason: "JPEG pixels that are not encapsulated")
    }
    let reader = ByteReader(file.bytes)
    let items = try DICOMElements(reader: reader).fragments(of: pixels)
    var fragments = items.dropFirst()
    guard let table = items.first, let first = fragments.first else {
      throw .truncated(.dicom, reason: "the encapsulated pixels are empty")
    }
    if file.frames > 1 {
      // Offsets count from the first fragment's item, which begins 8 bytes before its value.
      if table.count >= 8, let offset = reader.integer32(at: table.lowerBound + 4), offset > 0 {
        fragments = fragments.filter { $0.lowerBound < first.lowerBound + offset }[...]
      } else if fragments.count == file.frames {
        fragments = fragments.prefix(1)
      } else if let last = fragments.firstIndex(where: { holdsEnd(file.bytes, $0) }) {
        fragments = fragments[...last]
      }
    }
    if fragments.count == 1 {
      return try body(UnsafeRawBufferPointer(rebasing: file.bytes[first]))
    }
    var joined: [UInt8] = []
    joined.reserveCapacity(fragments.reduce(0) { $0 + $1.count })
    for fragment in fragments { joined += file.bytes[fragment] }
    return try joined.withUnsafeBufferPointer { (bytes) throws(DermaFusionError) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Whether a JPEG ends with the fragment, which may be filled up by a zero.
  private static func holdsEnd(_ bytes: UnsafeRawBufferPointer, _ fragment: Range<Int>) -> Bool {
    var end = bytes[fragment]
    if end.last == 0 { end = end.dropLast() }
    return end.suffix(2).elementsEqual([0xFF, 0xD9])
  }
}

/// Uncompressed pixels of a DICOM image.
struct DICOMPixels {
  private let file: DICOMFile
  private let bytes: UnsafeRawBufferPointer
  private let count: Int

  /// - Parameter bytes: the pixels of all frames.
  init(_ file: DICOMFile, bytes: UnsafeRawBufferPointer) {
    self.file = file
    self.bytes = bytes
    count = file.columns * file.rows
  }

  /// The first frame.
  func image() throws(DermaFusionError) -> PixelImage {
    if file.samples == 1 {
      try require(count * file.bitsAllocated / 8)
      return PixelImage(width: file.columns, height: file.rows, writingPixels: writeGrey)
    }
    // Some files say 4:2:2 and store every pixel's colour.
    let isSubsampled =
      file.photometricInterpretation == "YBR_FULL_422" && bytes.count < count * 3 * file.frames
    if isSubsampled, file.columns % 2 != 0 {
      throw .unsupportedVariant(.dicom, reason: "YBR_FULL_422 with an odd number of columns")
    }
    try require(isSubsampled ? count * 2 : count * 3)
    return PixelImage(width: file.columns, height: file.rows) { rgb in
      let isYBR = file.photometricInterpretation != "RGB"
      for index in 0..<count {
        let values =
          if isSubsampled {
            // Two luminances, then the colour that they share.
            (
              bytes[index / 2 * 4 + index % 2], bytes[index / 2 * 4 + 2], bytes[index / 2 * 4 + 3]
            )
          } else if file.isPlanar {
            (bytes[index], bytes[count + index], bytes[2 * count + index])
          } else {
            (bytes[index * 3], bytes[index * 3 + 1], bytes[index * 3 + 2])
          }
        (rgb[index * 3], rgb[index * 3 + 1], rgb[index * 3 + 2]) =
          isYBR ? Self.rgb(values.0, values.1, values.2) : values
      }
    }
  }

  private func require(_ needed: Int) throws(DermaFusionError) {
    guard bytes.count >= needed else {
      throw .truncated(.dicom, reason: "\(bytes.count) bytes of pixels where \(needed) are needed")
    }
  }

  private func writeGrey(_ rgb: UnsafeMutablePointer<UInt8>) {
    let mask = 1 << file.bitsStored - 1
    for index in 0..<count {
      let value: UInt8
      if file.bitsAllocated == 8 {
        value = bytes[index]
      } else {
        let stored = (Int(bytes[index * 2]) | Int(bytes[index * 2 + 1]) << 8) & mask
        value = UInt8(stored >> max(0, file.bitsStored - 8))
      }
      for channel in 0..<3 { rgb[index * 3 + channel] = value }
    }
  }

  /// Part 3, C.7.6.3.1.2, in the arithmetic of pydicom's `convert_color_space`.
  private static func rgb(_ y: UInt8, _ blue: UInt8, _ red: UInt8) -> (UInt8, UInt8, UInt8) {
    let (y, b, r) = (Float(y), Float(blue) - 128, Float(red) - 128)
    func rounded(_ value: Float) -> UInt8 { UInt8(max(0, min(255, (value + 0.5).rounded(.down)))) }
    return (
      rounded(y + redFactor * r), rounded(y + (greenFromBlue * b + greenFromRed * r)),
      rounded(y + blueFactor * b)
    )
  }

  private static let redFactor = Float(1.402)
  private static let blueFactor = Float(1.772)
  private static let greenFromBlue = Float(-0.114 * 1.772 / 0.587)
  private static let greenFromRed = Float(-0.299 * 1.402 / 0.587)
}
