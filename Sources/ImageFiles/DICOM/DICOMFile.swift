import ImagePipeline
import SystemModule

/// What DermaFusion needs to know of a DICOM file (Part 10) with an image.
struct DICOMFile {
  /// How the pixels are stored.
  enum TransferSyntax {
    case native
    case jpeg
  }

  let bytes: UnsafeRawBufferPointer
  private(set) var syntax = TransferSyntax.native
  private(set) var columns = 0
  private(set) var rows = 0
  private(set) var samples = 1
  private(set) var frames = 1
  private(set) var photometricInterpretation = ""
  private(set) var isPlanar = false
  private(set) var bitsAllocated = 0
  private(set) var bitsStored = 0
  private(set) var isSigned = false
  private(set) var pixels: DICOMElement?
  private(set) var patientSex = ""
  private(set) var patientAge = ""
  private(set) var bodyPart = ""
  /// The code meanings of the anatomic regions.
  private(set) var regions: [String] = []

  private static let preambleCount = 128

  /// Whether the file begins as Part 10 says.
  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
    ByteReader(bytes).holds("DICM", at: preambleCount)
  }

  init(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
    self.bytes = bytes
    let elements = DICOMElements(reader: ByteReader(bytes))
    var identifier = "1.2.840.10008.1.2"
    let start = Self.preambleCount + 4
    let dataStart = try elements.forEach(in: start..<max(start, bytes.count), isImplicit: false, group: 2) {
      element throws(DermaFusionError) in
      if element.tag == 0x0002_0010 { identifier = text(element) }
      return true
    }
    // Some programs leave the types out and say that they are there.
    let isImplicit = try readSyntax(identifier) || !elements.hasType(at: dataStart)
    try elements.forEach(in: dataStart..<max(dataStart, bytes.count), isImplicit: isImplicit) {
      element throws(DermaFusionError) in
      try read(element, elements)
    }
  }

  /// - Returns: whether the elements are without types.
  private mutating func readSyntax(_ identifier: String) throws(DermaFusionError) -> Bool {
    switch identifier {
    case "1.2.840.10008.1.2": return true
    case "1.2.840.10008.1.2.1": return false
    case "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.51":
      syntax = .jpeg
      return false
    default:
      let names = [
        ".1.99": "deflated", ".2": "big endian", ".4.57": "lossless JPEG", ".4.70": "lossless JPEG",
        ".4.80": "JPEG-LS", ".4.81": "JPEG-LS", ".4.90": "JPEG 2000", ".4.91": "JPEG 2000", ".5": "RLE",
      ]
      let name = names[String(identifier.dropFirst("1.2.840.10008.1.2".count))].map { "\($0), " } ?? ""
      throw .unsupportedVariant(.dicom, reason: "the transfer syntax \(name)\(identifier)")
    }
  }

  private mutating func read(
    _ element: DICOMElement, _ elements: DICOMElements
  ) throws(DermaFusionError) -> Bool {
    switch element.tag {
    case 0x0008_2218, 0x5200_9229: try readRegions(element, elements, depth: 0)
    case 0x0010_0040: patientSex = text(element)
    case 0x0010_1010: patientAge = text(element)
    case 0x0018_0015: bodyPart = text(element)
    case 0x0028_0002: samples = number(element)
    case 0x0028_0004: photometricInterpretation = text(element)
    case 0x0028_0006: isPlanar = number(element) == 1
    case 0x0028_0008: frames = max(1, min(Int(text(element)) ?? 1, 1 << 24))
    case 0x0028_0010: rows = number(element)
    case 0x0028_0011: columns = number(element)
    case 0x0028_0100: bitsAllocated = number(element)
    case 0x0028_0101: bitsStored = number(element)
    case 0x0028_0103: isSigned = number(element) == 1
    case 0x7FE0_0010:
      pixels = element
      return false
    default: break
    }
    return true
  }

  /// The code meanings of the regions, but not those of their modifiers, which are nested in them.
  private mutating func readRegions(
    _ sequence: DICOMElement, _ elements: DICOMElements, depth: Int
  ) throws(DermaFusionError) {
    try elements.forEachItem(of: sequence, depth: depth) { item throws(DermaFusionError) in
      try elements.forEach(in: item, isImplicit: sequence.hasImplicitItems, depth: depth + 1) {
        element throws(DermaFusionError) in
        switch (sequence.tag, element.tag) {
        case (0x0008_2218, 0x0008_0104): regions.append(text(element))
        // Images of several frames keep it with what their frames share.
        case (0x5200_9229, 0x0020_9071), (0x0020_9071, 0x0008_2218):
          try readRegions(element, elements, depth: depth + 1)
        default: break
        }
        return true
      }
    }
  }

  /// Without the blanks and zeros that fill it up, on one line.
  private func text(_ element: DICOMElement) -> String {
    guard !element.isUndefined else { return "" }
    var text = bytes[element.value]
    while let last = text.last, last == 0 || last == UInt8(ascii: " ") { text = text.dropLast() }
    while text.first == UInt8(ascii: " ") { text = text.dropFirst() }
    return String(decoding: text.prefix(256), as: UTF8.self).onOneLine
  }

  private func number(_ element: DICOMElement) -> Int {
    ByteReader(bytes).integer16(at: element.value.lowerBound) ?? 0
  }
}

/// A data element: its tag and where its value lies.
struct DICOMElement {
  /// The group in the high 16 bits.
  let tag: Int
  /// Up to the end of what it lies in where the length is undefined.
  let value: Range<Int>
  let isUndefined: Bool
  /// How the elements of its items are written.
  let hasImplicitItems: Bool
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
      if let group, reader.integer16(at: position) != group { return position }
      let element = try element(at: position, end: range.upperBound, isImplicit: isImplicit)
      if element.tag == Self.itemEnd { return element.value.lowerBound }
      guard try visit(element) else { return position }
      position =
        element.isUndefined ? try self.end(ofItemsIn: element, depth: depth) : element.value.upperBound
    }
    return position
  }

  /// Hands over the values of a sequence's items, each with how its elements are written.
  ///
  /// - Returns: where the sequence ends.
  @discardableResult
  func forEachItem(
    of sequence: DICOMElement, depth: Int, _ visit: (Range<Int>) throws(DermaFusionError) -> Void
  ) throws(DermaFusionError) -> Int {
    var position = sequence.value.lowerBound
    while position < sequence.value.upperBound {
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

  /// Whether the element at a position is written with its type.
  func hasType(at position: Int) -> Bool {
    reader.bytes(at: position + 4, count: 2)?.allSatisfy {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
    } ?? true
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
      let type = reader.bytes(at: position + 4, count: 2).map(Array.init) ?? []
      if Self.longTypes.contains(String(decoding: type, as: UTF8.self)) {
        length = reader.integer32(at: position + 8)
        start += 4
        // What a program did not know the type of, it copied without types.
        if type == Array("UN".utf8) { hasImplicitItems = true }
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
  private static let longTypes: Set<String> = [
    "OB", "OD", "OF", "OL", "OV", "OW", "SQ", "SV", "UC", "UN", "UR", "UT", "UV",
  ]
}
