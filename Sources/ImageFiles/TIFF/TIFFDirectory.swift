import ImagePipeline
import SystemModule

/// The first directory of a TIFF or BigTIFF file.
struct TIFFDirectory {
  private struct Entry {
    let type: Int
    let count: Int
    let position: Int
  }

  let reader: ByteReader
  private var entries: [Int: Entry] = [:]

  /// Bytes of one value, by the numbers of the types.
  private static let unitSizes = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
  ]

  init(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
    reader = ByteReader(bytes, isBigEndian: bytes.first == UInt8(ascii: "M"))
    let isBig = reader.integer16(at: 2) == 43
    let offsetSize = isBig ? 8 : 4
    let entrySize = 4 + 2 * offsetSize
    func offset(at position: Int) -> Int? {
      isBig ? reader.integer64(at: position) : reader.integer32(at: position)
    }
    guard let start = offset(at: isBig ? 8 : 4),
      let count = isBig ? reader.integer64(at: start) : reader.integer16(at: start)
    else { throw .truncated(.tiff, reason: "the data end before the first directory") }
    let first = start + (isBig ? 8 : 2)
    guard count <= 65536, reader.bytes(at: first, count: count * entrySize) != nil else {
      throw .truncated(.tiff, reason: "the data end in the first directory")
    }
    for index in 0..<count {
      let position = first + index * entrySize
      guard let tag = reader.integer16(at: position), let type = reader.integer16(at: position + 2),
        let count = offset(at: position + 4), let unitSize = Self.unitSizes[type],
        count <= reader.count / unitSize
      else { continue }
      let isInside = count * unitSize <= offsetSize
      let place = isInside ? position + 4 + offsetSize : offset(at: position + 4 + offsetSize)
      guard let place, reader.bytes(at: place, count: count * unitSize) != nil else { continue }
      entries[tag] = Entry(type: type, count: count, position: place)
    }
  }

  /// The whole numbers of a tag; nil where it is absent or has others.
  func integers(_ tag: Int) -> [Int]? {
    guard let entry = entries[tag], entry.count > 0, let size = Self.unitSizes[entry.type] else { return nil }
    var values: [Int] = []
    values.reserveCapacity(entry.count)
    for index in 0..<entry.count {
      let position = entry.position + index * size
      let value: Int? =
        switch entry.type {
        case 1, 6, 7: reader.byte(at: position)
        case 3, 8: reader.integer16(at: position)
        case 4, 9, 13: reader.integer32(at: position)
        case 16, 17, 18: reader.integer64(at: position)
        default: nil
        }
      guard let value else { return nil }
      values.append(value)
    }
    return values
  }

  func integer(_ tag: Int) -> Int? { integers(tag)?.first }

  /// The bytes of a tag whatever their type.
  func bytes(_ tag: Int) -> [UInt8]? {
    guard let entry = entries[tag], let size = Self.unitSizes[entry.type] else { return nil }
    return reader.bytes(at: entry.position, count: entry.count * size).map(Array.init)
  }
}

extension TIFFDirectory {
  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
    [0x2A, 0x2B].contains { (version: UInt8) in
      bytes.starts(with: [0x49, 0x49, version, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, version])
    }
  }
}
