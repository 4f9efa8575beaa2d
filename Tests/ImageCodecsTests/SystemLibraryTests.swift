import Files
import ImagePipeline
import SystemModule
import Testing

@testable import ImageCodecs

@Suite struct SystemLibraryTests {
  @Test func aMissingLibraryIsNamedWithItsPackages() {
    #expect(SystemLibrary.open("libnowhere", versions: [7]) == nil)
    let package = SystemLibrary.Package(name: "libnowhere", debian: "libnowhere7", homebrew: "nowhere")
    #expect(
      package.missing("WebP").description == """
        WebP images are decoded by libnowhere, which this machine lacks: install Debian's libnowhere7 or Homebrew's \
        nowhere, or convert the image to PNG or JPEG
        """)
  }

  @Test func formatsAreThoseOfTheLibrariesThatAreThere() {
    let formats = ImageDecoder.formats
    #expect(formats.prefix(5) == ["png", "jpeg", "pnm", "bmp", "dicom"])
    #expect(formats.contains("webp") == (SystemLibrary.open("libwebp", versions: [7]) != nil))
    #expect(formats.contains("tiff") == (SystemLibrary.open("libtiff", versions: [6, 5]) != nil))
  }

  @Test func endingsTellWhetherAFormatIsRead() {
    #expect(ImageDecoder.refusal(ofEnding: ".PNG") == nil)
    #expect(ImageDecoder.refusal(ofEnding: ".dcm") == nil)
    #expect(ImageDecoder.refusal(ofEnding: ".gif") == DermaFusionError.unsupportedFormat(name: "GIF").message)
    #expect(
      ImageDecoder.refusal(ofEnding: ".nef") == DermaFusionError.unsupportedFormat(name: "raw camera").message
    )
    #expect(ImageDecoder.refusal(ofEnding: ".txt") == ".txt is no ending of an image format")
    #expect(ImageEndings.all.contains(".gif") && !ImageDecoder.readableEndings.contains(".gif"))
    #expect(Set(ImageDecoder.readableEndings).isSubset(of: ImageDecoder.endings))
    #expect(
      ImageDecoder.refusal(ofEnding: ".tif")
        == (TIFFLibrary.shared == nil ? SystemLibrary.tiff.package.missing("TIFF").message : nil))
  }

  @Test func contentsTellWhetherAFormatIsRead() {
    func refusal(_ text: String) -> String? {
      Array(text.utf8).withUnsafeBytes { ImageDecoder.refusal(ofStart: $0)?.description }
    }
    #expect(refusal("GIF89a") == DermaFusionError.unsupportedFormat(name: "GIF").message)
    #expect(refusal("P6 1 1 255") == nil)
    #expect(refusal("hello")?.hasPrefix("not a PNG, JPEG") == true)
  }

  /// What a child says arrives as it was said, and what it cannot have said is no answer.
  @Test func repliesOfTheDecodingProcessAreChecked() {
    let heads: [DecodingProcess.Reply] = [
      .pixels(width: 70_000, height: 3), .failure(textCount: 12), .failure(textCount: 0),
    ]
    for head in heads {
      let read = head.head.withUnsafeBytes { DecodingProcess.Reply(head: $0) }
      #expect(read.map { "\($0)" } == "\(head)")
    }
    for head: [UInt8] in [
      [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0],
    ] {
      #expect(head.withUnsafeBytes { DecodingProcess.Reply(head: $0) } == nil)
    }
  }
}
