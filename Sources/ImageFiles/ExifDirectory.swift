import ImagePipeline

/// The first directory of a TIFF structure, as Exif metadata are stored.
///
/// Reads exactly as far as Pillow's `ImageFileDirectory_v2.load`: an entry whose data lie outside ends the directory, and
/// one that claims more data than there are is skipped.
struct ExifDirectory {
  private let bytes: [UInt8]
  private let isBigEndian: Bool

  /// Takes the header apart; nil when it is not TIFF's.
  init?(_ data: ArraySlice<UInt8>) {
    let bytes = Array(data)
    guard bytes.count >= 8 else { return nil }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0x4D, 0x4D, 0, 0x2A), (0x4D, 0x4D, 0x2A, 0), (0x4D, 0x4D, 0, 0x2B): isBigEndian = true
    case (0x49, 0x49, 0x2A, 0), (0x49, 0x49, 0, 0x2A): isBigEndian = false
    default: return nil
    }
    self.bytes = bytes
  }

  /// The first value of a numeric tag when it is a whole number, 0 when it is none, or nil when the tag is absent.
  func firstInteger(ofTag wanted: Int) -> Int? {
    let directory = integer(at: 4, size: 4)
    guard directory + 2 <= bytes.count else { return nil }
    var totalSize = 0
    for index in 0..<integer(at: directory, size: 2) {
      let entry = directory + 2 + index * 12
      guard entry + 12 <= bytes.count else { return nil }
      guard let unitSize = Self.unitSizes[integer(at: entry + 2, size: 2)] else { continue }
      let size = integer(at: entry + 4, size: 4) * unitSize
      var location = entry + 8
      if size > 4 {
        totalSize += size
        guard totalSize <= bytes.count else { continue }
        location = integer(at: entry + 8, size: 4)
        guard location + size <= bytes.count else { return nil }
      }
      if integer(at: entry, size: 2) == wanted, size > 0 {
        return value(at: location, type: integer(at: entry + 2, size: 2))
      }
    }
    return nil
  }

  /// Bytes of one value, by TIFF's type numbers.
  private static let unitSizes = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8,
  ]

  private func value(at location: Int, type: Int) -> Int {
    switch type {
    case 3, 8: integer(at: location, size: 2)
    case 4, 9, 13: integer(at: location, size: 4)
    case 6: integer(at: location, size: 1)
    case 16: integer(at: location, size: 8)
    case 5: quotient(integer(at: location, size: 4), integer(at: location + 4, size: 4))
    case 10: quotient(signedInteger(at: location), signedInteger(at: location + 4))
    case 11: Int(exactly: Float(bitPattern: UInt32(integer(at: location, size: 4)))) ?? 0
    case 12: Int(exactly: Double(bitPattern: UInt64(truncatingIfNeeded: integer(at: location, size: 8)))) ?? 0
    default: 0
    }
  }

  private func quotient(_ numerator: Int, _ denominator: Int) -> Int {
    denominator != 0 && numerator.isMultiple(of: denominator) ? numerator / denominator : 0
  }

  private func signedInteger(at location: Int) -> Int {
    Int(Int32(truncatingIfNeeded: integer(at: location, size: 4)))
  }

  private func integer(at location: Int, size: Int) -> Int {
    let part = bytes[location..<location + size]
    let ordered = isBigEndian ? Array(part) : part.reversed()
    return ordered.reduce(0) { $0 << 8 | Int($1) }
  }
}
