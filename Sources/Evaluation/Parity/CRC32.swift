/// The checksum of zlib and PNG (polynomial 0xEDB88320, reflected).
package enum CRC32 {
  package static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBufferPointer { bytes in
      table.withUnsafeBufferPointer { table in
        var remainder = ~UInt32(0)
        for index in 0..<bytes.count {
          remainder =
            table[Int(UInt8(truncatingIfNeeded: remainder) ^ bytes[index])] ^ remainder >> 8
        }
        return ~remainder
      }
    }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}
