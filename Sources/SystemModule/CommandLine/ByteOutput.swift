#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Somewhere that bytes go to.
package protocol ByteOutput: Sendable {
  /// All of them are written when this returns.
  func write(_ bytes: [UInt8]) throws(OutputError)
}

/// Why output could not be written.
package enum OutputError: Error, Equatable, CustomStringConvertible {
  /// The reader of a pipe has gone.
  case closed
  /// `reason` is the system's own words.
  case failed(reason: String)
  /// What should have gone to a file.
  case file(FileError)

  package var description: String {
    switch self {
    case .closed: "standard output was closed"
    case .failed(let reason): "standard output cannot be written: \(reason)"
    case .file(let error): "\(error)"
    }
  }
}

extension OutputError {
  /// The system's own words.
  var reason: String {
    switch self {
    case .closed: String(cString: strerror(EPIPE))
    case .failed(let reason): reason
    case .file(let error): "\(error)"
    }
  }
}

/// A file descriptor, written without a buffer of our own, so that every result is out when it is made.
package struct FileDescriptorOutput: ByteOutput {
  let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  package func write(_ bytes: [UInt8]) throws(OutputError) {
    var offset = 0
    while offset < bytes.count {
      let written = bytes.withUnsafeBytes {
        systemWrite(descriptor, $0.baseAddress! + offset, bytes.count - offset)
      }
      if written >= 0 {
        offset += written
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: systemWait(descriptor, POLLOUT)
      case EPIPE: throw .closed
      default: throw .failed(reason: String(cString: strerror(errno)))
      }
    }
  }
}
