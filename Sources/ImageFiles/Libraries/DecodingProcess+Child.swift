import ImagePipeline
import SystemModule

extension DecodingProcess {
  /// Whether the program was started to decode a file for another run of it.
  package static func isAsked(_ words: [[UInt8]]) -> Bool {
    words.first?.elementsEqual(argument.utf8) == true
  }

  /// Decodes the file on standard input and writes its pixels to standard output.
  ///
  /// - Parameter words: the command line without the program's own name.
  /// - Returns: the exit status.
  package static func answer(_ words: [[UInt8]]) -> Int32 {
    let texts = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    guard texts.count == 5, let library = SystemLibrary.all.first(where: { $0.format.name == texts[0] }),
      let count = Int(texts[1]),
      let pixels = Int(texts[2]), let memory = Int(texts[3]), let seconds = Double(texts[4]),
      count > 0, count <= ImageDecoder.fileByteLimit
    else { return 64 }
    let limits = DecodingLimits(pixels: pixels, memory: memory, seconds: seconds)
    // The library is opened, and the file read, before the memory is limited to what decoding may take.
    guard library.version() != nil else { return 1 }
    var bytes = [UInt8](repeating: 0, count: count)
    guard bytes.withUnsafeMutableBytes({ StandardStreams.readInput(into: $0) }) else { return 1 }
    ChildLimits.apply(memory: memory, seconds: seconds)
    do throws(DermaFusionError) {
      let image = try bytes.withUnsafeBufferPointer { (bytes) throws(DermaFusionError) in
        try library.pixels(UnsafeRawBufferPointer(bytes), limits)
      }
      write(Reply.pixels(width: image.width, height: image.height).head)
      write(image.pixels)
    } catch {
      let text = Array(error.message.utf8.prefix(4096))
      write(Reply.failure(textCount: text.count).head)
      write(text)
    }
    return 0
  }

  private static func write(_ bytes: [UInt8]) {
    // The parent that does not read any more has ended.
    try? StandardStreams.output.write(bytes)
  }
}
