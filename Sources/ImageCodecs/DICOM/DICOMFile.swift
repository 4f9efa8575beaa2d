import ImagePipeline
import SystemModule

/// The facts that DermaFusion needs of a DICOM file (Part 10) with an image.
struct DICOMFile {
  enum TransferSyntax {
    case native
    case jpeg
    case jpeg2000
    case runLength
  }

  let bytes: UnsafeRawBufferPointer
  private(set) var syntax = TransferSyntax.native
  private(set) var columns = 0
  private(set) var rows = 0
  private(set) var samples = 1
  private(set) var frames = 1
  private var statedFrames = ""
  private(set) var photometricInterpretation = ""
  private(set) var isPlanar = false
  private(set) var bitsAllocated = 0
  private(set) var bitsStored = 0
  private(set) var isSigned = false
  private(set) var pixels: DICOMElement?
  /// The offset of each frame of encapsulated pixels, in 64 bits; most files have the table of 32 bits that is their first item.
  private(set) var extendedOffsets: DICOMElement?
  private var profile: DICOMElement?
  private(set) var palette = DICOMPalette()
  /// It has the first few code meanings of the anatomic regions.
  private var found = FilePatient()
  private var statedHighBit: Int?
  private var pixelAspect: [Double] = []
  private var pixelSpacings: [Int: [Double]] = [:]
  private var dates: [Int: String] = [:]

  private static let preambleCount = 128
  /// Two regions could be one site by two names; so many cannot.
  static let regionLimit = 32

  /// True if the file begins as Part 10 says.
  static func isRecognized(_ bytes: UnsafeRawBufferPointer) -> Bool {
    ByteReader(bytes).holds("DICM", at: preambleCount)
  }

  init(_ bytes: UnsafeRawBufferPointer, deadline: DecodingDeadline) throws(DermaFusionError) {
    self.bytes = bytes
    let elements = DICOMElements(reader: ByteReader(bytes), deadline: deadline)
    let heading = try DICOMHeading(elements)
    let isImplicit: Bool
    (syntax, isImplicit) = try heading.transferSyntax()
    let start = heading.dataStart
    // Some programs leave the types out and say that they are there.
    try elements.forEach(
      in: start..<max(start, bytes.count), isImplicit: isImplicit || !elements.hasType(at: start)
    ) { element throws(DermaFusionError) in
      try read(element, elements)
    }
  }

  var highBit: Int { statedHighBit ?? bitsStored - 1 }

  /// The height of a pixel in widths of one, by its size on the skin or else by the ratio that the file states; 1 where it says
  /// neither.
  var pixelHeight: Double {
    // PixelSpacing, ImagerPixelSpacing, NominalScannedPixelSpacing: of the rows, then of the columns.
    let spacings = [0x0028_0030, 0x0018_1164, 0x0018_2010].compactMap { pixelSpacings[$0] }
    for values in spacings + [pixelAspect]
    where values.count == 2 && values.allSatisfy({ $0 > 0 && $0.isFinite }) {
      return values[0] / values[1]
    }
    return 1
  }

  /// The name of a profile that is not sRGB's.
  var foreignProfile: String? {
    guard let profile, !profile.isUndefined, samples > 1 || photometricInterpretation == "PALETTE COLOR"
    else {
      return nil
    }
    return ColorProfile.foreignName(icc: UnsafeRawBufferPointer(rebasing: bytes[profile.value]))
  }

  /// The file's words on the patient; nil where it has none.
  var patient: FilePatient? {
    if found == FilePatient() { return nil }
    var patient = found
    // The dates of the study, the acquisition, the content.
    patient.date =
      [0x0008_0020, 0x0008_0022, 0x0008_0023].lazy.compactMap { dates[$0] }.first { !$0.isEmpty } ?? ""
    return patient
  }

  private mutating func read(
    _ element: DICOMElement, _ elements: DICOMElements
  ) throws(DermaFusionError) -> Bool {
    switch element.tag {
    case 0x0008_0020, 0x0008_0022, 0x0008_0023: dates[element.tag] = text(element)
    case 0x0008_2218, 0x5200_9229: try readRegions(element, elements, depth: 0)
    case 0x0010_0030: found.birthDate = text(element)
    case 0x0010_0040: found.sex = text(element)
    case 0x0010_1010: found.age = text(element)
    case 0x0018_0015: found.bodyPart = text(element)
    case 0x0028_0030, 0x0018_1164, 0x0018_2010: pixelSpacings[element.tag] = numbers(element)
    case 0x0028_0002: samples = number(element)
    case 0x0028_0004: photometricInterpretation = text(element)
    case 0x0028_0006: isPlanar = number(element) == 1
    case 0x0028_0008:
      statedFrames = text(element)
      frames = Self.frameCount(statedFrames)
    case 0x0028_0010: rows = number(element)
    case 0x0028_0011: columns = number(element)
    case 0x0028_0034: pixelAspect = numbers(element)
    case 0x0028_0100: bitsAllocated = number(element)
    case 0x0028_0101: bitsStored = number(element)
    case 0x0028_0102: statedHighBit = number(element)
    case 0x0028_0103: isSigned = number(element) == 1
    case 0x0028_1101...0x0028_1103, 0x0028_1201...0x0028_1203, 0x0028_1221...0x0028_1223:
      if !element.isUndefined { palette.add(element) }
    case 0x0028_2000: profile = element
    case 0x7FE0_0001: extendedOffsets = element
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
      if found.regions.count == Self.regionLimit { return }
      try elements.forEach(in: item, isImplicit: sequence.hasImplicitItems, depth: depth + 1) {
        element throws(DermaFusionError) in
        switch (sequence.tag, element.tag) {
        case (0x0008_2218, 0x0008_0104):
          let region = text(element)
          if !found.regions.contains(region) { found.regions.append(region) }
        // Images of several frames keep it with what their frames share.
        case (0x5200_9229, 0x0020_9071), (0x0020_9071, 0x0008_2218):
          try readRegions(element, elements, depth: depth + 1)
        // The place of a pixel's size in enhanced images.
        case (0x5200_9229, 0x0028_9110): try readRegions(element, elements, depth: depth + 1)
        case (0x0028_9110, 0x0028_0030): pixelSpacings[element.tag] = numbers(element)
        default: break
        }
        return true
      }
    }
  }

  /// One without a number in the range of DICOM's integers (part 5, 6.2): many files of one frame have none, or 0.
  static func frameCount(_ text: String) -> Int { max(1, Int32(text).map { Int($0) } ?? 1) }

  /// Refuses a file that states fewer frames than it has: the others would be left out in silence.
  func requireStated(_ count: Int) throws(DermaFusionError) {
    guard count <= frames else {
      let stated = statedFrames.isEmpty ? "no NumberOfFrames" : "NumberOfFrames is \(statedFrames)"
      throw .corrupt(.dicom, reason: "it has the pixels of \(count) frames, and \(stated)")
    }
  }

  private func text(_ element: DICOMElement) -> String { element.text(in: bytes) }

  private func number(_ element: DICOMElement) -> Int {
    ByteReader(bytes).integer16(at: element.value.lowerBound) ?? 0
  }

  /// The numbers of a text with a backslash between them; none where one of them is no number.
  private func numbers(_ element: DICOMElement) -> [Double] {
    let words = text(element).split(separator: "\\", omittingEmptySubsequences: false)
    let numbers = words.compactMap { word in Double(String(word.filter { $0 != " " })) }
    return numbers.count == words.count ? numbers : []
  }
}

/// The first group of a DICOM file, which says how the others are written.
struct DICOMHeading {
  /// The kind of object that the file holds.
  private(set) var mediaClass = ""
  /// Its encoding: the transfer syntax.
  private(set) var identifier = "1.2.840.10008.1.2"
  /// The place where the other groups begin.
  private(set) var dataStart = 132

  init(_ elements: DICOMElements) throws(DermaFusionError) {
    let bytes = elements.reader.bytes
    let start = dataStart
    dataStart = try elements.forEach(in: start..<max(start, bytes.count), isImplicit: false, group: 2) {
      element throws(DermaFusionError) in
      switch element.tag {
      case 0x0002_0002: mediaClass = element.text(in: bytes)
      case 0x0002_0010: identifier = element.text(in: bytes)
      default: break
      }
      return true
    }
  }

  /// The heading of a file that begins so; nil where its first group is not whole.
  init?(ofStart start: UnsafeRawBufferPointer) {
    guard
      let heading = try? DICOMHeading(
        DICOMElements(reader: ByteReader(start), deadline: DecodingLimits.standard.deadline()))
    else { return nil }
    self = heading
  }

  /// True if it is an image that its kind says it holds: not the directory of a disc, a report, a document, a wave form or a
  /// state of presentation.
  var isOfImage: Bool {
    let others = ["1.3.10", "5.1.4.1.1.88.", "5.1.4.1.1.104.", "5.1.4.1.1.9.", "5.1.4.1.1.11."]
    return !others.contains { mediaClass.hasPrefix("1.2.840.10008.\($0)") }
  }

  /// The form of the pixels, and whether the elements are without types.
  func transferSyntax() throws(DermaFusionError) -> (DICOMFile.TransferSyntax, isImplicit: Bool) {
    let root = "1.2.840.10008.1.2"
    switch identifier {
    case root: return (.native, true)
    case root + ".1": return (.native, false)
    case root + ".4.50", root + ".4.51": return (.jpeg, false)
    case root + ".5": return (.runLength, false)
    case root + ".4.90" where SystemLibrary.jpeg2000.missing() == nil,
      root + ".4.91" where SystemLibrary.jpeg2000.missing() == nil:
      return (.jpeg2000, false)
    default: break
    }
    let jpegs = [
      ".4.57": "lossless JPEG", ".4.70": "lossless JPEG", ".4.80": "JPEG-LS", ".4.81": "JPEG-LS",
      ".4.90": "JPEG 2000", ".4.91": "JPEG 2000", ".4.92": "JPEG 2000", ".4.93": "JPEG 2000",
      ".4.201": "high-throughput JPEG 2000", ".4.202": "high-throughput JPEG 2000",
      ".4.203": "high-throughput JPEG 2000", ".4.110": "JPEG XL", ".4.111": "JPEG XL", ".4.112": "JPEG XL",
    ]
    let others = [".1.99": "deflated", ".2": "big endian"]
    let ending = String(identifier.dropFirst(identifier.hasPrefix(root) ? root.count : 0))
    let name = (jpegs[ending] ?? others[ending]).map { "\($0), " } ?? ""
    // dcmdjpeg of DCMTK reads JPEG alone, dcmdjpls JPEG-LS; gdcmconv reads all of them.
    let remedy =
      switch jpegs[ending] {
      case "lossless JPEG":
        "; decompress it with 'dcmdjpeg in.dcm out.dcm' or 'gdcmconv --raw in.dcm out.dcm'"
      case "JPEG-LS": "; decompress it with 'dcmdjpls in.dcm out.dcm' or 'gdcmconv --raw in.dcm out.dcm'"
      case "JPEG 2000" where ending == ".4.90" || ending == ".4.91":
        """
        , is decoded by libopenjp2, which this machine lacks: install Debian's libopenjp2-7 or Homebrew's openjpeg, or \
        decompress it with 'gdcmconv --raw in.dcm out.dcm'
        """
      case "JPEG 2000": "; decompress it with 'gdcmconv --raw in.dcm out.dcm'"
      case nil where others[ending] != nil: "; rewrite it with 'dcmconv +te in.dcm out.dcm'"
      default: ""
      }
    throw .unsupportedVariant(.dicom, reason: "the transfer syntax \(name)\(identifier)\(remedy)")
  }
}
