import SystemModule

/// The directories of a TIFF file, looked at before any of them is taken for a picture: a preview must not be classified in the
/// place of the photograph.
///
/// Only tables of entries are read, so that a file can be looked at without its pixels.
struct TIFFPages {
  /// Bytes of the file from an offset; nil where there are fewer than asked for.
  typealias Read = (_ offset: Int, _ count: Int) -> [UInt8]?

  /// The place of the picture's directory: the first at the top level that is not marked as a reduced image. Without
  /// one, the first such directory below another one; without that, the file's first. Nil if the file ends before.
  private(set) var picture: Int?
  /// True if the picture is the file's first directory, which libraries open by themselves.
  private(set) var isFirst = true
  /// True if the file is a camera's raw photograph: what it shows without being developed is a preview.
  private(set) var isRaw = false

  /// The pages at the top level that are pictures: neither reduced images nor masks. Of more than 256 pages those among the first.
  private(set) var pictureCount = 0
  /// True if pages were not counted.
  private(set) var isCutOff = false

  /// A scientific stack has thousands of pages; a photograph does not.
  private static let directoryLimit = 256
  private static let entryLimit = 1 << 18

  private struct Directory {
    var isReduced = false
    var isMask = false
    var isRaw = false
    var below: [Int] = []
    var next: Int?
  }

  init(_ bytes: UnsafeRawBufferPointer) {
    self.init { ByteReader(bytes).bytes(at: $0, count: $1).map(Array.init) }
  }

  init(_ read: Read) {
    guard let header = read(0, 8) else { return }
    let form = header.withUnsafeBytes { Form($0) }
    let first =
      form.isBig ? read(8, 8).flatMap { form.offset(in: $0, at: 0) } : form.offset(in: header, at: 4)
    guard let first else { return }
    picture = first
    var entriesLeft = Self.entryLimit
    var seen: Set<Int> = []
    /// Nil where there is none, or too many were looked at.
    func directory(at offset: Int) -> Directory? {
      guard seen.count < Self.directoryLimit, seen.insert(offset).inserted else { return nil }
      return form.directory(at: offset, entriesLeft: &entriesLeft, read)
    }
    var chosen: Int?
    var chosenBelow: Int?
    var below: [Int] = []
    var next: Int? = first
    while let offset = next, let page = directory(at: offset) {
      if page.isRaw { isRaw = true }
      if chosen == nil, !page.isReduced { chosen = offset }
      if !page.isReduced, !page.isMask { pictureCount += 1 }
      below += page.below
      next = page.next
    }
    isCutOff = next != nil && seen.count >= Self.directoryLimit
    while let offset = below.first {
      below.removeFirst()
      guard let page = directory(at: offset) else { continue }
      if page.isRaw { isRaw = true }
      if chosenBelow == nil, !page.isReduced { chosenBelow = offset }
      below += page.below
    }
    picture = chosen ?? chosenBelow ?? first
    isFirst = picture == first
  }

  /// The form of numbers: byte order, and 32 or 64 bits for offsets.
  private struct Form {
    let isBigEndian: Bool
    let isBig: Bool

    init(_ header: UnsafeRawBufferPointer) {
      isBigEndian = header.first == UInt8(ascii: "M")
      isBig = ByteReader(header, isBigEndian: isBigEndian).integer16(at: 2) == 43
    }

    func offset(in bytes: [UInt8], at position: Int) -> Int? {
      bytes.withUnsafeBytes { bytes in
        let reader = ByteReader(bytes, isBigEndian: isBigEndian)
        return isBig ? reader.integer64(at: position) : reader.integer32(at: position)
      }
    }

    func directory(at start: Int, entriesLeft: inout Int, _ read: Read) -> Directory? {
      let countSize = isBig ? 8 : 2
      let entrySize = isBig ? 20 : 12
      guard let head = read(start, countSize) else { return nil }
      let stated = head.withUnsafeBytes { head in
        let reader = ByteReader(head, isBigEndian: isBigEndian)
        return isBig ? reader.integer64(at: 0) : reader.integer16(at: 0)
      }
      guard let count = stated, count <= min(entriesLeft, 65536),
        let table = read(start + countSize, count * entrySize)
      else { return nil }
      entriesLeft -= count
      var directory = Directory()
      table.withUnsafeBytes { table in
        let reader = ByteReader(table, isBigEndian: isBigEndian)
        for index in 0..<count { add(index * entrySize, of: reader, to: &directory, read) }
      }
      let end = read(start + countSize + count * entrySize, isBig ? 8 : 4)
      directory.next = end.flatMap { offset(in: $0, at: 0) }.flatMap { $0 == 0 ? nil : $0 }
      return directory
    }

    private func add(_ position: Int, of table: ByteReader, to directory: inout Directory, _ read: Read) {
      let field = position + (isBig ? 12 : 8)
      let value =
        switch table.integer16(at: position + 2) {
        case 3: table.integer16(at: field) ?? 0
        case 16, 18: table.integer64(at: field) ?? 0
        default: table.integer32(at: field) ?? 0
        }
      switch table.integer16(at: position) {
      // NewSubfileType and its predecessor.
      case 254:
        if value & 1 == 1 { directory.isReduced = true }
        if value & 4 == 4 { directory.isMask = true }
      case 255: if value == 2 { directory.isReduced = true }
      // A mosaic of colour filters, or what was made of one: Adobe's DNG, chapter 4. Cameras' own formats use them too.
      case 262: if value == 32803 || value == 34892 { directory.isRaw = true }
      // DNGVersion.
      case 50706: directory.isRaw = true
      case 330: directory.below = offsets(of: position, in: table, read)
      default: break
      }
    }

    /// The directories below one, in its tag SubIFDs.
    private func offsets(of position: Int, in table: ByteReader, _ read: Read) -> [Int] {
      let stated = isBig ? table.integer64(at: position + 4) : table.integer32(at: position + 4)
      let count = min(stated ?? 0, TIFFPages.directoryLimit)
      let type = table.integer16(at: position + 2)
      let size = type == 16 || type == 18 ? 8 : 4
      let field = position + (isBig ? 12 : 8)
      let place = isBig ? table.integer64(at: field) : table.integer32(at: field)
      let values =
        count * size <= (isBig ? 8 : 4)
        ? table.bytes(at: field, count: count * size).map(Array.init)
        : place.flatMap { read($0, count * size) }
      return (values ?? []).withUnsafeBytes { values in
        let reader = ByteReader(values, isBigEndian: isBigEndian)
        return (0..<values.count / size).compactMap {
          size == 8 ? reader.integer64(at: $0 * 8) : reader.integer32(at: $0 * 4)
        }
      }
    }
  }
}
