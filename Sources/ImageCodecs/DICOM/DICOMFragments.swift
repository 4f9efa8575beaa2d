import SystemModule

/// The fragments of encapsulated pixels that belong to one frame (part 5, A.4).
enum DICOMFragments {
  /// - Parameter index: of the frame, from 0.
  static func withFrame<Result>(
    _ index: Int, of file: DICOMFile, _ pixels: DICOMElement, deadline: DecodingDeadline,
    _ body: (UnsafeRawBufferPointer) throws(DermaFusionError) -> Result
  ) throws(DermaFusionError) -> Result {
    guard pixels.isUndefined else {
      throw .corrupt(.dicom, reason: "compressed pixels that are not encapsulated")
    }
    let items = try DICOMElements(reader: ByteReader(file.bytes), deadline: deadline).fragments(of: pixels)
    let all = items.dropFirst()
    guard let table = items.first, !all.isEmpty else {
      throw .truncated(.dicom, reason: "the encapsulated pixels are empty")
    }
    try file.requireStated(frameCount(all.map { file.bytes[$0] }, of: file))
    let fragments =
      file.frames == 1 ? Array(all) : try self.fragments(index, of: file, Array(all), table: table)
    guard let first = fragments.first else {
      throw .truncated(.dicom, reason: "frame \(index + 1) of \(file.frames) is missing")
    }
    if fragments.count == 1 {
      return try body(UnsafeRawBufferPointer(rebasing: file.bytes[first]))
    }
    var joined: [UInt8] = []
    joined.reserveCapacity(fragments.reduce(0) { $0 + $1.count })
    for fragment in fragments { joined += file.bytes[fragment] }
    return try joined.withUnsafeBufferPointer { (bytes) throws(DermaFusionError) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// The number of fragments that begin a frame: like the first, with a JPEG's markers, a JPEG 2000's, or a header of runs, which
  /// no other fragment of a frame begins with.
  private static func frameCount(_ all: [Slice<UnsafeRawBufferPointer>], of file: DICOMFile) -> Int {
    let size =
      switch file.syntax {
      case .jpeg: 3
      case .jpeg2000: 4
      case .runLength, .native: 8
      }
    guard let start = all.first?.prefix(size), start.count == size else { return 1 }
    return all.count { $0.prefix(size).elementsEqual(start) }
  }

  /// - Parameter all: of all frames.
  private static func fragments(
    _ index: Int, of file: DICOMFile, _ all: [Range<Int>], table: Range<Int>
  ) throws(DermaFusionError) -> [Range<Int>] {
    if let offset = offsets(of: file, table: table) {
      // They count from the first fragment's item, which begins 8 bytes before its value.
      let base = all[0].lowerBound
      let end = index + 1 < file.frames ? offset(index + 1).map { base + $0 } : .max
      guard let start = offset(index).map({ base + $0 }), let end else { return [] }
      let fragments = all.filter { $0.lowerBound >= start && $0.lowerBound < end }
      guard fragments.isEmpty || fragments[0].lowerBound == start else {
        throw .corrupt(.dicom, reason: "the table of offsets does not lead to frame \(index + 1)")
      }
      return fragments
    }
    if all.count == file.frames { return [all[index]] }
    guard file.syntax != .runLength else {
      throw .corrupt(
        .dicom, reason: "\(all.count) fragments of \(file.frames) frames, and no table of offsets")
    }
    // Each frame ends with a JPEG's or a JPEG 2000's last marker.
    var frame = 0
    var fragments: [Range<Int>] = []
    for fragment in all {
      if frame == index { fragments.append(fragment) }
      if holdsEnd(file.bytes, fragment) { frame += 1 }
      if frame > index { break }
    }
    return fragments
  }

  /// The offset of each frame; nil without a table, and for one that is not filled in.
  private static func offsets(of file: DICOMFile, table: Range<Int>) -> ((_ frame: Int) -> Int?)? {
    let reader = ByteReader(file.bytes)
    if let extended = file.extendedOffsets, !extended.isUndefined, extended.value.count >= 16 {
      let value = extended.value
      return {
        $0 * 8 + 8 <= value.count
          ? reader.integer64(at: value.lowerBound + $0 * 8).map { min($0, 1 << 40) } : nil
      }
    }
    guard table.count >= 8, let second = reader.integer32(at: table.lowerBound + 4), second > 0 else {
      return nil
    }
    return { $0 * 4 + 4 <= table.count ? reader.integer32(at: table.lowerBound + $0 * 4) : nil }
  }

  /// True if a JPEG ends with the fragment, which may be filled up by a zero.
  private static func holdsEnd(_ bytes: UnsafeRawBufferPointer, _ fragment: Range<Int>) -> Bool {
    var end = bytes[fragment]
    if end.last == 0 { end = end.dropLast() }
    return end.suffix(2).elementsEqual([0xFF, 0xD9])
  }
}
