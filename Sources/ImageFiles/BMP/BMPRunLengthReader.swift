import ImagePipeline
import SystemModule

/// The runs of a bitmap with 4 or 8 bits per pixel, taken apart as Pillow's `BmpRleDecoder` does.
struct BMPRunLengthReader {
  private let bytes: UnsafeRawBufferPointer
  private var position: Int
  private let width: Int
  /// Pixels of the image, and those that were read.
  private let count: Int
  private var readCount = 0
  private let bits: Int
  /// Indices that wait until their row is complete.
  private var waiting: [UInt8] = []
  private var x = 0

  init(_ bytes: UnsafeRawBufferPointer, start: Int, width: Int, height: Int, bits: Int) {
    self.bytes = bytes
    position = start
    self.width = width
    count = width * height
    self.bits = bits
  }

  /// Hands over the index of each pixel, row by row, `[width]`, and the row's number in the order in which they are stored.
  mutating func readRows(_ body: (UnsafeRawBufferPointer, _ index: Int) -> Void) throws(DermaFusionError) {
    let rowCount = count / width
    var row = 0
    var goesOn = true
    while row < rowCount, goesOn {
      goesOn = readCount < count && readRun()
      var start = 0
      while row < rowCount, waiting.count - start >= width {
        waiting.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + width]), row) }
        start += width
        row += 1
      }
      waiting.removeFirst(start)
    }
    guard readCount >= count else {
      throw .truncated(.bmp, reason: "the runs end after \(readCount) of \(count) pixels")
    }
  }

  private mutating func append(_ index: UInt8) {
    waiting.append(index)
    readCount += 1
  }

  private mutating func appendZeros(_ count: Int) {
    waiting.append(contentsOf: repeatElement(0, count: count))
    readCount += count
  }

  /// - Returns: false where the bitmap ends, or its data do.
  private mutating func readRun() -> Bool {
    guard let first = next(), let second = next() else { return false }
    if first > 0 {
      // What does not fit in the row is left out.
      let length = max(0, min(Int(first), width - x))
      for index in 0..<length { append(value(of: second, at: index)) }
      x += length
      return true
    }
    switch second {
    case 0:
      let rest = readCount % width
      if rest > 0 { appendZeros(width - rest) }
      x = 0
      return true
    case 1:
      return false
    case 2:
      guard let right = next(), let up = next() else { return false }
      appendZeros(min(count - readCount, Int(right) + Int(up) * width))
      x = readCount % width
      return true
    default:
      return readPlain(Int(second))
    }
  }

  /// Pixels one by one, filled up to an even position in the file.
  private mutating func readPlain(_ stated: Int) -> Bool {
    let length = min(count - readCount, stated)
    for index in 0..<(length * bits + 7) / 8 {
      guard let byte = next() else { return false }
      append(value(of: byte, at: 0))
      if bits == 4, index * 2 + 1 < length { append(value(of: byte, at: 1)) }
    }
    if readCount == count { return false }
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
