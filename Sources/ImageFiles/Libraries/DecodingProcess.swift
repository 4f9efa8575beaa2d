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

  /// The stored pixels of a file.
  func pixels(
    _ bytes: UnsafeRawBufferPointer, _ library: SystemLibrary, limits: DecodingLimits
  ) throws(DermaFusionError) -> PixelImage {
    let format = library.format
    let child: ChildProcess
    do throws(DermaFusionError) {
      child = try ChildProcess(
        executable: executable,
        arguments: [
          Self.argument, format.name, String(bytes.count), String(limits.pixels), String(limits.memory),
          String(limits.seconds),
        ], seconds: limits.seconds)
    } catch {
      throw .noDecodingProcess(format, reason: "\(error)")
    }
    child.write(bytes)
    var head = [UInt8](repeating: 0, count: Reply.headCount)
    guard head.withUnsafeMutableBytes({ child.read(into: $0) }),
      let reply = head.withUnsafeBytes({ Reply(head: $0) })
    else { throw failure(of: child, library, limits) }
    switch reply {
    case .pixels(let width, let height):
      // What comes is as little to be trusted as what went.
      try limits.check(width: width, height: height, part: .whole)
      guard width > 0, height > 0 else {
        throw .corrupt(format, reason: "\(library.package.name) gives no pixels")
      }
      return try PixelImage(width: width, height: height) { (pixels) throws(DermaFusionError) in
        let buffer = UnsafeMutableRawBufferPointer(start: pixels, count: width * height * 3)
        guard child.read(into: buffer) else { throw failure(of: child, library, limits) }
      }
    case .failure(let count):
      var text = [UInt8](repeating: 0, count: count)
      guard text.withUnsafeMutableBytes({ child.read(into: $0) }) else {
        throw failure(of: child, library, limits)
      }
      throw .invalidImage(String(decoding: text, as: UTF8.self))
    }
  }

  /// Why a child that gave no answer ended.
  private func failure(of child: ChildProcess, _ library: SystemLibrary, _ limits: DecodingLimits)
    -> DermaFusionError
  {
    switch child.end() {
    case .late: return .tooSlow(library.format, seconds: limits.seconds)
    case .killed(let signal):
      // The limit of a child's processor time.
      return signal == ChildLimits.timeSignal
        ? .tooSlow(library.format, seconds: limits.seconds)
        : .crashedLibrary(library.format, library: library.package.name, signal: Int(signal))
    case .exited: return .outOfMemory(library.format)
    }
  }
}

extension DecodingProcess {
  /// What the child says before its pixels or its reason: three numbers of 32 bits.
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
}
