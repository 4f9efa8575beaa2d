#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a file cannot be mapped.
package enum MappingError: Error, Equatable, Sendable {
  /// The operating system refuses, for the reason that it gives.
  case refused(reason: String)
  /// A folder lies where a file is required.
  case isAFolder
  /// The path leads to a device, a pipe or a socket.
  case notARegularFile
  /// The file has no bytes.
  case empty
}

/// A file's content as memory that is read from disk where it is looked at, for as long as this object lives.
///
/// A mapped file that another process shortens while it is in use ends this process with a bus error.
///
/// `@unchecked Sendable`: the pointer is set once, nothing writes through it, and the mapping goes with the object.
package final class MappedFile: @unchecked Sendable {
  private let bytes: UnsafeRawBufferPointer

  /// Maps the file at a path for reading.
  package init(path: String) throws(MappingError) {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      // Opening a pipe would wait for a writer.
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw .refused(reason: Self.reason(errno)) }
      defer { close(descriptor) }

      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw .refused(reason: Self.reason(errno)) }
      switch status.st_mode & S_IFMT {
      case S_IFREG: break
      case S_IFDIR: throw .isAFolder
      default: throw .notARegularFile
      }
      let count = Int(status.st_size)
      guard count > 0 else { throw .empty }

      guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED
      else {
        throw .refused(reason: Self.reason(errno))
      }
      bytes = UnsafeRawBufferPointer(start: address, count: count)
    #else
      throw .refused(reason: "this machine has no files")
    #endif
  }

  deinit {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    #endif
  }

  /// Calls the body with the whole content, valid until it returns: nothing else keeps the memory for that long, since
  /// an object may go after its last use.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withExtendedLifetime(self) { () throws(Failure) in try body(bytes) }
  }

  /// Gives the memory that holds the content back to the system, which reads it again, most likely from its cache,
  /// where it is asked for later.
  package func releasePages() {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      madvise(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, MADV_DONTNEED)
    #endif
  }

  /// Whether a path leads to a folder; nil when it leads to nothing.
  ///
  /// - Throws: `MappingError.refused` when the system does not say what lies there.
  package static func isFolder(_ path: String) throws(MappingError) -> Bool? {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      var status = stat()
      if stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
      let number = errno
      guard number == ENOENT || number == ENOTDIR else { throw .refused(reason: reason(number)) }
    #endif
    return nil
  }

  #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
    /// The operating system's words for an error number.
    private static func reason(_ number: Int32) -> String {
      String(cString: strerror(number))
    }
  #endif
}
