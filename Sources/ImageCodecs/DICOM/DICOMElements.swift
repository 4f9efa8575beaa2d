import SystemModule

/// A data element: its tag and where its value lies.
struct DICOMElement {
  /// The group in the high 16 bits.
  let tag: Int
  /// Up to the end of what it lies in where the length is undefined.
  let value: Range<Int>
  let isUndefined: Bool
  /// The encoding of its items' elements.
  let hasImplicitItems: Bool

  /// Without the blanks and zeros that fill it up, on one line.
  func text(in bytes: UnsafeRawBufferPointer) -> String {
    guard !isUndefined else { return "" }
    var text = bytes[value]
    while let last = text.last, last == 0 || last == UInt8(ascii: " ") { text = text.dropLast() }
    while text.first == UInt8(ascii: " ") { text = text.dropFirst() }
    return String(decoding: text.prefix(256), as: UTF8.self).onOneLine
  }
}

/// Walks over DICOM's data elements, little endian, with explicit or implicit types.
struct DICOMElements {
  private static let item = 0xFFFE_E000
  private static let itemEnd = 0xFFFE_E00D
  private static let sequenceEnd = 0xFFFE_E0DD
  private static let undefined = 0xFFFF_FFFF
  /// No image nests its sequences so deeply.
  private static let depthLimit = 32

  let reader: ByteReader
  let deadline: DecodingDeadline

  /// Hands over the elements of a range, or of an item up to its delimiter.
  ///
  /// - Parameters:
  ///   - group: the only one that is wanted, or nil for all; what follows it may be written otherwise.
  ///   - visit: false where no more are wanted.
  /// - Returns: where the elements end.
  @discardableResult
  func forEach(
    in range: Range<Int>, isImplicit: Bool, group: Int? = nil, depth: Int = 0,
    _ visit: (DICOMElement) throws(DermaFusionError) -> Bool
  ) throws(DermaFusionError) -> Int {
    guard depth <= Self.depthLimit else {
      throw .corrupt(.dicom, reason: "sequences are nested more than \(Self.depthLimit) deep")
    }
    var position = range.lowerBound
    while position < range.upperBound {
      try deadline.check(.dicom)
      if let group, reader.integer16(at: position) != group { return position }
      let element = try element(at: position, end: range.upperBound, isImplicit: isImplicit)
      if element.tag == Self.itemEnd { return element.value.lowerBound }
      guard try visit(element) else { return position }
      position =
        element.isUndefined ? try self.end(ofItemsIn: element, depth: depth) : element.value.upperBound
    }
    return position
  }

  /// Hands over the values of a sequence's items, and returns where the sequence ends.
  @discardableResult
  func forEachItem(
    of sequence: DICOMElement, depth: Int, _ visit: (Range<Int>) throws(DermaFusionError) -> Void
  ) throws(DermaFusionError) -> Int {
    var position = sequence.value.lowerBound
    while position < sequence.value.upperBound {
      try deadline.check(.dicom)
      let item = try element(at: position, end: sequence.value.upperBound, isImplicit: true)
      if item.tag == Self.sequenceEnd { return item.value.lowerBound }
      guard item.tag == Self.item else {
        throw .corrupt(.dicom, reason: "a sequence holds what is not an item, at byte \(position)")
      }
      if item.isUndefined {
        position = try forEach(
          in: item.value, isImplicit: sequence.hasImplicitItems, depth: depth + 1
        ) { _ throws(DermaFusionError) in true }
        try visit(item.value.lowerBound..<position)
      } else {
        try visit(item.value)
        position = item.value.upperBound
      }
    }
    return position
  }

  /// The values of the items of encapsulated pixels: the offset table, then the fragments.
  func fragments(of pixels: DICOMElement) throws(DermaFusionError) -> [Range<Int>] {
    var fragments: [Range<Int>] = []
    var position = pixels.value.lowerBound
    while position < pixels.value.upperBound {
      try deadline.check(.dicom)
      let item = try element(at: position, end: pixels.value.upperBound, isImplicit: true)
      if item.tag == Self.sequenceEnd { break }
      guard item.tag == Self.item, !item.isUndefined else {
        throw .corrupt(
          .dicom, reason: "the encapsulated pixels hold what is not an item, at byte \(position)")
      }
      fragments.append(item.value)
      position = item.value.upperBound
    }
    return fragments
  }

  private func end(ofItemsIn element: DICOMElement, depth: Int) throws(DermaFusionError) -> Int {
    try forEachItem(of: element, depth: depth) { _ throws(DermaFusionError) in }
  }

  /// True if the element at a position is written with its type.
  func hasType(at position: Int) -> Bool {
    guard let first = reader.byte(at: position + 4), let second = reader.byte(at: position + 5) else {
      return true
    }
    let letters = 0x41...0x5A
    return letters.contains(first) && letters.contains(second)
  }

  private func element(
    at position: Int, end: Int, isImplicit: Bool
  ) throws(DermaFusionError) -> DICOMElement {
    guard let group = reader.integer16(at: position), let number = reader.integer16(at: position + 2),
      position + 8 <= end
    else { throw .truncated(.dicom, reason: "the data end in an element, at byte \(position)") }
    let tag = group << 16 | number
    var start = position + 8
    var length = reader.integer32(at: position + 4)
    var hasImplicitItems = isImplicit
    // Items have no type.
    if !isImplicit, group != 0xFFFE {
      guard hasType(at: position) else {
        throw .corrupt(.dicom, reason: "an element has no type, at byte \(position)")
      }
      let type = reader.integer16(at: position + 4)
      if Self.longTypes.contains(type) {
        length = reader.integer32(at: position + 8)
        start += 4
        // A program copies elements whose type it does not know without types.
        if type == Self.unknownType { hasImplicitItems = true }
      } else {
        length = reader.integer16(at: position + 6)
      }
    }
    guard let length, start <= end else {
      throw .truncated(.dicom, reason: "the data end in an element, at byte \(position)")
    }
    if length == Self.undefined {
      return DICOMElement(
        tag: tag, value: start..<end, isUndefined: tag != Self.itemEnd && tag != Self.sequenceEnd,
        hasImplicitItems: hasImplicitItems)
    }
    guard length <= end - start else {
      throw .truncated(
        .dicom, reason: "an element of \(length) bytes where \(end - start) are left, at byte \(position)")
    }
    return DICOMElement(
      tag: tag, value: start..<start + length, isUndefined: false, hasImplicitItems: hasImplicitItems)
  }

  /// Whose length has 32 bits.
  private static let longTypes = [
    "OB", "OD", "OF", "OL", "OV", "OW", "SQ", "SV", "UC", "UN", "UR", "UT", "UV",
  ]
  .map(number(ofType:))
  private static let unknownType = number(ofType: "UN")

  /// As the two letters read as a number.
  private static func number(ofType type: String) -> Int? {
    Array(type.utf8).withUnsafeBytes { ByteReader($0).integer16(at: 0) }
  }
}
