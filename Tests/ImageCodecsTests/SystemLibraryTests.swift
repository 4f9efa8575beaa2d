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

  /// A child's words arrive as it said them, and those that it cannot have said are no answer.
  /// A sentence comes from the child with its parts, by which other languages word it; other bytes make some sentence.
  @Test func aSentenceOfTheDecodingProcessKeepsItsParts() throws {
    let inner: Sentence = "strip \(3) of\n\("{1} \u{1}\u{0}é")"
    let sentence = DermaFusionError.tooSlow(.tiff, seconds: 0.5).named("a\u{4}b").fault + "; \(inner)"
    let received = Sentence(sent: sentence.sent)
    #expect(
      received.description
        == "a b: decoding the TIFF took longer than the limit of 0.5 seconds; strip 3 of {1}   é")
    try #require(received.parts.count == sentence.parts.count)
    guard case .sentence(let named) = received.parts[2], case .number("0.5") = named.parts[3] else {
      Issue.record("\(received.parts)")
      return
    }
    for count in 0..<sentence.sent.count {
      #expect(sentence.sent.count > Sentence(sent: Array(sentence.sent.prefix(count))).description.utf8.count)
    }
    let deep = Sentence(sent: [UInt8](repeating: 4, count: 4096))
    #expect(deep.description.utf8.count < 4096)
  }

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
