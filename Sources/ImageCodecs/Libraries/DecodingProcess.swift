import ImagePipeline
import SystemModule

/// Another run of the program that decodes one file: a library that crashes, hangs or takes memory there costs one image.
package struct DecodingProcess: Sendable {
  /// The program's first argument there. It is not meant for people.
  package static let argument = "--decode-for-parent"

  private static let chosen = Locked<DecodingProcess?>(nil)
  /// Nil where files are decoded in this process.
  static var shared: DecodingProcess? { chosen.withLock { $0 } }

  private let executable: String

  /// From now on, files are decoded by runs of this program, which must call ``answer(_:)``.
  package static func use(executable: String) {
    chosen.withLock { $0 = DecodingProcess(executable: executable) }
  }

  func pixels(
    _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, library: String, limits: DecodingLimits
  ) throws(DermaFusionError) -> PixelImage {
    let child: ChildProcess
    do throws(DermaFusionError) {
      child = try ChildProcess(
        executable: executable,
        arguments: [
          Self.argument, String(bytes.count), String(limits.pixels), String(limits.memory),
          String(limits.seconds),
        ], seconds: limits.seconds)
    } catch {
      throw .invalidImage(
        "the \(format.name) cannot be decoded: a process for it cannot be started: \(error.message)")
    }
    child.write(bytes)
    var head = [UInt8](repeating: 0, count: Reply.headCount)
    guard head.withUnsafeMutableBytes({ child.read(into: $0) }),
      let reply = head.withUnsafeBytes({ Reply(head: $0) })
    else { throw failure(of: child, format, library, limits) }
    switch reply {
    case .pixels(let width, let height):
      // The child's reply is no more trusted than the file.
      try limits.check(width: width, height: height, part: .whole)
      guard width > 0, height > 0 else {
        throw .corrupt(format, reason: "\(library) gives no pixels")
      }
      return try PixelImage(width: width, height: height) { (pixels) throws(DermaFusionError) in
        let buffer = UnsafeMutableRawBufferPointer(start: pixels, count: width * height * 3)
        guard child.read(into: buffer) else { throw failure(of: child, format, library, limits) }
      }
    case .failure(let count):
      var text = [UInt8](repeating: 0, count: count)
      guard text.withUnsafeMutableBytes({ child.read(into: $0) }) else {
        throw failure(of: child, format, library, limits)
      }
      throw .invalidImage(Sentence(sent: text))
    }
  }

  /// The error of a child that ended without an answer.
  private func failure(
    of child: ChildProcess, _ format: ImageFormat, _ library: String, _ limits: DecodingLimits
  ) -> DermaFusionError {
    switch child.end() {
    case .late: .tooSlow(format, seconds: limits.seconds)
    // The limit of a child's processor time.
    case .killed(ChildLimits.timeSignal): .tooSlow(format, seconds: limits.seconds)
    case .killed(let signal):
      .invalidImage("the \(format.name) cannot be decoded: \(library) crashed on it (signal \(signal))")
    case .exited: .outOfMemory(format)
    }
  }
}

extension DecodingProcess {
  /// The head of the child's reply, before its pixels or its reason: three numbers of 32 bits.
  enum Reply {
    case pixels(width: Int, height: Int)
    case failure(textCount: Int)

    static let headCount = 12

    init?(head: UnsafeRawBufferPointer) {
      let numbers = (0..<3).compactMap { ByteReader(head).integer32(at: $0 * 4) }
      guard numbers.count == 3 else { return nil }
      if numbers[0] == 0 {
        self = .pixels(width: numbers[1], height: numbers[2])
      } else {
        guard numbers[0] == 1, numbers[1] <= 4096 else { return nil }
        self = .failure(textCount: numbers[1])
      }
    }

    var head: [UInt8] {
      let numbers =
        switch self {
        case .pixels(let width, let height): [0, width, height]
        case .failure(let count): [1, count, 0]
        }
      return numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    }
  }

  /// True if the program was started to decode a file for another run of it.
  package static func isAsked(_ words: [[UInt8]]) -> Bool {
    words.first?.elementsEqual(argument.utf8) == true
  }

  /// Decodes the file on standard input, writes its pixels to standard output and returns the exit status.
  package static func answer(_ words: [[UInt8]]) -> Int32 {
    let texts = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    guard texts.count == 4, let count = Int(texts[0]), let pixels = Int(texts[1]),
      let memory = Int(texts[2]), let seconds = Double(texts[3]), count > 0,
      count <= ImageDecoder.fileByteLimit
    else { return 64 }
    let limits = DecodingLimits(pixels: pixels, memory: memory, seconds: seconds)
    var bytes = [UInt8](repeating: 0, count: count)
    guard bytes.withUnsafeMutableBytes({ StandardStreams.readInput(into: $0) }) else { return 1 }
    do throws(DermaFusionError) {
      let image = try bytes.withUnsafeBufferPointer { (bytes) throws(DermaFusionError) in
        let bytes = UnsafeRawBufferPointer(bytes)
        // The library is opened before the memory is limited to what decoding may take.
        guard let library = try ImageFormat.of(bytes).library, library.version() != nil else {
          throw .invalidImage("no library decodes it")
        }
        ChildLimits.apply(memory: memory, seconds: seconds)
        return try library.pixels(bytes, limits)
      }
      write(Reply.pixels(width: image.width, height: image.height).head)
      write(image.pixels)
    } catch {
      let text = Array(error.fault.sent.prefix(4096))
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

extension Sentence {
  /// The marks between the parts of a sentence on its way from the child. A part's own text has none of them.
  private enum Mark {
    static let (end, words, value, number, sentence): (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 1, 2, 3, 4)
  }

  /// The sentence as the child sends it, part by part, so that the parent can word it in another language.
  var sent: [UInt8] {
    parts.flatMap { part -> [UInt8] in
      switch part {
      case .words(let text): [Mark.words] + text.onOneLine.utf8 + [Mark.end]
      case .value(let text): [Mark.value] + text.onOneLine.utf8 + [Mark.end]
      case .number(let text): [Mark.number] + text.onOneLine.utf8 + [Mark.end]
      case .sentence(let inner): [Mark.sentence] + inner.sent + [Mark.end]
      }
    }
  }

  /// A sentence that a child sent. What comes is not trusted: any bytes make a sentence.
  init(sent bytes: [UInt8]) {
    var rest = bytes[...]
    self.init(parts: Self.parts(&rest, depth: 0))
  }

  private static func parts(_ rest: inout ArraySlice<UInt8>, depth: Int) -> [Part] {
    var parts: [Part] = []
    while let mark = rest.popFirst(), mark != Mark.end {
      if mark == Mark.sentence, depth < 8 {
        parts.append(.sentence(Sentence(parts: Self.parts(&rest, depth: depth + 1))))
        continue
      }
      let bytes = rest.prefix { $0 != Mark.end }
      rest = rest.dropFirst(bytes.count + 1)
      let text = String(decoding: bytes, as: UTF8.self)
      parts.append(mark == Mark.words ? .words(text) : mark == Mark.number ? .number(text) : .value(text))
    }
    return parts
  }
}
