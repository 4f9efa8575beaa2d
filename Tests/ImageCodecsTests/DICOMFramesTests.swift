import Files
import ImagePipeline
import SystemModule
import TestFiles
import Testing

@testable import ImageCodecs

/// A DICOM file of several frames is never answered by its first in silence.
@Suite struct DICOMFramesTests {
  private func three() throws -> [UInt8] {
    try #require(FormatFixture.all("dicom_three_native").first).bytes()
  }

  private func message(_ bytes: [UInt8], frame: Int?) -> String {
    do throws(DermaFusionError) {
      _ = try ImageDecoder.decode(bytes, frame: frame, part: .whole)
      return ""
    } catch {
      return error.message
    }
  }

  @Test func severalFramesAreRefusedUnlessOneIsAskedFor() throws {
    let file = try three()
    #expect(
      message(file, frame: nil) == """
        the DICOM holds 3 frames, and one is looked at at a time: ask for FILE#1 to FILE#3 on the command line, or for a \
        frame by its number in Python, Swift and C
        """)
    #expect(message(file, frame: 4) == "the DICOM holds 3 frames, and frame 4 was asked for")
    #expect(message(file, frame: 0) == "the DICOM holds 3 frames, and frame 0 was asked for")
    #expect(message(file, frame: 3) == "")
    let one = try #require(FormatFixture.all("dicom_explicit").first).bytes()
    #expect(message(one, frame: 1) == "")
    #expect(message(one, frame: 2) == "the DICOM holds one frame, and frame 2 was asked for")
    #expect(
      message(TinyJPEG.gray, frame: 1)
        == "only DICOM files have frames that can be asked for, and this is JPEG")
  }

  /// A frame that the pixels do not reach is cut off, not black.
  @Test func aFrameBehindTheEndIsTruncation() {
    let tests = DICOMDecoderTests()
    let count = DICOMDecoderTests.element(0x0028_0008, "IS", Array("2".utf8))
    #expect(
      message(tests.file(more: count), frame: 2)
        == "the DICOM is truncated: 12 bytes of pixels where 24 are needed")
    let runs = DICOMDecoderTests.encapsulated([[UInt8](repeating: 0, count: 64)])
    #expect(
      message(tests.file(syntax: "1.2.840.10008.1.2.5", more: count, encapsulated: runs), frame: 2)
        == "the DICOM is corrupt: 1 fragments of 2 frames, and no table of offsets")
    let jpeg = DICOMDecoderTests.encapsulated([[1, 2], [3, 4], [0xFF, 0xD9]])
    #expect(
      message(tests.file(syntax: "1.2.840.10008.1.2.4.50", more: count, encapsulated: jpeg), frame: 2)
        == "the DICOM is truncated: frame 2 of 2 is missing")
  }

  /// The number of frames is missing, malformed or too low.
  @Test(arguments: ["", "3.0", "0", "1", "99999999999"])
  func framesThatTheFileDoesNotStateAreAnError(stated: String) {
    let tests = DICOMDecoderTests()
    let count = stated.isEmpty ? [] : DICOMDecoderTests.element(0x0028_0008, "IS", Array(stated.utf8))
    let words =
      "the DICOM is corrupt: it has the pixels of 3 frames, and "
      + (stated.isEmpty ? "no NumberOfFrames" : "NumberOfFrames is \(stated)")
    #expect(message(tests.file(more: count, pixels: [UInt8](0..<36)), frame: nil) == words)
    let runs = [3, 64].flatMap { DICOMDecoderTests.bytes($0, 4) } + [UInt8](repeating: 0, count: 56)
    for (syntax, frame) in [
      ("1.2.840.10008.1.2.4.50", [0xFF, 0xD8, 0xFF, 0xD9] as [UInt8]), ("1.2.840.10008.1.2.5", runs),
    ] {
      let pixels = DICOMDecoderTests.encapsulated([frame, frame, frame])
      #expect(message(tests.file(syntax: syntax, more: count, encapsulated: pixels), frame: nil) == words)
    }
  }

  /// A caller that asks for each of the stated frames would miss it.
  @Test func aFrameBehindTheStatedOnesIsAnError() {
    let tests = DICOMDecoderTests()
    let count = DICOMDecoderTests.element(0x0028_0008, "IS", Array("2".utf8))
    let words = "the DICOM is corrupt: it has the pixels of 3 frames, and NumberOfFrames is 2"
    #expect(message(tests.file(more: count, pixels: [UInt8](0..<36)), frame: 1) == words)
    let jpegs = DICOMDecoderTests.encapsulated([TinyJPEG.gray, TinyJPEG.gray, TinyJPEG.gray])
    #expect(
      message(tests.file(syntax: "1.2.840.10008.1.2.4.50", more: count, encapsulated: jpegs), frame: 2)
        == words)
  }

  /// The standard adds one byte to an odd number; older writers add more (part 5, 8.1.1).
  @Test func bytesThatFillTheLastFrameUpAreNoFrame() throws {
    let tests = DICOMDecoderTests()
    func pixels(_ bytes: [UInt8]) throws -> [UInt8] {
      try ImageDecoder.decode(tests.file(interpretation: "RGB", rows: 1, pixels: bytes)).pixels
    }
    let frame = [UInt8](1...6)
    let zeros = [1, 6, 600].map { [UInt8](repeating: 0, count: $0) }
    for filling in zeros + [[9, 9, 9, 9]] {
      #expect(try pixels(frame + filling) == frame, "\(filling.count) bytes")
    }
    #expect(
      message(tests.file(rows: 1, pixels: frame + [0, 0, 0, 0, 0, 1, 0]), frame: nil)
        == "the DICOM is corrupt: it has the pixels of 2 frames, and no NumberOfFrames")
  }

  /// Two frames of 4:2:2 are longer than one whose every pixel has a colour.
  @Test func framesOfSharedColoursAreCounted() throws {
    let tests = DICOMDecoderTests()
    func file(_ count: Int) -> [UInt8] {
      tests.file(interpretation: "YBR_FULL_422", pixels: [UInt8](repeating: 128, count: count))
    }
    for count in [8, 12, 13] { #expect(message(file(count), frame: nil) == "", "\(count)") }
    #expect(
      message(file(16), frame: nil)
        == "the DICOM is corrupt: it has the pixels of 2 frames, and no NumberOfFrames")
  }

  @Test func theNumberOfFramesIsTheFilesOwn() {
    let count = DICOMDecoderTests.element(0x0028_0008, "IS", Array("999999999".utf8))
    #expect(
      message(DICOMDecoderTests().file(more: count), frame: nil).hasPrefix("the DICOM holds 999999999 frames")
    )
  }

  @Test func framesAreCountedWithoutTheirPixels() throws {
    let folder = TemporaryFolder()
    func count(_ bytes: [UInt8], as name: String) -> Int {
      ImageFrames.count(ofFile: folder.write(bytes, to: name))
    }
    let file = try three()
    #expect(count(file, as: "a.dcm") == 3)
    #expect(count(file, as: "IM0001") == 3)
    // Decoding refuses it: the ending is another format's.
    #expect(count(file, as: "a.jpg") == 1)
    #expect(count(TinyJPEG.gray, as: "b.dcm") == 1)
    #expect(count([1], as: "c.dcm") == 1)
    #expect(ImageFrames.count(ofFile: folder.path + "/missing.dcm") == 1)
    // An element of a megabyte before the number, and one of 20.
    for size in [1 << 16, 1 << 20, 20 << 20] {
      let tests = DICOMDecoderTests()
      let secret =
        DICOMDecoderTests.bytes(0x0009, 2) + DICOMDecoderTests.bytes(0x1010, 2) + Array("OB".utf8) + [0, 0]
        + DICOMDecoderTests.bytes(size, 4) + [UInt8](repeating: 0, count: size)
      let number = DICOMDecoderTests.element(0x0028_0008, "IS", Array("7".utf8))
      let whole = tests.file()
      // Behind the group of the file's heading.
      let start =
        128 + 4 + DICOMDecoderTests.element(0x0002_0010, "UI", Array("1.2.840.10008.1.2.1".utf8) + [0]).count
      #expect(
        count(Array(whole[..<start]) + secret + number + whole[start...], as: "big.dcm") == 7, "\(size)"
      )
    }
    // It cannot be read here, so that it is one failure and not thousands.
    let film = DICOMDecoderTests().file(
      syntax: "1.2.840.10008.1.2.4.102", more: DICOMDecoderTests.element(0x0028_0008, "IS", Array("900".utf8))
    )
    #expect(count(film, as: "film.dcm") == 1)
  }

  @Test func namesOfFramesAreToldFromOthers() {
    for (name, file, frame) in [
      ("a.dcm#2", "a.dcm", 2), ("d/a.dcm#10", "d/a.dcm", 10), ("a#1#3", "a#1", 3), ("IM1#1", "IM1", 1),
    ] {
      #expect(name.frameParts?.file == file && name.frameParts?.frame == frame, "\(name)")
    }
    for name in [
      "a.dcm", "a.dcm#", "a.dcm#0", "a.dcm#01", "a.dcm#x", "#1", "a.dcm#-1", "d/#1", "a#99999999999999999999",
    ] {
      #expect(name.frameParts == nil, "\(name)")
    }
    #expect("d/a.dcm#2".imageIdentifier == "a#2")
    #expect("a#2".imageIdentifier == "a#2" && "a.txt#2".imageIdentifier == "a.txt#2")
  }

  /// Components called R, G and B are these, though the file says YBR and JFIF would say YCbCr.
  @Test(arguments: ["RGB", "rgb"]) func aJPEGsComponentsGoBeforeTheFilesWord(_ ids: String) throws {
    let fixture = try #require(FormatFixture.all("dicom_jpeg_rgb_bare").first)
    let letters = Array(ids.utf8)
    var file = try fixture.bytes()
    let frame = try #require(file.firstRange(of: [0xFF, 0xC0])?.lowerBound)
    let scan = try #require(file.firstRange(of: [0xFF, 0xDA])?.lowerBound)
    for index in 0..<3 {
      file[frame + 10 + index * 3] = letters[index]
      file[scan + 5 + index * 2] = letters[index]
    }
    let tag = try #require(file.firstRange(of: Array("CS".utf8) + [4, 0] + Array("RGB ".utf8))?.lowerBound)
    let ybr = Array("CS".utf8) + [8, 0] + Array("YBR_FULL".utf8)
    let changed = Array(file[..<tag]) + ybr + file[(tag + 8)...]
    let image = try ImageDecoder.decode(changed)
    #expect(SHA256.hexDigest(image.pixels) == fixture.sha256)
  }
}
