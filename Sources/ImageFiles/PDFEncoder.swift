import Figures
import ImageCodecs
import ImagePipeline
import SystemModule

/// Writes PDF files of one page (ISO 32000-1), the same bytes for the same page.
package enum PDFFile {
  /// - Parameters:
  ///   - width: of the page, in points.
  ///   - resources: what the contents name, as PDF writes it; `5 0 R` is the picture.
  ///   - contents: what is drawn.
  ///   - picture: its heading and its data.
  ///   - information: keywords and their text; see ``text(_:)``.
  package static func bytes(
    width: Double, height: Double, resources: String, contents: String,
    picture: (head: String, data: [UInt8])? = nil, information: [(keyword: String, text: String)]
  ) -> [UInt8] {
    let facts = information.map { "/\($0.keyword.filter { $0 != " " }) \(text($0.text))" }
    let page = "/MediaBox [0 0 \(width) \(height)] /Contents 4 0 R /Resources << \(resources) >>"
    var objects: [(head: String, stream: [UInt8]?)] = [
      ("/Type /Catalog /Pages 2 0 R", nil),
      ("/Type /Pages /Kids [3 0 R] /Count 1", nil),
      ("/Type /Page /Parent 2 0 R \(page)", nil),
      ("", Array(contents.utf8)),
    ]
    if let picture { objects.append((picture.head, picture.data)) }
    objects.append((facts.joined(separator: "\n"), nil))
    // A comment of bytes above 127 says that the file is not text.
    var file = Array("%PDF-1.4\n%".utf8) + [0xE2, 0xE3, 0xCF, 0xD3, 0x0A]
    var places: [Int] = []
    for (index, object) in objects.enumerated() {
      places.append(file.count)
      let length = object.stream.map { " /Length \($0.count)" } ?? ""
      file += Array("\(index + 1) 0 obj\n<< \(object.head)\(length) >>\n".utf8)
      if let stream = object.stream { file += Array("stream\n".utf8) + stream + Array("\nendstream\n".utf8) }
      file += Array("endobj\n".utf8)
    }
    let table = file.count
    file += Array("xref\n0 \(places.count + 1)\n0000000000 65535 f \n".utf8)
    for place in places {
      let digits = String(place)
      file += Array("\(String(repeating: "0", count: 10 - digits.count))\(digits) 00000 n \n".utf8)
    }
    let size = places.count + 1
    file += Array(
      "trailer\n<< /Size \(size) /Root 1 0 R /Info \(places.count) 0 R >>\nstartxref\n\(table)\n%%EOF\n".utf8)
    return file
  }

  /// A text as PDF writes it.
  package static func text(_ text: String) -> String {
    var escaped = ""
    for character in text.inASCII {
      if ["(", ")", "\\"].contains(character) { escaped.append("\\") }
      escaped.append(character)
    }
    return "(\(escaped))"
  }
}

/// Writes a picture as a page of its size, without loss. The pixels are those of a PNG file as they are: PDF takes the same
/// compression and the same filters (7.4.4.4).
enum PDFEncoder {
  private static let pixelsPerInch = 150.0

  /// - Throws: see ``PNGEncoder/encode(_:text:)``.
  static func encode(
    _ image: PixelImage, text: [(keyword: String, text: String)]
  ) throws(DermaFusionError) -> [UInt8] {
    let pixels = compressedRows(ofPNG: try PNGEncoder.encode(image))
    let (width, height) = (points(image.width), points(image.height))
    let head = """
      /Type /XObject /Subtype /Image /Width \(image.width) /Height \(image.height) /ColorSpace /DeviceRGB \
      /BitsPerComponent 8 /Filter /FlateDecode \
      /DecodeParms << /Predictor 15 /Colors 3 /BitsPerComponent 8 /Columns \(image.width) >>
      """
    return PDFFile.bytes(
      width: width, height: height, resources: "/XObject << /Picture 5 0 R >>",
      contents: "q \(width) 0 0 \(height) 0 0 cm /Picture Do Q", picture: (head, pixels), information: text)
  }

  /// The content of the IDAT chunks.
  private static func compressedRows(ofPNG png: [UInt8]) -> [UInt8] {
    png.withUnsafeBytes { png in
      let reader = ByteReader(png, isBigEndian: true)
      var rows: [UInt8] = []
      // Behind the signature: length, type, data and checksum of each chunk.
      var position = 8
      while let length = reader.integer32(at: position),
        let data = reader.bytes(at: position + 8, count: length)
      {
        if reader.holds("IDAT", at: position + 4) { rows += data }
        position += length + 12
      }
      return rows
    }
  }

  private static func points(_ pixels: Int) -> Double { Double(pixels) * 72 / pixelsPerInch }
}
