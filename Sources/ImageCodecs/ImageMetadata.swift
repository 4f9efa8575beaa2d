import ImagePipeline
import SystemModule

extension String {
  /// A C array of characters, up to the first zero.
  init<Characters>(untilZeroIn characters: Characters) {
    self = withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}

extension Orientation {
  /// Takes the orientation from Exif and, where Exif has none, from XMP, as Pillow's `getexif` does.
  ///
  /// Values outside 1...8 and unreadable metadata leave the image as it is.
  init(exif: [UInt8]?, xmp: [UInt8]?) {
    var value: Int?
    if let exif {
      let withoutMarker = Self.withoutMarkers(exif)
      if !withoutMarker.isEmpty {
        let directory = withoutMarker.withUnsafeBytes { bytes in
          TIFFDirectory(exif: bytes).map { $0.wholeNumber(274) }
        }
        guard let directory else {
          self = .upright
          return
        }
        value = directory
      }
    }
    if value == nil, let xmp { value = Self.value(inXMP: xmp) }
    self = value.flatMap(Orientation.init(rawValue:)) ?? .upright
  }

  /// Pillow skips the marker once or twice.
  private static func withoutMarkers(_ exif: [UInt8]) -> ArraySlice<UInt8> {
    let marker = Array("Exif\0\0".utf8)
    var rest = exif[...]
    for _ in 0..<2 where rest.starts(with: marker) { rest = rest.dropFirst(marker.count) }
    return rest
  }

  /// Finds `tiff:Orientation="N"` or `tiff:Orientation>N`, as the regular expression in Pillow does.
  private static func value(inXMP xmp: [UInt8]) -> Int? {
    let name = Array("tiff:Orientation".utf8)
    var rest = xmp[...]
    while let start = rest.firstIndex(of: name[0]) {
      rest = rest[start...]
      if rest.starts(with: name) {
        var tail = rest.dropFirst(name.count)
        let isAttribute = tail.starts(with: Array("=\"".utf8))
        if isAttribute || tail.first == UInt8(ascii: ">") {
          tail = tail.dropFirst(isAttribute ? 2 : 1)
          if let digit = tail.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
            return Int(digit - UInt8(ascii: "0"))
          }
        }
      }
      rest = rest.dropFirst()
    }
    return nil
  }
}

/// A directory of a TIFF structure: that of the picture in a TIFF or BigTIFF file (``TIFFPages``), or the first of Exif metadata.
struct TIFFDirectory {
  private struct Entry {
    let type: Int
    let count: Int
    let position: Int
  }

  let reader: ByteReader
  /// Its place, if it is not the file's first.
  private(set) var offset: Int?
  /// The number of pictures in the file.
  private(set) var facts = FileFacts()
  private var entries: [Int: Entry] = [:]

  /// Bytes of one value, by the numbers of the types. Exif has the first 16.
  private static let unitSizes = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
  ]

  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
    [0x2A, 0x2B].contains { (version: UInt8) in
      bytes.starts(with: [0x49, 0x49, version, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, version])
    }
  }

  /// The directory of a file's picture. Entries whose data lie outside are left out; of several entries of a tag the last counts.
  init(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
    reader = ByteReader(bytes, isBigEndian: bytes.first == UInt8(ascii: "M"))
    let isBig = reader.integer16(at: 2) == 43
    let offsetSize = isBig ? 8 : 4
    let entrySize = 4 + 2 * offsetSize
    func offset(at position: Int) -> Int? {
      isBig ? reader.integer64(at: position) : reader.integer32(at: position)
    }
    let pages = TIFFPages(bytes)
    if !pages.isFirst { self.offset = pages.picture }
    facts = FileFacts(pictureCount: pages.pictureCount, isCutOff: pages.isCutOff)
    guard let start = pages.picture,
      let count = isBig ? reader.integer64(at: start) : reader.integer16(at: start)
    else { throw .truncated(.tiff, reason: "the data end before the directory") }
    let first = start + (isBig ? 8 : 2)
    guard count <= 65536, reader.bytes(at: first, count: count * entrySize) != nil else {
      throw .truncated(.tiff, reason: "the data end in the directory")
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

  /// The directory of Exif metadata, nil where their header is not TIFF's. Reads exactly as far as Pillow's
  /// `ImageFileDirectory_v2.load`: an entry whose data lie outside ends the directory, and one that claims more data than
  /// there are is skipped.
  ///
  /// - Parameter offset: of another directory than the first.
  init?(exif bytes: UnsafeRawBufferPointer, at offset: Int? = nil) {
    guard bytes.count >= 8 else { return nil }
    let isBigEndian: Bool
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0x4D, 0x4D, 0, 0x2A), (0x4D, 0x4D, 0x2A, 0), (0x4D, 0x4D, 0, 0x2B): isBigEndian = true
    case (0x49, 0x49, 0x2A, 0), (0x49, 0x49, 0, 0x2A): isBigEndian = false
    default: return nil
    }
    reader = ByteReader(bytes, isBigEndian: isBigEndian)
    guard let start = offset ?? reader.integer32(at: 4), let entryCount = reader.integer16(at: start) else {
      return
    }
    var totalSize = 0
    for index in 0..<entryCount {
      let position = start + 2 + index * 12
      guard let tag = reader.integer16(at: position), let type = reader.integer16(at: position + 2),
        let count = reader.integer32(at: position + 4), let offset = reader.integer32(at: position + 8)
      else { return }
      guard type <= 16, let unitSize = Self.unitSizes[type] else { continue }
      let size = count * unitSize
      if size > 4 {
        totalSize += size
        guard totalSize <= bytes.count else { continue }
        guard offset + size <= bytes.count else { return }
      }
      if entries[tag] == nil, size > 0 {
        entries[tag] = Entry(type: type, count: count, position: size > 4 ? offset : position + 8)
      }
    }
  }

  /// True if Exif says that the colours are Adobe RGB, as cameras do that embed no profile: the index of the directory for
  /// interoperability is `R03` (DCF, option file).
  static func statesAdobeRGB(exif bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = TIFFDirectory(exif: bytes)?.integer(0x8769),
      let second = TIFFDirectory(exif: bytes, at: first)?.integer(0xA005),
      let index = TIFFDirectory(exif: bytes, at: second)?.bytes(1)
    else { return false }
    return index.starts(with: Array("R03".utf8))
  }

  /// The most values of a tag that are looked at together: those of a palette of 16 bits. A tag may claim every byte of a file.
  private static let valueLimit = 3 << 16

  /// The whole numbers of a tag, of more than ``valueLimit`` the first; nil where it is absent or has others.
  func integers(_ tag: Int) -> [Int]? {
    guard let entry = entries[tag], entry.count > 0 else { return nil }
    var values: [Int] = []
    for index in 0..<min(entry.count, Self.valueLimit) {
      guard let value = integer(tag, at: index) else { return nil }
      values.append(value)
    }
    return values
  }

  func count(_ tag: Int) -> Int { entries[tag]?.count ?? 0 }

  /// A value of a tag; nil where there is none, or it is not a whole number.
  func integer(_ tag: Int, at index: Int = 0) -> Int? {
    guard let entry = entries[tag], let size = Self.unitSizes[entry.type], index < entry.count else {
      return nil
    }
    return integer(at: entry.position + index * size, type: entry.type)
  }

  private func integer(at position: Int, type: Int) -> Int? {
    switch type {
    case 1, 6, 7: reader.byte(at: position)
    case 3, 8: reader.integer16(at: position)
    case 4, 9, 13: reader.integer32(at: position)
    case 16, 17, 18: reader.integer64(at: position)
    default: nil
    }
  }

  /// A tag's first value where it is a whole number, as Pillow compares numbers of every type; 0 where it is another value, nil
  /// where the tag is absent.
  func wholeNumber(_ tag: Int) -> Int? {
    guard let entry = entries[tag] else { return nil }
    let first = reader.integer32(at: entry.position) ?? 0
    let second = reader.integer32(at: entry.position + 4) ?? 0
    func signed(_ value: Int) -> Int { Int(Int32(truncatingIfNeeded: value)) }
    func quotient(_ numerator: Int, _ denominator: Int) -> Int {
      denominator != 0 && numerator.isMultiple(of: denominator) ? numerator / denominator : 0
    }
    return switch entry.type {
    // Pillow takes them for bytes.
    case 1, 7: 0
    case 5: quotient(first, second)
    case 10: quotient(signed(first), signed(second))
    case 11: Int(exactly: Float(bitPattern: UInt32(first))) ?? 0
    case 12:
      reader.integer64(at: entry.position).flatMap { Int(exactly: Double(bitPattern: UInt64($0))) } ?? 0
    default: integer(at: entry.position, type: entry.type) ?? 0
    }
  }

  /// The bytes of a tag whatever their type, of more than 16 MB the first.
  func bytes(_ tag: Int) -> [UInt8]? {
    guard let entry = entries[tag], let size = Self.unitSizes[entry.type] else { return nil }
    return reader.bytes(at: entry.position, count: min(entry.count * size, 1 << 24)).map(Array.init)
  }
}

/// ImageMagick's way to put binary metadata into PNG text: three lines of heading, then hexadecimal digits.
enum RawProfile {
  static func bytes(_ text: [UInt8]) -> [UInt8]? {
    let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4 else { return nil }
    var result: [UInt8] = []
    var high: UInt8?
    for character in lines[3] where !character.isASCIIWhitespace {
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      if let first = high {
        result.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    return high == nil ? result : nil
  }
}
