import ImagePipeline

/// The runs of a bitmap with 4 or 8 bits per pixel, taken apart as Pillow's `BmpRleDecoder` does.
struct BMPRunLengthReader {
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private let width: Int
  private let count: Int
  private let bits: Int
  /// Grows with what the file holds, not with what its header claims.
  private var result: [UInt8] = []
  private var x = 0

  init(_ bytes: UnsafeRawBufferPointer, start: Int, width: Int, height: Int, bits: Int) {
    self.bytes = bytes
    position = start
    self.width = width
    count = width * height
    self.bits = bits
  }

  /// An index for each pixel, `[height, width]`, in the order in which the rows are stored.
  mutating func indices() throws(ImageError) -> [UInt8] {
    while result.count < count, readRun() {}
    guard result.count >= count else {
      throw .truncated(.bmp, reason: "the runs end after \(result.count) of \(count) pixels")
    }
    return result
  }

  /// - Returns: false where the bitmap ends, or its data do.
  private mutating func readRun() -> Bool {
    guard let first = next(), let second = next() else { return false }
    if first > 0 {
      // What does not fit in the row is left out.
      let length = max(0, min(Int(first), width - x))
      for index in 0..<length { result.append(value(of: second, at: index)) }
      x += length
      return true
    }
    switch second {
    case 0:
      let rest = result.count % width
      if rest > 0 { result += repeatElement(0, count: width - rest) }
      x = 0
      return true
    case 1:
      return false
    case 2:
      guard let right = next(), let up = next() else { return false }
      result += repeatElement(0, count: min(count - result.count, Int(right) + Int(up) * width))
      x = result.count % width
      return true
    default:
      return readPlain(Int(second))
    }
  }

  /// Pixels one by one, filled up to an even position in the file.
  private mutating func readPlain(_ stated: Int) -> Bool {
    let length = min(count - result.count, stated)
    for index in 0..<(length * bits + 7) / 8 {
      guard let byte = next() else { return false }
      result.append(value(of: byte, at: 0))
      if bits == 4, index * 2 + 1 < length { result.append(value(of: byte, at: 1)) }
    }
    if result.count == count { return false }
    x += stated
    if position % 2 != 0 { position += 1 }
    return true
  }

  /// The whole byte, or one of its halves.
  private func value(of byte: UInt8, at index: Int) -> UInt8 {
    bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15
  }

  private mutating func next() -> UInt8? {
    guard bytes.indices.contains(position) else { return nil }
    defer { position += 1 }
    return bytes[position]
  }
}
