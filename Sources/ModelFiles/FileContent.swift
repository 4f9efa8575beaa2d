#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a file holds, mapped from disk or copied from memory, in one place for as long as this object lives.
///
/// `@unchecked Sendable`: the pointer is set once, nothing writes through it, and the memory goes with the object.
/// A mapped file that another process shortens while it is in use ends this process with a bus error, as with every
/// mapped file.
final class FileContent: @unchecked Sendable {
  private let bytes: UnsafeRawBufferPointer
  private let isMapped: Bool

  /// Copies bytes.
  init(copying source: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 64)
    copy.copyBytes(from: source)
    bytes = UnsafeRawBufferPointer(copy)
    isMapped = false
  }

  /// Maps the file at a path for reading.
  init(mapping path: String) throws(ModelFileError) {
    // Opening a pipe would wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotOpen(path: path, reason: Self.reason(errno)) }
    defer { close(descriptor) }

    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .cannotOpen(path: path, reason: Self.reason(errno)) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .isAFolder(path: path)
    default: throw .notARegularFile(path: path)
    }
    let count = Int(status.st_size)
    guard count > 0 else { throw .emptyFile(path: path) }

    guard let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), address != MAP_FAILED else {
      throw .cannotOpen(path: path, reason: Self.reason(errno))
    }
    bytes = UnsafeRawBufferPointer(start: address, count: count)
    isMapped = true
  }

  /// Gives the memory that holds a mapped file's content back to the system, which reads it again, most likely from its
  /// cache, where it is asked for later.
  func releasePages() {
    if isMapped { madvise(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, MADV_DONTNEED) }
  }

  deinit {
    if isMapped {
      munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    } else {
      bytes.deallocate()
    }
  }

  /// Calls the body with the whole content, valid until it returns: nothing else keeps the memory for that long, since
  /// an object may go after its last use.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withExtendedLifetime(self) { () throws(Failure) in try body(bytes) }
  }

  /// The operating system's words for an error number.
  static func reason(_ number: Int32) -> String {
    String(cString: strerror(number))
  }

  /// Whether a path leads to a folder; nil when it leads to nothing.
  ///
  /// - Throws: `ModelFileError.cannotOpen` when the system does not say what lies there.
  static func isFolder(_ path: String) throws(ModelFileError) -> Bool? {
    var status = stat()
    if stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
    let number = errno
    guard number == ENOENT || number == ENOTDIR else {
      throw .cannotOpen(path: path, reason: reason(number))
    }
    return nil
  }
}
