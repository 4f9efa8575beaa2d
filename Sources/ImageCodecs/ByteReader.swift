/// Reads numbers from foreign bytes; what lies outside of them is nil.
package struct ByteReader {
  let bytes: UnsafeRawBufferPointer
  let isBigEndian: Bool

  package init(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool = false) {
    self.bytes = bytes
    self.isBigEndian = isBigEndian
  }

  var count: Int { bytes.count }

  func byte(at position: Int) -> Int? {
    bytes.indices.contains(position) ? Int(bytes[position]) : nil
  }

  func integer16(at position: Int) -> Int? {
    unaligned(UInt16.self, at: position).map { Int(isBigEndian ? $0.bigEndian : $0.littleEndian) }
  }

  package func integer32(at position: Int) -> Int? {
    unaligned(UInt32.self, at: position).map { Int(isBigEndian ? $0.bigEndian : $0.littleEndian) }
  }

  /// Nil too where the number is above `Int.max`.
  func integer64(at position: Int) -> Int? {
    unaligned(UInt64.self, at: position).flatMap {
      Int(exactly: isBigEndian ? $0.bigEndian : $0.littleEndian)
    }
  }

  package func bytes(at position: Int, count: Int) -> UnsafeRawBufferPointer? {
    guard position >= 0, count >= 0, position <= bytes.count, count <= bytes.count - position else {
      return nil
    }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  package func holds(_ text: StaticString, at position: Int) -> Bool {
    guard let found = bytes(at: position, count: text.utf8CodeUnitCount) else { return false }
    return text.withUTF8Buffer { found.elementsEqual($0) }
  }

  private func unaligned<Number: BitwiseCopyable>(_ type: Number.Type, at position: Int) -> Number? {
    bytes(at: position, count: MemoryLayout<Number>.size).map { $0.loadUnaligned(as: type) }
  }
}
