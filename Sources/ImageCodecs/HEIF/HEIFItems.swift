/// The items of a HEIF file and its film (ISO/IEC 23008-12): how many of them are pictures, and the profile of the primary one.
struct HEIFItems {
  private var primary: Int?
  /// The items that are pictures of their own, besides the primary: neither hidden nor made for another item.
  private var pictures: Set<Int> = []
  /// The profile of the primary item; of files that do not say which it is, all.
  private var profile: String?
  /// Pictures of a film.
  private var frameCount = 0

  var facts: FileFacts {
    FileFacts(
      pictureCount: max(1, frameCount, pictures.subtracting([primary].compactMap(\.self)).count + 1),
      profile: profile)
  }

  /// - Parameter meta: the boxes in the file's box `meta`.
  mutating func read(_ reader: ByteReader, _ meta: Range<Int>) {
    HEIFFile.forEachBox(reader, "pitm", in: meta) { box in
      let isLong = reader.byte(at: box.lowerBound) != 0
      primary = isLong ? reader.integer32(at: box.lowerBound + 4) : reader.integer16(at: box.lowerBound + 4)
    }
    HEIFFile.forEachBox(reader, "iinf", in: meta) { box in
      let entries = box.dropFirst(reader.byte(at: box.lowerBound) == 0 ? 6 : 8)
      HEIFFile.forEachBox(reader, "infe", in: entries) { readItem(reader, $0) }
    }
    HEIFFile.forEachBox(reader, "iref", in: meta) { box in
      let isLong = reader.byte(at: box.lowerBound) != 0
      for kind: StaticString in ["thmb", "auxl", "dimg"] {
        HEIFFile.forEachBox(reader, kind, in: box.dropFirst(4)) {
          readReference(reader, $0, isLong: isLong, isToParts: reader.holds("dimg", at: $0.lowerBound - 4))
        }
      }
    }
    HEIFFile.forEachBox(reader, "iprp", in: meta) { readProfile(reader, $0) }
  }

  private mutating func readItem(_ reader: ByteReader, _ box: Range<Int>) {
    // Before version 2 an item has no type.
    guard let version = reader.byte(at: box.lowerBound), version >= 2 else { return }
    let isLong = version > 2
    let start = box.lowerBound + 4
    guard let id = isLong ? reader.integer32(at: start) : reader.integer16(at: start),
      let flags = reader.byte(at: box.lowerBound + 3)
    else { return }
    let type = start + (isLong ? 6 : 4)
    let types: [StaticString] = ["hvc1", "av01", "grid", "iovl", "iden", "jpeg", "avc1", "unci"]
    if flags & 1 == 0, types.contains(where: { reader.holds($0, at: type) }) { pictures.insert(id) }
  }

  /// Takes out the items that a reference makes parts of others.
  ///
  /// - Parameter isToParts: true if it goes from the whole to its parts; otherwise from a part to its whole.
  private mutating func readReference(
    _ reader: ByteReader, _ box: Range<Int>, isLong: Bool, isToParts: Bool
  ) {
    let size = isLong ? 4 : 2
    func id(_ index: Int) -> Int? {
      // The item that refers, then the number of the others, then these.
      let place = box.lowerBound + (index == 0 ? 0 : size + 2 + (index - 1) * size)
      return isLong ? reader.integer32(at: place) : reader.integer16(at: place)
    }
    guard let from = id(0), let count = reader.integer16(at: box.lowerBound + size) else { return }
    if !isToParts {
      pictures.remove(from)
    } else {
      for index in 0..<min(count, box.count / size) { if let part = id(index + 1) { pictures.remove(part) } }
    }
  }

  /// Reads the box `colr` among the properties of the primary item.
  private mutating func readProfile(_ reader: ByteReader, _ properties: Range<Int>) {
    var colors: [Int: String] = [:]
    HEIFFile.forEachBox(reader, "ipco", in: properties) { list in
      var index = 0
      HEIFFile.forEachBox(reader, in: list) { box in
        index += 1
        guard reader.holds("colr", at: box.lowerBound - 4) else { return }
        colors[index] = Self.name(reader, box)
      }
    }
    guard !colors.isEmpty else { return }
    HEIFFile.forEachBox(reader, "ipma", in: properties) { box in
      for index in Self.properties(of: primary, reader, box) where profile == nil { profile = colors[index] }
    }
  }

  private static func name(_ reader: ByteReader, _ box: Range<Int>) -> String? {
    if reader.holds("nclx", at: box.lowerBound) {
      return reader.integer16(at: box.lowerBound + 4).flatMap { ColorProfile.foreignName(codePoint: $0) }
    }
    guard reader.holds("prof", at: box.lowerBound) || reader.holds("rICC", at: box.lowerBound) else {
      return nil
    }
    return reader.bytes(at: box.lowerBound + 4, count: box.count - 4).flatMap {
      ColorProfile.foreignName(icc: $0)
    }
  }

  /// The numbers of an item's properties, from 1.
  private static func properties(of item: Int?, _ reader: ByteReader, _ box: Range<Int>) -> [Int] {
    guard let version = reader.byte(at: box.lowerBound), let flags = reader.byte(at: box.lowerBound + 3),
      let itemCount = reader.integer32(at: box.lowerBound + 4)
    else { return [] }
    let (idSize, size) = (version < 1 ? 2 : 4, flags & 1 == 1 ? 2 : 1)
    var position = box.lowerBound + 8
    // Each item takes at least three bytes.
    for _ in 0..<min(itemCount, box.count / 3) {
      guard let id = idSize == 2 ? reader.integer16(at: position) : reader.integer32(at: position),
        let count = reader.byte(at: position + idSize)
      else { return [] }
      let first = position + idSize + 1
      if id == item {
        return (0..<count).compactMap { index in
          size == 2
            ? reader.integer16(at: first + index * 2).map { $0 & 0x7FFF }
            : reader.byte(at: first + index).map { $0 & 0x7F }
        }
      }
      position = first + count * size
    }
    return []
  }

  /// The samples of the first track of pictures.
  mutating func readFilm(_ reader: ByteReader, _ film: Range<Int>) {
    HEIFFile.forEachBox(reader, "trak", in: film) { track in
      HEIFFile.forEachBox(reader, "mdia", in: track) { media in
        var isOfPictures = false
        HEIFFile.forEachBox(reader, "hdlr", in: media) {
          isOfPictures = reader.holds("pict", at: $0.lowerBound + 8)
        }
        guard isOfPictures, frameCount == 0 else { return }
        HEIFFile.forEachBox(reader, "minf", in: media) { information in
          HEIFFile.forEachBox(reader, "stbl", in: information) { table in
            HEIFFile.forEachBox(reader, "stsz", in: table) { sizes in
              frameCount = reader.integer32(at: sizes.lowerBound + 8) ?? 0
            }
          }
        }
      }
    }
  }
}
