import CPNG
import ImagePipeline
import SystemModule

package enum PNGEncoder {
  /// Encodes an image as 8-bit RGB without interlacing. The same image and text give the same bytes.
  ///
  /// - Parameter text: `tEXt` chunks, written before the pixels: a keyword of 1...79 characters and its text, both ASCII, so
  ///   that every reader shows them alike.
  package static func encode(
    _ image: PixelImage, text: [(keyword: String, text: String)] = []
  ) throws(DermaFusionError) -> [UInt8] {
    for (keyword, text) in text {
      precondition(
        (1...79).contains(keyword.utf8.count) && (keyword + text).utf8.allSatisfy { (1...127).contains($0) },
        "PNG text \(keyword): \(text) is not ASCII, or its keyword not of 1 to 79 characters")
    }
    var file = cpng_file()
    defer { cpng_free(&file) }
    let keywords = text.map { ContiguousArray($0.keyword.utf8CString) }
    let texts = text.map { ContiguousArray($0.text.utf8CString) }
    let status = withPointers(keywords) { keywordPointers in
      withPointers(texts) { textPointers in
        image.pixels.withUnsafeBufferPointer { pixels in
          cpng_encode(
            pixels.baseAddress, UInt32(image.width), UInt32(image.height), keywordPointers, textPointers,
            Int32(text.count), &file)
        }
      }
    }
    guard status == CPNG_OK else {
      let reason = String(untilZeroIn: file.message)
      throw .encodingFailed(reason: reason.isEmpty ? "out of memory" : reason)
    }
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }

  private static func withPointers<Result>(
    _ strings: [ContiguousArray<CChar>], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    var pointers: [UnsafePointer<CChar>?] = []
    func next(_ rest: ArraySlice<ContiguousArray<CChar>>) -> Result {
      guard let first = rest.first else {
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
      }
      return first.withUnsafeBufferPointer { buffer in
        pointers.append(buffer.baseAddress)
        return next(rest.dropFirst())
      }
    }
    return next(strings[...])
  }
}
