import ImagePipeline
import SystemModule

/// DICOM images: the first frame, 8-bit colour, grey or by a palette, uncompressed, in runs or as JPEG.
///
/// Values of more than 8 bits are taken by the high 8 of their stored bits, as in other formats; windows and rescaling are not
/// applied. Where the file says that pixels are not square, the image is resampled so that shapes are right.
enum DICOMDecoder {
  static func decode(
    _ bytes: UnsafeRawBufferPointer, part: ImagePart, limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    let deadline = limits.deadline()
    let file = try DICOMFile(bytes, deadline: deadline)
    guard let pixels = file.pixels else {
      throw .unsupportedVariant(.dicom, reason: "it holds no image")
    }
    guard file.columns > 0, file.rows > 0 else {
      throw .corrupt(.dicom, reason: "the size is \(file.columns)x\(file.rows)")
    }
    let size = try squareSize(file)
    try limits.check(width: size.width, height: size.height, part: part)
    try requireSupport(file)
    let isSquare = size == (file.columns, file.rows)
    var image = try stored(file, pixels, part: isSquare ? part : .whole, limits: limits, deadline: deadline)
    if !isSquare { image = try resampled(image, size, limits: limits) }
    image.patient = file.patient
    image.details = FileFacts(profile: file.foreignProfile).details
    return image
  }

  /// The first frame as it is stored.
  private static func stored(
    _ file: DICOMFile, _ pixels: DICOMElement, part: ImagePart, limits: DecodingLimits,
    deadline: DecodingDeadline
  ) throws(DermaFusionError) -> DecodedImage {
    switch file.syntax {
    case .jpeg:
      let image = try DICOMFragments.withFirstFrame(of: file, pixels, deadline: deadline) {
        frame throws(DermaFusionError) in
        try JPEGDecoder.decode(
          frame, part: part, limits: limits, embeddedAsRGB: file.photometricInterpretation == "RGB")
      }
      guard image.width == file.columns, image.height == file.rows else {
        throw .corrupt(
          .dicom,
          reason: "a JPEG of \(image.width)x\(image.height) in an image of \(file.columns)x\(file.rows)")
      }
      return image
    case .runLength:
      let count = file.columns * file.rows
      let planes = file.samples * file.bitsAllocated / 8
      let reservation = try limits.reserve(count * (planes + 3), for: .dicom)
      let values = try DICOMFragments.withFirstFrame(of: file, pixels, deadline: deadline) {
        frame throws(DermaFusionError) in
        try DICOMRuns(frame, samples: file.samples, bytesPerSample: file.bitsAllocated / 8, count: count)
          .values()
      }
      let image = try values.withUnsafeBufferPointer { (values) throws(DermaFusionError) in
        try DICOMPixels(file, bytes: UnsafeRawBufferPointer(values), isPlanar: true, frames: 1).image()
      }
      return DecodedImage(image, reservation: reservation)
    case .native:
      guard !pixels.isUndefined else {
        throw .corrupt(.dicom, reason: "uncompressed pixels of undefined length")
      }
      let reservation = try limits.reserve(file.columns * file.rows * 3, for: .dicom)
      let values = UnsafeRawBufferPointer(rebasing: file.bytes[pixels.value])
      return DecodedImage(
        try DICOMPixels(file, bytes: values, isPlanar: file.isPlanar, frames: file.frames).image(),
        reservation: reservation)
    }
  }

  /// How large the image is with square pixels. Spacings are rounded: what is within a hundredth of a square is one.
  private static func squareSize(_ file: DICOMFile) throws(DermaFusionError) -> (width: Int, height: Int) {
    let ratio = file.pixelHeight
    guard (1.0 / 16...16).contains(ratio) else {
      throw .unsupportedVariant(.dicom, reason: "pixels that are \(ratio) times as high as wide")
    }
    if abs(ratio - 1) <= 0.01 { return (file.columns, file.rows) }
    // The shorter spacing stays: enlarging loses no detail.
    return ratio > 1
      ? (file.columns, Int((Double(file.rows) * ratio).rounded()))
      : (Int((Double(file.columns) / ratio).rounded()), file.rows)
  }

  private static func resampled(
    _ image: DecodedImage, _ size: (width: Int, height: Int), limits: DecodingLimits
  ) throws(DermaFusionError) -> DecodedImage {
    // Not reserved: if two images waited for each other's memory, neither would go on.
    let byteCount = size.width * size.height * 3
    guard byteCount <= limits.memory else {
      throw .tooMuchMemory(.dicom, byteCount: byteCount, limit: limits.memory)
    }
    var square = DecodedImage(
      image.pixels.resized(width: size.width, height: size.height), damage: image.damage)
    square.isResampled = true
    return square
  }

  private static func requireSupport(_ file: DICOMFile) throws(DermaFusionError) {
    let interpretation = file.photometricInterpretation
    let samples: Int
    switch interpretation {
    case "RGB", "YBR_FULL", "YBR_FULL_422": samples = 3
    case "MONOCHROME2": samples = 1
    case "PALETTE COLOR":
      if file.syntax == .jpeg {
        throw .unsupportedVariant(.dicom, reason: "a palette whose indices are compressed as JPEG")
      }
      samples = 1
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
    guard (file.bitsStored - 1..<file.bitsAllocated).contains(file.highBit) else {
      throw .corrupt(
        .dicom,
        reason: "\(file.bitsStored) bits stored in \(file.bitsAllocated) with \(file.highBit) as the highest")
    }
    guard !file.isSigned else {
      throw .unsupportedVariant(.dicom, reason: "signed pixels")
    }
  }
}

/// The fragments of encapsulated pixels that belong to the first frame.
enum DICOMFragments {
  static func withFirstFrame<Result>(
    of file: DICOMFile, _ pixels: DICOMElement, deadline: DecodingDeadline,
    _ body: (UnsafeRawBufferPointer) throws(DermaFusionError) -> Result
  ) throws(DermaFusionError) -> Result {
    guard pixels.isUndefined else {
      throw .corrupt(.dicom, reason: "compressed pixels that are not encapsulated")
    }
    let reader = ByteReader(file.bytes)
    let items = try DICOMElements(reader: reader, deadline: deadline).fragments(of: pixels)
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
