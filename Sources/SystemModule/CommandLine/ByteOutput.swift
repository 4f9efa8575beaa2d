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
      case EPIPE where path == nil: throw .closed
      default: throw .failed(path: path, reason: FileBytes.reason)
      }
    }
  }
}
