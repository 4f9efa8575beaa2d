import DermaFusion
import Files
import Foundation
import ImagePipeline
import ReferenceLayers
import Testing

@testable import ImageCodecs

/// The files that `python -m dermafusion_training fixtures formats` made, with the pixels that Pillow makes of them.
struct FormatFixture: Decodable, CustomTestStringConvertible {
  struct Patient: Decodable {
    let age: Double?
    let sex: String?
    let site: String?
  }

  let file: String
  let width: Int
  let height: Int
  /// The digest of the RGB bytes; nil where they need not be equal to the bit.
  let sha256: String?
  /// A PNG with the pixels, which may differ by the tolerance.
  let expected: String?
  let tolerance: Int?
  let metadata: Patient?
  /// The one of several that has these pixels.
  let frame: Int?
  /// The details of its warnings.
  let details: [String: String]?

  var testDescription: String { file + (frame.map { "#\($0)" } ?? "") }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../ParityFixtures/formats").standardizedFileURL

  static func all(_ prefixes: String...) -> [FormatFixture] {
    struct Manifest: Decodable { let files: [FormatFixture] }
    guard let data = try? Data(contentsOf: folder.appendingPathComponent("expected.json")),
      let manifest = try? JSONDecoder().decode(Manifest.self, from: data)
    else { return [] }
    return manifest.files.filter { fixture in prefixes.contains { fixture.file.hasPrefix($0) } }
  }

  func bytes() throws -> [UInt8] { try [UInt8](Data(contentsOf: Self.folder.appendingPathComponent(file))) }

  func expectDecoded(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let image = try ImageDecoder.decode(try bytes(), frame: frame, part: .whole).pixels
    #expect((image.width, image.height) == (width, height), sourceLocation: sourceLocation)
    if let sha256 {
      #expect(SHA256.hexDigest(image.pixels) == sha256, sourceLocation: sourceLocation)
    } else {
      let expected = try ImageDecoder.decode(
        [UInt8](Data(contentsOf: Self.folder.appendingPathComponent(try #require(expected)))))
      let most = zip(image.pixels, expected.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
      #expect(most <= tolerance ?? 0, "a value differs by \(most)", sourceLocation: sourceLocation)
    }
  }
}

@Suite struct FormatFixtureTests {
  @Test func thereAreFilesOfEveryFormat() {
    for (prefix, count) in [
      ("bmp", 30), ("dicom", 50), ("webp", 10), ("tiff", 60), ("heic", 5), ("avif", 2), ("j2k", 12),
      ("png", 7),
      ("jpeg", 7),
    ] {
      #expect(FormatFixture.all(prefix).count >= count, "\(prefix)")
    }
  }

  @Test(arguments: FormatFixture.all("bmp", "bitmap", "dicom"))
  func bitmapsAndDICOMAreWhatPythonMakesOfThem(_ fixture: FormatFixture) throws {
    try fixture.expectDecoded()
  }

  @Test(
    .enabled(if: SystemPart.webp.runs, "libwebp is not there"), arguments: FormatFixture.all("webp"))
  func webPIsWhatPillowMakesOfIt(_ fixture: FormatFixture) throws { try fixture.expectDecoded() }

  @Test(
    .enabled(if: SystemPart.tiff.runs, "libtiff is not there"), arguments: FormatFixture.all("tiff"))
  func tiffIsWhatPillowMakesOfIt(_ fixture: FormatFixture) throws { try fixture.expectDecoded() }

  @Test(
    .enabled(if: SystemPart.hevc.runs, "no libheif that decodes HEVC is there"),
    arguments: FormatFixture.all("heic"))
  func heicIsNearWhatPillowHEIFMakesOfIt(_ fixture: FormatFixture) throws { try fixture.expectDecoded() }

  @Test(
    .enabled(if: SystemPart.av1.runs, "no libheif that decodes AV1 is there"),
    arguments: FormatFixture.all("avif"))
  func avifIsNearWhatPillowMakesOfIt(_ fixture: FormatFixture) throws { try fixture.expectDecoded() }

  /// The code stream's word on its colours goes before the file's.
  @Test(
    .enabled(if: SystemPart.jpeg2000.runs, "libopenjp2 is not there"), arguments: FormatFixture.all("j2k"))
  func jpeg2000InDICOMIsWhatPythonMakesOfIt(_ fixture: FormatFixture) throws { try fixture.expectDecoded() }

  @Test(arguments: FormatFixture.all("dicom"))
  func dicomTellsOfThePatientWhatItKnows(_ fixture: FormatFixture) throws {
    let decoded = try ImageDecoder.decode(try fixture.bytes(), frame: fixture.frame, part: .whole)
    let patient = decoded.patient ?? FilePatient()
    #expect(patient.ageInYears == fixture.metadata?.age)
    #expect(patient.knownSex?.rawValue == fixture.metadata?.sex)
    #expect(patient.site?.rawValue == fixture.metadata?.site)
  }

  /// Cut off anywhere, or with bytes changed, a file ends in pixels or an error. The libraries are not asked: theirs is the
  /// process that a limit ends.
  @Test func damagedFilesNeverCrash() throws {
    var generator = SeededGenerator(seed: 39)
    for fixture in FormatFixture.all("bmp", "dicom", "webp", "tiff", "heic", "avif") {
      let whole = try fixture.bytes()
      func look(_ bytes: [UInt8]) {
        let decoding = bytes.withUnsafeBytes { (try? ImageFormat.of($0))?.decoding }
        if case .library(let library) = decoding {
          _ = bytes.withUnsafeBytes { try? library.header($0) }
        } else {
          _ = try? ImageDecoder.decode(bytes, frame: fixture.frame, part: .whole)
        }
      }
      for part in 0..<24 { look(Array(whole.prefix(whole.count * part / 24 + part))) }
      for _ in 0..<40 {
        var damaged = whole
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          damaged[Int.random(in: 0..<min(damaged.count, 600), using: &generator)] = .random(
            in: 0...255, using: &generator)
        }
        look(damaged)
      }
    }
  }
}
