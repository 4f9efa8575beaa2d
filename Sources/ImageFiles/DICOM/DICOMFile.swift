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
