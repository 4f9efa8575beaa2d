#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
