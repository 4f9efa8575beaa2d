import CLibrary

package protocol ByteOutput: Sendable {
  /// All of them are written when this returns.
  func write(_ bytes: [UInt8]) throws(DermaFusionError)
}

/// A file descriptor, written without a buffer of our own, so that every result is out when it is made.
package struct FileDescriptorOutput: ByteOutput {
  let descriptor: Int32
  /// The file's path in errors; `nil` for standard output.
  let path: String?

  package init(descriptor: Int32, path: String? = nil) { (self.descriptor, self.path) = (descriptor, path) }

  package func write(_ bytes: [UInt8]) throws(DermaFusionError) {
    var offset = 0
    while offset < bytes.count {
      let written = unsafe bytes.withUnsafeBytes {
        unsafe systemWrite(descriptor, $0.baseAddress! + offset, bytes.count - offset)
      }
      if written >= 0 {
        offset += written
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: systemWait(descriptor, POLLOUT)
      case EPIPE where path == nil: throw .closed
      default: throw .failed(path: path, reason: FileBytes.reason)
      }
    }
  }
}

/// The three streams that a process is started with.
package enum StandardStreams {
  /// Makes them fit for use: none is closed, and a write that fails does not end the program.
  package static func prepare() {
    openClosedStreams()
    // A reader that has gone and a file that has grown too large are errors of writing, not the end of the program.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  package static let output = FileDescriptorOutput(descriptor: STDOUT_FILENO)
  package static let errors = FileDescriptorOutput(descriptor: STDERR_FILENO)

  package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  package static var errorsAreTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Reads standard input of at most `limit` bytes to its end.
  @Sendable package static func readInput(limit: Int) throws(DermaFusionError) -> [UInt8] {
    unsafe try FileBytes.read(descriptor: STDIN_FILENO, name: "standard input", limit: limit)
  }

  /// Reads from standard input until the buffer is full; false where it ends before.
  package static func readInput(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var count = 0
    while count < buffer.count {
      let got = unsafe systemRead(STDIN_FILENO, buffer.baseAddress! + count, buffer.count - count)
      if got == 0 || (got < 0 && errno != EINTR) { return false }
      count += max(got, 0)
    }
    return true
  }

  @Sendable package static func isStandardOutput(_ path: String) -> Bool {
    // By name too, because a file cannot be compared with a closed stream.
    if ["-", "/dev/stdout", "/dev/fd/1"].contains(path) { return true }
    var (output, status) = (stat(), stat())
    guard unsafe fstat(STDOUT_FILENO, &output) == 0, unsafe stat(path, &status) == 0 else { return false }
    // What goes to both /dev/null and /dev/null is not mixed.
    if output.st_mode & S_IFMT == S_IFCHR, isatty(STDOUT_FILENO) == 0 { return false }
    return FileIdentity(output) == FileIdentity(status)
  }

  /// A stream that was closed before we started would be given to the next file that is opened, and our
  /// output would end in it. `/dev/null`, opened for reading, takes its place: writes to it still fail.
  private static func openClosedStreams() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// At most 100: longer lines are hard to read.
  package static func outputWidth() -> Int {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 40 else { return 80 }
    return min(Int(size.ws_col), 100)
  }
}
