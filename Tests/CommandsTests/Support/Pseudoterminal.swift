import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A terminal that a test looks at in a person's place.
struct Pseudoterminal {
  private let controller: Int32
  private let terminal: FileHandle

  /// - Parameter width: characters a line.
  init?(width: Int) {
    // The module of the C library leaves out `posix_openpt` and its like: these are the requests behind them.
    controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (lock, number): (Int32, UInt32) = (0, 0)
    let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    guard controller >= 0, ioctl(controller, setLock, &lock) == 0, ioctl(controller, getNumber, &number) == 0
    else { return nil }
    let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    var size = winsize(ws_row: 24, ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    terminal = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
  }

  /// Runs a program on the terminal, output and errors alike.
  ///
  /// - Returns: its exit status and all that it wrote, lines ended by `\n` alone.
  func run(_ program: String, _ words: [String], environment: [String: String]) throws -> (
    status: Int32, text: String
  ) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = words
    process.environment = environment
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    try process.run()
    close(terminal.fileDescriptor)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    // The end of a terminal that nobody holds any more is an error.
    while true {
      let count = read(controller, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    process.waitUntilExit()
    close(controller)
    let text = String(decoding: bytes, as: UTF8.self)
    return (process.terminationStatus, text.replacingOccurrences(of: "\r\n", with: "\n"))
  }
}
