import ImagePipeline
import SystemModule

/// DICOM images: one frame, 8-bit colour, grey or by a palette, uncompressed, in runs, as JPEG, or as JPEG 2000 where the system has
/// its library.
///
/// Values of more than 8 bits are taken by the high 8 of their stored bits, as in other formats; windows and rescaling are not
/// applied. Where the file says that pixels are not square, the image is resampled so that shapes are right.
enum DICOMDecoder {
  /// - Parameter frame: from 1; nil: the only one.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, frame: Int?, part: ImagePart, limits: DecodingLimits
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
    if frame == nil, file.frames > 1 { throw .severalFrames(file.frames) }
    let frame = frame ?? 1
    guard (1...file.frames).contains(frame) else {
      throw .invalidImage(
        "the DICOM holds \(file.frames == 1 ? "one frame" : "\(file.frames) frames"), and frame \(frame) was asked for"
      )
    }
    let isSquare = size == (file.columns, file.rows)
    var image = try stored(
      file, pixels, frame - 1, part: isSquare ? part : .whole, limits: limits, deadline: deadline)
    if !isSquare { image = try resampled(image, size, limits: limits) }
    image.patient = file.patient
    image.details = FileFacts(profile: file.foreignProfile).details
    return image
  }

  /// A frame, counted from 0, as it is stored.
  private static func stored(
    _ file: DICOMFile, _ pixels: DICOMElement, _ index: Int, part: ImagePart, limits: DecodingLimits,
    deadline: DecodingDeadline
  ) throws(DermaFusionError) -> DecodedImage {
    switch file.syntax {
    case .jpeg:
      let image = try DICOMFragments.withFrame(index, of: file, pixels, deadline: deadline) {
        frame throws(DermaFusionError) in
        try JPEGDecoder.decode(
          frame, part: part, limits: limits, embeddedAsRGB: file.photometricInterpretation == "RGB")
      }
      try requireSize(of: image, file, "JPEG")
      return image
    case .jpeg2000:
      return try DICOMFragments.withFrame(index, of: file, pixels, deadline: deadline) {
        frame throws(DermaFusionError) in
        let stream = try JPEG2000Stream(frame)
        try stream.requireSupport(file)
        let image = try SystemLibrary.jpeg2000.decode(
          present: stream.bytes, .jpeg2000, part: part, limits: limits)
        try requireSize(of: image, file, "JPEG 2000")
        // What the code stream transformed is red, green and blue again, whatever the file says of it.
        let isYBR = file.photometricInterpretation.hasPrefix("YBR_FULL") && !stream.transformsColors
        return isYBR ? image.mapped(DICOMPixels.rgb(ofYBR:)) : image
      }
    case .runLength:
      let count = file.columns * file.rows
      let planes = file.samples * file.bitsAllocated / 8
      let reservation = try limits.reserve(count * (planes + 3), for: .dicom)
      let values = try DICOMFragments.withFrame(index, of: file, pixels, deadline: deadline) {
        frame throws(DermaFusionError) in
        try DICOMRuns(frame, samples: file.samples, bytesPerSample: file.bitsAllocated / 8, count: count)
          .values()
      }
      let image = try values.withUnsafeBufferPointer { (values) throws(DermaFusionError) in
        try DICOMPixels(file, bytes: UnsafeRawBufferPointer(values), isPlanar: true, frames: 1).image(0)
      }
      return DecodedImage(image, reservation: reservation)
    case .native:
      guard !pixels.isUndefined else {
        throw .corrupt(.dicom, reason: "uncompressed pixels of undefined length")
      }
      let reservation = try limits.reserve(file.columns * file.rows * 3, for: .dicom)
      let values = UnsafeRawBufferPointer(rebasing: file.bytes[pixels.value])
      return DecodedImage(
        try DICOMPixels(file, bytes: values, isPlanar: file.isPlanar, frames: file.frames).image(index),
        reservation: reservation)
    }
  }

  private static func requireSize(
    of image: DecodedImage, _ file: DICOMFile, _ kind: String
  ) throws(DermaFusionError) {
    guard image.width == file.columns, image.height == file.rows else {
      throw .corrupt(
        .dicom,
        reason: "a \(kind) of \(image.width)x\(image.height) in an image of \(file.columns)x\(file.rows)")
    }
  }

  /// The size of the image with square pixels. Spacings are rounded: what is within a hundredth of a square is one.
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
    // The names of the code stream's own transforms.
    case "YBR_ICT" where file.syntax == .jpeg2000, "YBR_RCT" where file.syntax == .jpeg2000: samples = 3
    case "MONOCHROME2": samples = 1
    case "PALETTE COLOR":
      if file.syntax == .jpeg || file.syntax == .jpeg2000 {
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
