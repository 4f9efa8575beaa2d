import ImagePipeline
import ReferenceLayers
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

@Suite struct ImageFormatTests {
  @Test func refusesAnEmptyFile() {
    expectRefusal(of: [], .empty)
  }

  @Test func showsTheFirstBytesOfAnUnknownFile() {
    expectRefusal(of: Array("hello, world".utf8), .unrecognizedFormat(leadingBytes: Array("hello, w".utf8)))
    expectRefusal(of: [0], .unrecognizedFormat(leadingBytes: [0]))
    expectRefusal(
      of: Array("P6#no space\n1 1 255\n...".utf8), .unrecognizedFormat(leadingBytes: Array("P6#no sp".utf8)))
    #expect(
      DermaFusionError.unrecognizedFormat(leadingBytes: [0x0A, 0xFF]).description
        == "not a PNG, JPEG, PNM, BMP, DICOM, WebP, TIFF, HEIC or AVIF image (it starts with 0A FF)")
  }

  @Test func namesKnownKindsThatAreNotSupported() {
    let files: [(String, [UInt8])] = [
      ("GIF", Array("GIF89a".utf8)), ("MP4 or QuickTime", Array("\0\0\0\u{18}ftypqt  ".utf8)),
      ("JPEG 2000", [0xFF, 0x4F, 0xFF, 0x51]), ("JPEG XL", [0xFF, 0x0A]), ("Photoshop", Array("8BPS".utf8)),
      ("PDF", Array("%PDF-1.7".utf8)), ("ICO", [0, 0, 1, 0, 1]), ("PAM", Array("P7\nWIDTH".utf8)),
      ("PFM", Array("PF\n1 1".utf8)),
    ]
    for (name, bytes) in files { expectRefusal(of: bytes, .unsupportedFormat(name: name)) }
  }

  @Test func goesByTheContentsOnly() throws {
    #expect(try ImageDecoder.decode(Array("P2 1 1 255 7".utf8)).pixels == [7, 7, 7])
    #expect(try ImageDecoder.decode(TinyJPEG.gray).width == 8)
  }

  /// Whatever the bytes, decoding ends with pixels or an error. The long run under AddressSanitizer is not part of the
  /// tests; this is a taste of it.
  @Test func damagedFilesNeverCrash() {
    let png = PNGBuilder(width: 9, height: 9, bitDepth: 4, colorType: 0, isInterlaced: true).file(
      (0..<81).map { $0 % 16 })
    let files = [
      TinyJPEG.subsampled, TinyJPEG.progressive, TinyJPEG.restarting, TinyJPEG.cmyk, png,
      Array("P3 # c\n2 2 7\n1 2 3 4 5 6 7 0 1 2 3 4".utf8),
      Array("P6 2 2 300\n".utf8) + [UInt8](repeating: 1, count: 24),
    ]
    var generator = SeededGenerator(seed: 11)
    var decodedCount = 0
    for file in files {
      for _ in 0..<150 {
        var damaged = file
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(
            in: 0...255, using: &generator)
        }
        // A header that claims more is legal, but takes long to decode.
        if let image = try? ImageDecoder.decode(damaged) {
          decodedCount += 1
          #expect(image.pixels.count == image.width * image.height * 3)
        }
      }
    }
    #expect(decodedCount > 100)
  }
}
