import Foundation
import ImagePipeline
import TestImages
import Testing

@testable import ImageCodecs
@testable import ImageFiles

@Suite struct PDFEncoderTests {
  private func place(of text: String, in file: [UInt8], after start: Int = 0) throws -> Int {
    try #require(Data(file).range(of: Data(text.utf8), in: start..<file.count)?.lowerBound)
  }

  /// The pixels are read as a PNG file's, whose compression and filters PDF has too.
  @Test(arguments: [(1, 1), (3, 2), (17, 31), (640, 5)])
  func thePixelsAreStoredWithoutLoss(width: Int, height: Int) throws {
    let pixels = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 * 151 + $0 / 7) }
    let image = PixelImage(width: width, height: height, pixels: pixels)
    let file = try PDFEncoder.encode(image, text: [])
    let picture = try place(of: "/Subtype /Image /Width \(width) /Height \(height)", in: file)
    let end = try place(of: " >>\nstream\n", in: file, after: picture)
    let words = String(decoding: file[picture..<end], as: UTF8.self)
    #expect(
      words.contains("/DecodeParms << /Predictor 15 /Colors 3 /BitsPerComponent 8 /Columns \(width) >>"))
    let length = try #require(words.split(separator: " ").last.flatMap { Int($0) })
    let start = end + " >>\nstream\n".utf8.count
    #expect(try place(of: "\nendstream", in: file, after: start + length) == start + length)
    let png = PNGBuilder(width: width, height: height, bitDepth: 8, colorType: 2)
      .file(imageData: Array(file[start..<start + length]))
    expectEqual(try ImageDecoder.decode(png), image)
  }

  @Test func theTableSaysWhereTheObjectsAre() throws {
    let image = PixelImage(width: 2, height: 2, pixels: (0..<12).map { UInt8($0 * 20) })
    let file = try PDFEncoder.encode(
      image, text: [("Title", #"A (small) \ map"#), ("Disclaimer", "Not a medical device.")])
    let text = String(decoding: file, as: UTF8.self)
    #expect(text.hasPrefix("%PDF-1.4\n") && text.hasSuffix("%%EOF\n"))
    let table = try place(of: "xref\n", in: file)
    #expect(text.contains("startxref\n\(table)\n"))
    let lines = String(decoding: file[table...], as: UTF8.self).split(separator: "\n")
    #expect(lines[1] == "0 7")
    for number in 1...6 {
      let line = lines[2 + number]
      // Each entry has 20 bytes, its line break among them.
      #expect(line.utf8.count == 19)
      let place = try #require(Int(line.prefix(10)))
      #expect(file[place...].starts(with: Array("\(number) 0 obj\n".utf8)), "\(number)")
    }
    #expect(text.contains(#"/Title (A \(small\) \\ map)"#))
    #expect(text.contains("/Disclaimer (Not a medical device.)"))
  }
}
