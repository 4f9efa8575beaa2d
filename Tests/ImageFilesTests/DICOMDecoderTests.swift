import DermaFusion
import ImagePipeline
import Testing

@testable import ImageFiles

@Suite struct DICOMDecoderTests {
  private static func element(_ tag: Int, _ type: String, _ value: [UInt8]) -> [UInt8] {
    let filled = value + (value.count % 2 == 0 ? [] : [UInt8(ascii: " ")])
    let count = bytes(filled.count, type == "OB" ? 4 : 2)
    return bytes(tag >> 16, 2) + bytes(tag & 0xFFFF, 2) + Array(type.utf8) + (type == "OB" ? [0, 0] : [])
      + count
      + filled
  }

  private static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// 2x2 pixels, explicit little endian.
  private func file(
    syntax: String = "1.2.840.10008.1.2.1", interpretation: String = "RGB", samples: Int = 3, bits: Int = 8,
    signed: Int = 0, rows: Int = 2, pixels: [UInt8]? = [UInt8](0..<12)
  ) -> [UInt8] {
    var file = [UInt8](repeating: 0, count: 128) + Array("DICM".utf8)
    file += Self.element(0x0002_0010, "UI", Array(syntax.utf8) + (syntax.utf8.count % 2 == 0 ? [] : [0]))
    for (tag, value) in [(0x0028_0002, samples), (0x0028_0010, rows), (0x0028_0011, 2)] {
      file += Self.element(tag, "US", Self.bytes(value, 2))
    }
    file += Self.element(0x0028_0004, "CS", Array(interpretation.utf8))
    for (tag, value) in [(0x0028_0100, bits), (0x0028_0101, bits), (0x0028_0103, signed)] {
      file += Self.element(tag, "US", Self.bytes(value, 2))
    }
    return file + (pixels.map { Self.element(0x7FE0_0010, "OB", $0) } ?? [])
  }

  @Test func pixelsAreTakenAsTheyAre() throws {
    #expect(try ImageDecoder.decode(file()).pixels == [UInt8](0..<12))
  }

  @Test func kindsThatAreNotReadAreNamed() {
    for (bytes, reason) in [
      (file(interpretation: "MONOCHROME1", samples: 1), "MONOCHROME1, a negative"),
      (file(interpretation: "PALETTE COLOR", samples: 1), "the photometric interpretation PALETTE COLOR"),
      (file(bits: 16), "16 bits allocated in RGB"), (file(signed: 1), "signed pixels"),
      (file(pixels: nil), "it holds no image"),
      (file(syntax: "1.2.840.10008.1.2.4.90"), "the transfer syntax JPEG 2000, 1.2.840.10008.1.2.4.90"),
      (file(syntax: "1.2.840.10008.1.2.2"), "the transfer syntax big endian, 1.2.840.10008.1.2.2"),
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
      try ImageDecoder.decode(Array(whole[..<pixels]) + frames + whole[pixels...]).pixels
        == [16, 16, 16, 17, 17, 17, 18, 18, 18, 19, 19, 19])
  }

  @Test func agesAreInYears() throws {
    #expect(DICOMPatient.age("045Y") == 45)
    #expect(DICOMPatient.age("018M") == 1.5)
    #expect(try #require(DICOMPatient.age("010W")) == 70 / 365.25)
    #expect(try #require(DICOMPatient.age("030D")) == 30 / 365.25)
    for text in ["", "45Y", "131Y", "0x5Y", "045", "045y", "-45Y", "04 Y", "045YY"] {
      #expect(DICOMPatient.age(text) == nil, "\(text)")
    }
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
    for (region, site) in sites { #expect(DICOMPatient.site([region]) == site, "\(region)") }
    #expect(DICOMPatient.site(["Back", "Skin of back"]) == .back)
    #expect(DICOMPatient.site(["Back", "Neck"]) == nil)
  }

  @Test func whatIsGivenStays() throws {
    let file = FilePatient(ageInYears: 40, sex: "female", site: "back")
    let given = try PatientMetadata(ageInYears: 50, site: .ear)
    #expect(given.filled(from: file) == (try PatientMetadata(ageInYears: 50, sex: .female, site: .ear)))
    #expect(given.filled(from: nil) == given)
    #expect(PatientMetadata.unknown.filled(from: file).missing == [])
  }
}
