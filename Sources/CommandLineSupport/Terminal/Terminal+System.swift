#if canImport(Glibc)
  // For `environ`, which C does not say who may change.
  @preconcurrency import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Foundation
#endif

extension Terminal {
  /// The process's own standard streams and environment.
  package static func system() -> Terminal {
    openClosedStreams()
    // A reader that has gone and a file that has grown too large are errors of writing, not the end of the program.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    ProgramSignals.install()
    let isTerminal = isatty(STDOUT_FILENO) == 1
    // A path in another encoding must not become that of another file.
    let environment = { @Sendable (name: String) in
      getenv(name).map {
        String(validatingCString: $0)
          ?? String(escapingInvalid: Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))))
      }
    }
    let refusesColour = environment("NO_COLOR").map { !$0.isEmpty } ?? false
    return Terminal(
      output: FileDescriptorOutput(descriptor: STDOUT_FILENO),
      errors: FileDescriptorOutput(descriptor: STDERR_FILENO),
      readInput: { limit throws(FileError) in
        try FileBytes.read(descriptor: STDIN_FILENO, name: "standard input", limit: limit)
      },
      width: isTerminal ? terminalWidth() : nil,
      usesColour: isTerminal && !refusesColour && environment("TERM") != "dumb",
      showsProgress: isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb",
      environment: environment,
      isStandardOutput: isStandardOutput,
      executablePath: executablePath())
  }

  @Sendable private static func isStandardOutput(_ path: String) -> Bool {
    // By name too: a stream that was closed is none that a file could be compared with.
    if ["-", "/dev/stdout", "/dev/fd/1"].contains(path) { return true }
    var (output, status) = (stat(), stat())
    guard fstat(STDOUT_FILENO, &output) == 0, stat(path, &status) == 0 else { return false }
    // What goes to both /dev/null and /dev/null is not mixed.
    if output.st_mode & S_IFMT == S_IFCHR, isatty(STDOUT_FILENO) == 0 { return false }
    return FileIdentity(output) == FileIdentity(status)
  }

  private static func executablePath() -> String? {
    #if os(Linux)
      // Where /proc is not mounted, the name by which the program was started must do.
      let paths = ["/proc/self/exe"] + (Program.startedName.map { [$0] } ?? [])
    #else
      let paths = [Bundle.main.executablePath ?? CommandLine.arguments[0]]
    #endif
    for path in paths {
      guard let canonical = realpath(path, nil) else { continue }
      defer { free(canonical) }
      return String(cString: canonical)
    }
    return nil
  }

  /// A stream that was closed before we started would be given to the next file that is opened, and our
  /// output would end in it. `/dev/null`, opened for reading, takes its place: writes to it still fail.
  private static func openClosedStreams() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// At most 100: longer lines are hard to read.
  private static func terminalWidth() -> Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 40 else { return 80 }
    return min(Int(size.ws_col), 100)
  }
}

/// The process that runs.
package enum Program {
  /// The command line without the program's own name. Not `CommandLine.arguments`, which puts other characters in the place
  /// of what is not UTF-8.
  package static var words: [[UInt8]] {
    var arguments = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    #if os(Linux)
      // Swift reads them from /proc, which need not be mounted.
      if arguments.isEmpty { arguments = argumentsOnTheStack() }
    #endif
    return arguments.dropFirst()
      .compactMap { $0 }.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
  }

  #if os(Linux)
    /// The path by which the system started the program: an entry of the list that the System V ABI puts behind the environment.
    fileprivate static var startedName: String? {
      var entry = environ
      while entry.pointee != nil { entry += 1 }
      var pair = UnsafeRawPointer(entry + 1)
      let (end, executableName) = (0, 31)
      while case let kind = pair.load(as: Int.self), kind != end {
        if kind == executableName {
          return pair.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
        }
        pair += 16
      }
      return nil
    }

    /// The System V ABI puts these on the stack of a new process, one after the other: the number of arguments, their
    /// addresses, a null, and the environment.
    private static func argumentsOnTheStack() -> UnsafeBufferPointer<UnsafeMutablePointer<CChar>?> {
      let end = UnsafeMutableRawPointer(environ) - MemoryLayout<Int>.stride
      for count in 1..<1 << 16 {
        let start = end - count * MemoryLayout<Int>.stride
        if (start - MemoryLayout<Int>.stride).load(as: Int.self) == count {
          return UnsafeBufferPointer(
            start: start.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self), count: count)
        }
      }
      return UnsafeBufferPointer(start: nil, count: 0)
    }
  #endif

  package static func exit(with status: ExitStatus) -> Never { systemExit(status.rawValue) }
}
