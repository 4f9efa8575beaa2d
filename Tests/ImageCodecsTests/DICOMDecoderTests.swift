import ImagePipeline
import Testing

@testable import DermaFusion
@testable import ImageCodecs

@Suite struct DICOMDecoderTests {
  static func element(_ tag: Int, _ type: String, _ value: [UInt8]) -> [UInt8] {
    let filled = value + (value.count % 2 == 0 ? [] : [UInt8(ascii: " ")])
    let count = bytes(filled.count, type == "OB" ? 4 : 2)
    return bytes(tag >> 16, 2) + bytes(tag & 0xFFFF, 2) + Array(type.utf8) + (type == "OB" ? [0, 0] : [])
      + count
      + filled
  }

  /// Compressed pixels: each frame in a fragment.
  static func encapsulated(_ frames: [[UInt8]]) -> [UInt8] {
    func item(_ tag: Int, _ value: [UInt8]) -> [UInt8] {
      bytes(0xFFFE, 2) + bytes(tag, 2) + bytes(value.count, 4) + value
    }
    return bytes(0x7FE0, 2) + bytes(0x0010, 2) + Array("OB".utf8) + [0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
      + item(0xE000, [])
      + frames.flatMap { item(0xE000, $0) } + item(0xE0DD, [])
  }

  static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// 2x2 pixels, explicit little endian.
  ///
  /// - Parameters:
  ///   - more: further elements, before the pixels.
  ///   - encapsulated: the element of compressed pixels in the place of `pixels`.
  func file(
    syntax: String = "1.2.840.10008.1.2.1", interpretation: String = "RGB", samples: Int = 3, bits: Int = 8,
    stored: Int? = nil, high: Int? = nil, signed: Int = 0, rows: Int = 2, more: [UInt8] = [],
    encapsulated: [UInt8]? = nil, pixels: [UInt8]? = [UInt8](0..<12)
  ) -> [UInt8] {
    var file = [UInt8](repeating: 0, count: 128) + Array("DICM".utf8)
    file += Self.element(0x0002_0010, "UI", Array(syntax.utf8) + (syntax.utf8.count % 2 == 0 ? [] : [0]))
    for (tag, value) in [(0x0028_0002, samples), (0x0028_0010, rows), (0x0028_0011, 2)] {
      file += Self.element(tag, "US", Self.bytes(value, 2))
    }
    file += Self.element(0x0028_0004, "CS", Array(interpretation.utf8))
    for (tag, value) in [
      (0x0028_0100, bits), (0x0028_0101, stored ?? bits), (0x0028_0102, high ?? (stored ?? bits) - 1),
      (0x0028_0103, signed),
    ] {
      file += Self.element(tag, "US", Self.bytes(value, 2))
    }
    file += more
    if let encapsulated { return file + encapsulated }
    return file + (pixels.map { Self.element(0x7FE0_0010, "OB", $0) } ?? [])
  }

  @Test func pixelsAreTakenAsTheyAre() throws {
    #expect(try ImageDecoder.decode(file()).pixels == [UInt8](0..<12))
  }

  @Test func kindsThatAreNotReadAreNamed() {
    for (bytes, reason) in [
      (file(interpretation: "MONOCHROME1", samples: 1), "MONOCHROME1, a negative"),
      (
        file(syntax: "1.2.840.10008.1.2.4.50", interpretation: "PALETTE COLOR", samples: 1),
        "a palette whose indices are compressed as JPEG"
      ),
      (file(bits: 16), "16 bits allocated in RGB"), (file(signed: 1), "signed pixels"),
      (file(pixels: nil), "it holds no image"),
      (
        file(syntax: "1.2.840.10008.1.2.4.92"),
        "the transfer syntax JPEG 2000, 1.2.840.10008.1.2.4.92; decompress it with 'gdcmconv --raw in.dcm out.dcm'"
      ),
      (
        file(syntax: "1.2.840.10008.1.2.4.201"),
        "the transfer syntax high-throughput JPEG 2000, 1.2.840.10008.1.2.4.201"
      ),
      (
        file(syntax: "1.2.840.10008.1.2.4.81"),
        "the transfer syntax JPEG-LS, 1.2.840.10008.1.2.4.81; decompress it with 'dcmdjpls in.dcm out.dcm' or "
          + "'gdcmconv --raw in.dcm out.dcm'"
      ),
      (
        file(syntax: "1.2.840.10008.1.2.4.70"),
        "the transfer syntax lossless JPEG, 1.2.840.10008.1.2.4.70; decompress it with 'dcmdjpeg in.dcm out.dcm' or "
          + "'gdcmconv --raw in.dcm out.dcm'"
      ),
      (
        file(syntax: "1.2.840.10008.1.2.2"),
        "the transfer syntax big endian, 1.2.840.10008.1.2.2; rewrite it with 'dcmconv +te in.dcm out.dcm'"
      ),
      (file(syntax: "1.2.3"), "the transfer syntax 1.2.3"),
    ] { expectRefusal(of: bytes, .unsupportedVariant(.dicom, reason: reason)) }
  }

  @Test func missingPixelsAreTruncation() {
    expectRefusal(
      of: file(rows: 3), .truncated(.dicom, reason: "12 bytes of pixels where 18 are needed"))
    let whole = file()
    expectRefusal(
      of: whole.dropLast(1),
      .truncated(.dicom, reason: "an element of 12 bytes where 11 are left, at byte \(whole.count - 24)"))
  }

  /// A number of frames that nobody has does no harm.
  @Test func numbersOfFramesAreOnlyClaims() throws {
    let whole = file(interpretation: "YBR_FULL_422", pixels: [16, 17, 128, 128, 18, 19, 128, 128])
    let frames = Self.element(0x0028_0008, "IS", Array("9223372036854775807".utf8))
    let pixels = whole.count - 20
    #expect(
      try ImageDecoder.decode(
        Array(whole[..<pixels]) + frames + whole[pixels...], frame: 1, part: .whole
      ).pixels.pixels
        == [16, 16, 16, 17, 17, 17, 18, 18, 18, 19, 19, 19])
  }

  @Test func agesAreInYears() {
    for (text, years) in [
      ("045Y", 45), ("45Y", 45), ("55", 55), ("055", 55), ("045y", 45), ("130Y", 130), ("018M", 1.5),
      ("010W", 70 / 365.25), ("030D", 30 / 365.25), ("", nil), ("131Y", nil), ("0x5Y", nil), ("-45Y", nil),
      ("Y", nil),
    ] as [(String, Double?)] {
      let found = ImageDecoder.patient(file(more: Self.element(0x0010_1010, "AS", Array(text.utf8))))?
        .ageInYears
      let isRight = years.map { abs((found ?? -1) - $0) < 1e-12 } ?? (found == nil)
      #expect(isRight, "'\(text)' is \(found.map { "\($0)" } ?? "nothing")")
    }
  }

  @Test func anAgeThatIsNotStatedFollowsFromTheDates() {
    for (birth, day, years) in [
      ("19700501", "20200430", 49), ("19700501", "20200501", 50), ("1970.05.01", "20201231", 50),
      ("20190101", "20200701", 1.5), ("20190102", "20200201", 1), ("20200501", "20200501", 0),
      ("20180229", "20200228", 23.0 / 12), ("18891231", "20200101", 130),
      ("18880101", "20200101", nil), ("20300101", "20200701", nil), ("", "20200701", nil),
      ("19700501", "", nil),
      ("19701301", "20200101", nil), ("197005", "20200101", nil), ("19700501\\2", "20200101", nil),
    ] as [(String, String, Double?)] {
      #expect(FilePatient.age(born: birth, on: day) == years, "\(birth) \(day)")
    }
    let dates = Self.element(0x0010_0030, "DA", Array("19700501".utf8))
    let study = Self.element(0x0008_0020, "DA", Array("20200501".utf8))
    let stated = Self.element(0x0010_1010, "AS", Array("044Y".utf8))
    #expect(ImageDecoder.patient(file(more: dates + study))?.ageInYears == 50)
    #expect(ImageDecoder.patient(file(more: dates + study + stated))?.ageInYears == 44)
    #expect(ImageDecoder.patient(file(more: dates))?.ageInYears == nil)
  }

  @Test func aRegionThatCouldBeSeveralSitesIsNone() {
    let sites: [(String, BodySite?)] = [
      ("BACK", .back), ("Skin of back", .back), ("Skin structure of left forearm", .upperExtremity),
      ("Upper back", .back), ("Posterior neck", .neck), ("Right lower leg", .lowerExtremity), ("FACE", .face),
      ("Lower extremity", .lowerExtremity), ("Trunk", .trunk), ("scalp", .scalp),
      ("HEAD", nil), ("Head and neck", nil), ("Shoulder", nil), ("Palm", nil), ("Back of hand", nil),
      ("", nil),
      ("Torso", nil), ("Oral/genital", nil),
    ]
    for (region, site) in sites { #expect(FilePatient.site([region]) == site, "\(region)") }
    #expect(FilePatient.site(["Back", "Skin of back"]) == .back)
    #expect(FilePatient.site(["Back", "Neck"]) == nil)
  }

  @Test func whatIsGivenStays() throws {
    var file = FilePatient()
    (file.age, file.sex, file.bodyPart) = ("040Y", "F", "BACK")
    let given = try PatientMetadata(ageInYears: 50, site: .ear)
    #expect(given.filled(from: file) == (try PatientMetadata(ageInYears: 50, sex: .female, site: .ear)))
    #expect(given.filled(from: nil) == given)
    #expect(PatientMetadata.unknown.filled(from: file).missing == [])
  }
}
