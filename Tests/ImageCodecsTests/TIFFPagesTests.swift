import ImagePipeline
import SystemModule
import Testing

@testable import ImageCodecs

/// Previews must not be classified in the place of the photograph.
@Suite struct TIFFPagesTests {
  typealias Page = TIFFBuilder.Page
  static let forms = [false, true].flatMap { isBig in
    [false, true].map { TIFFBuilder(isBigEndian: $0, isBig: isBig) }
  }
  static let (reduced, oldReduced) = ([254: 1], [255: 2])
  static let (mosaic, linear) = (32803, 34892)

  private func pages(_ file: [UInt8]) -> TIFFPages { file.withUnsafeBytes { TIFFPages($0) } }

  @Test(.enabled(if: SystemPart.tiff.runs, "libtiff is not there"), arguments: forms)
  func theFirstPageThatIsNotReducedIsTaken(form: TIFFBuilder) throws {
    let whole = Page(value: 200, side: 48)
    let small = [
      Page(tags: Self.reduced, value: 9), Page(tags: Self.oldReduced, value: 8),
      Page(tags: [254: 5], value: 7),
    ]
    for (pages, value) in [
      ([whole], 200), ([whole] + small, 200), ([small[0], whole], 200), (small + [whole], 200),
      ([Page(tags: [254: 2], value: 5), whole], 5),
      ([Page(tags: Self.reduced, value: 9, below: [Page(tags: Self.reduced, value: 3), whole])], 200),
      // A page of the chain before one that lies below.
      ([Page(tags: Self.reduced, value: 9, below: [Page(value: 1)]), whole], 200),
      // There is nothing else.
      (small, 9),
    ] as [([Page], UInt8)] {
      let image = try ImageDecoder.decode(form.file(pages))
      #expect(image.pixels.allSatisfy { $0 == value }, "\(value)")
      #expect(image.width == (value == 200 ? 48 : 32))
    }
  }

  @Test(arguments: forms) func rawPhotographsAreRefusedWhateverTheyAreCalled(form: TIFFBuilder) {
    let preview = Page(tags: Self.reduced, value: 9)
    for pages in [
      // DNG, and what other cameras write.
      [Page(tags: [50706: 1 << 24], value: 9)],
      [Page(tags: Self.reduced, below: [Page(tags: [262: Self.mosaic])])],
      [Page(tags: Self.reduced, below: [preview, Page(tags: [262: Self.linear])])],
      [Page(value: 9), Page(tags: [262: Self.mosaic])],
      [Page(tags: [262: Self.mosaic]), preview],
    ] { expectRefusal(of: form.file(pages), .unsupportedFormat(name: "raw camera")) }
  }

  @Test func otherRawPhotographsAreKnownByTheirFirstBytes() {
    for start in [
      "FUJIFILMCCD-RAW 0201", "IIU\0\u{18}\0\0\0", "IIRO\u{8}\0\0\0", "II*\0\u{10}\0\0\0CR\u{2}\0",
      "\0\0\0\u{18}ftypcrx \0\0\0\u{1}",
      "\0MRM\0\0", "FOVb\0", "II\u{1a}\0\0\0HEAPCCDR",
    ] { expectRefusal(of: Array(start.utf8), .unsupportedFormat(name: "raw camera")) }
  }

  /// A file in which directories lead to one another, or are many, ends.
  @Test func directoriesInARingEnd() {
    var file = TIFFBuilder().file([Page(tags: Self.reduced), Page(tags: Self.reduced)])
    let first = Int(file[4]) | Int(file[5]) << 8
    let count = Int(file[first])
    // The first directory's next is itself.
    file.replaceSubrange(first + 2 + count * 12..<first + 6 + count * 12, with: file[4..<8])
    #expect(pages(file).picture == first)
    let many = TIFFBuilder().file(
      [Page](repeating: Page(tags: Self.reduced, side: 1), count: 5000) + [Page()])
    #expect(pages(many).isFirst)
  }

  /// Every cut of a file is looked at without a crash, and never called raw when it is not.
  @Test func cutsAreLookedAt() {
    for form in Self.forms {
      let file = form.file([Page(tags: Self.reduced, side: 2, below: [Page(side: 2)]), Page(side: 2)])
      for count in 0..<file.count { #expect(!pages(Array(file.prefix(count))).isRaw, "\(count)") }
    }
  }

  /// Tags may claim every byte of a file: what is kept of them is bounded.
  @Test func whatTagsClaimIsBounded() throws {
    var form = TIFFBuilder.Page()
    form.side = 2000
    var file = TIFFBuilder().file([form])
    // The tag ExtraSamples with as many bytes as the file has.
    let first = Int(file[4]) | Int(file[5]) << 8 | Int(file[6]) << 16 | Int(file[7]) << 24
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let count = Int(file[first])
    let place = first + 2 + (count - 1) * 12
    file.replaceSubrange(
      place..<place + 12, with: number(338, 2) + number(1, 2) + number(4_000_000, 4) + number(8, 4))
    try file.withUnsafeBytes { bytes in
      let directory = try TIFFDirectory(bytes)
      #expect(directory.count(338) == 4_000_000)
      #expect(try #require(directory.integers(338)).count == 3 << 16)
      #expect(directory.integer(338, at: 3_999_999) != nil && directory.integer(338, at: 4_000_000) == nil)
    }
  }
}
