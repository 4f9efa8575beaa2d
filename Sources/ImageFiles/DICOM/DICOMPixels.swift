import ImagePipeline
import SystemModule

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
