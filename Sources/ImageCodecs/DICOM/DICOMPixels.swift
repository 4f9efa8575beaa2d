import ImagePipeline
import SystemModule

struct DICOMPixels {
  private let file: DICOMFile
  private var bytes: UnsafeRawBufferPointer
  private let isPlanar: Bool
  private let frames: Int
  private let count: Int

  /// - Parameters:
  ///   - bytes: the pixels of all frames.
  ///   - isPlanar: whether each sample lies in a plane of its own.
  init(_ file: DICOMFile, bytes: UnsafeRawBufferPointer, isPlanar: Bool, frames: Int) {
    self.file = file
    self.bytes = bytes
    (self.isPlanar, self.frames) = (isPlanar, frames)
    count = file.columns * file.rows
  }

  /// A frame, counted from 0.
  func image(_ index: Int) throws(DermaFusionError) -> PixelImage {
    // Some files say 4:2:2 and store every pixel's colour. Twice the bytes that 4:2:2 takes are twice the frames.
    let isSubsampled =
      file.photometricInterpretation == "YBR_FULL_422"
      && !(count * 3 * frames..<count * 4 * frames).contains(bytes.count)
    if isSubsampled, file.columns % 2 != 0 {
      throw .unsupportedVariant(.dicom, reason: "YBR_FULL_422 with an odd number of columns")
    }
    let byteCount =
      file.samples == 1 ? count * file.bitsAllocated / 8 : isSubsampled ? count * 2 : count * 3
    guard bytes.count / byteCount > index else {
      throw .truncated(
        .dicom, reason: "\(bytes.count) bytes of pixels where \((index + 1) * byteCount) are needed")
    }
    // Some writers fill the last frame up, not only to an even number of bytes.
    let surplus = bytes.dropFirst(frames * byteCount)
    if surplus.count >= byteCount, surplus.contains(where: { $0 != 0 }) {
      try file.requireStated(bytes.count / byteCount)
    }
    var frame = self
    frame.bytes = UnsafeRawBufferPointer(rebasing: bytes[index * byteCount..<(index + 1) * byteCount])
    return try frame.image(isSubsampled: isSubsampled)
  }

  private func image(isSubsampled: Bool) throws(DermaFusionError) -> PixelImage {
    if file.samples == 1 {
      if file.photometricInterpretation == "PALETTE COLOR" {
        let colors = try file.palette.colors(in: file.bytes)
        return PixelImage(width: file.columns, height: file.rows) { rgb in
          for index in 0..<count {
            let (red, green, blue) = colors[stored(at: index)]
            (rgb[index * 3], rgb[index * 3 + 1], rgb[index * 3 + 2]) = (red, green, blue)
          }
        }
      }
      return PixelImage(width: file.columns, height: file.rows) { rgb in
        for index in 0..<count {
          let value = level(of: stored(at: index))
          for channel in 0..<3 { rgb[index * 3 + channel] = value }
        }
      }
    }
    return PixelImage(width: file.columns, height: file.rows) { rgb in
      let isYBR = file.photometricInterpretation != "RGB"
      for index in 0..<count {
        let values =
          if isSubsampled {
            // Two luminances, then the colour that they share.
            (
              sample(at: index / 2 * 4 + index % 2), sample(at: index / 2 * 4 + 2),
              sample(at: index / 2 * 4 + 3)
            )
          } else if isPlanar {
            (sample(at: index), sample(at: count + index), sample(at: 2 * count + index))
          } else {
            (sample(at: index * 3), sample(at: index * 3 + 1), sample(at: index * 3 + 2))
          }
        (rgb[index * 3], rgb[index * 3 + 1], rgb[index * 3 + 2]) =
          isYBR ? Self.rgb(values.0, values.1, values.2) : values
      }
    }
  }

  static func rgb(ofYBR image: PixelImage) -> PixelImage {
    PixelImage(width: image.width, height: image.height) { rgb in
      for start in stride(from: 0, to: image.pixels.count, by: 3) {
        (rgb[start], rgb[start + 1], rgb[start + 2]) = Self.rgb(
          image.pixels[start], image.pixels[start + 1], image.pixels[start + 2])
      }
    }
  }

  /// A sample by its stored bits, wherever in the allocated ones they lie; in the others some files keep an overlay.
  private func stored(at index: Int) -> Int {
    let allocated =
      file.bitsAllocated == 8 ? Int(bytes[index]) : Int(bytes[index * 2]) | Int(bytes[index * 2 + 1]) << 8
    return allocated >> (file.highBit + 1 - file.bitsStored) & (1 << file.bitsStored - 1)
  }

  private func sample(at index: Int) -> UInt8 { level(of: stored(at: index)) }

  /// The high 8 bits of a value; of fewer bits, the same share of 255.
  private func level(of stored: Int) -> UInt8 { Self.level(of: stored, bits: file.bitsStored) }

  static func level(of stored: Int, bits: Int) -> UInt8 {
    if bits >= 8 { return UInt8(stored >> (bits - 8)) }
    let most = 1 << bits - 1
    return UInt8((stored * 255 + most / 2) / most)
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

/// A frame of RLE Lossless, part 5, annex G: each byte of each sample in a segment of its own, in PackBits' runs.
struct DICOMRuns {
  private let reader: ByteReader
  private let samples: Int
  private let bytesPerSample: Int
  private let count: Int

  private static let headerCount = 64

  /// - Parameter count: pixels of the frame.
  init(_ frame: UnsafeRawBufferPointer, samples: Int, bytesPerSample: Int, count: Int) {
    reader = ByteReader(frame)
    (self.samples, self.bytesPerSample, self.count) = (samples, bytesPerSample, count)
  }

  /// `[samples, count]`, each value as in uncompressed pixels: its low byte first.
  func values() throws(DermaFusionError) -> [UInt8] {
    let segments = samples * bytesPerSample
    guard let stated = reader.integer32(at: 0), reader.count >= Self.headerCount else {
      throw .truncated(.dicom, reason: "the data end in the header of the runs")
    }
    guard stated == segments else {
      throw .corrupt(.dicom, reason: "\(stated) segments of runs where \(segments) are needed")
    }
    var starts = (0..<segments).compactMap { reader.integer32(at: 4 + $0 * 4) }
    starts.append(reader.count)
    var values = [UInt8](repeating: 0, count: segments * count)
    for segment in 0..<segments {
      let (start, end) = (starts[segment], starts[segment + 1])
      guard start >= Self.headerCount, start <= end, end <= reader.count else {
        throw .corrupt(.dicom, reason: "a segment of runs from byte \(start) to \(end)")
      }
      // The high byte comes first.
      let (sample, byte) = (segment / bytesPerSample, bytesPerSample - 1 - segment % bytesPerSample)
      try values.withUnsafeMutableBufferPointer { (values) throws(DermaFusionError) in
        try unpack(start..<end, into: values, from: sample * count * bytesPerSample + byte)
      }
    }
    return values
  }

  private func unpack(
    _ range: Range<Int>, into values: UnsafeMutableBufferPointer<UInt8>, from first: Int
  ) throws(DermaFusionError) {
    let bytes = reader.bytes
    var (position, written) = (range.lowerBound, 0)
    func write(_ value: UInt8) {
      values[first + written * bytesPerSample] = value
      written += 1
    }
    // A run may go on behind the last pixel, to fill the segment up.
    while written < count, position < range.upperBound {
      let head = Int(bytes[position])
      position += 1
      if head < 128 {
        let end = min(position + head + 1, range.upperBound)
        for index in position..<min(end, position + count - written) { write(bytes[index]) }
        position = end
      } else if head > 128, position < range.upperBound {
        for _ in 0..<min(257 - head, count - written) { write(bytes[position]) }
        position += 1
      }
    }
    guard written == count else {
      throw .truncated(.dicom, reason: "\(written) values in a segment of runs where \(count) are needed")
    }
  }
}

/// A palette of a DICOM image: for each channel a descriptor and a table, part 3, C.7.6.3.1.5.
struct DICOMPalette {
  private var elements: [Int: DICOMElement] = [:]

  mutating func add(_ element: DICOMElement) { elements[element.tag] = element }

  /// The colours of the values from a first one on. Values below have the first colour, values above the last.
  struct Colors {
    fileprivate let first: Int
    fileprivate let values: [(UInt8, UInt8, UInt8)]

    subscript(value: Int) -> (UInt8, UInt8, UInt8) { values[max(0, min(value - first, values.count - 1))] }
  }

  /// - Parameter bytes: of the file.
  func colors(in bytes: UnsafeRawBufferPointer) throws(DermaFusionError) -> Colors {
    if elements[0x0028_1221] != nil, elements[0x0028_1201] == nil {
      throw .unsupportedVariant(.dicom, reason: "a palette in segments")
    }
    let reader = ByteReader(bytes)
    // The channels have the same descriptor.
    guard let descriptor = elements[0x0028_1101]?.value, descriptor.count >= 6,
      let stated = reader.integer16(at: descriptor.lowerBound),
      let first = reader.integer16(at: descriptor.lowerBound + 2),
      let bits = reader.integer16(at: descriptor.lowerBound + 4)
    else { throw .corrupt(.dicom, reason: "the palette is missing") }
    let count = stated == 0 ? 1 << 16 : stated
    guard bits == 8 || bits == 16 else {
      throw .unsupportedVariant(.dicom, reason: "a palette of \(bits) bits")
    }
    var channels: [[UInt8]] = []
    for tag in 0x0028_1201...0x0028_1203 {
      guard let data = elements[tag]?.value else {
        throw .corrupt(.dicom, reason: "the palette is missing")
      }
      guard data.count == count * 2 || data.count == count + count % 2 else {
        throw .corrupt(.dicom, reason: "a palette of \(data.count) bytes for \(count) colours")
      }
      // Colours of 8 bits may lie in 16; of 16 bits the high byte is taken.
      let (step, offset) = data.count == count * 2 ? (2, bits == 16 ? 1 : 0) : (1, 0)
      channels.append((0..<count).map { bytes[data.lowerBound + $0 * step + offset] })
    }
    return Colors(
      first: first, values: (0..<count).map { (channels[0][$0], channels[1][$0], channels[2][$0]) })
  }
}
