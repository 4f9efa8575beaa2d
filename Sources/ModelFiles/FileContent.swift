#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a file holds, mapped from disk or given as bytes, for as long as this object lives.
///
/// `@unchecked Sendable`: a pointer is set once, nothing writes through it, and a mapping goes with the object.
/// A mapped file that another process shortens while it is in use ends this process with a bus error, as with every
/// mapped file.
final class FileContent: @unchecked Sendable {
  private enum Storage {
    case mapping(UnsafeRawBufferPointer)
    case array([UInt8])
  }

  private let storage: Storage

  /// The bytes themselves.
  init(_ bytes: [UInt8]) {
    storage = .array(bytes)
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
    storage = .mapping(UnsafeRawBufferPointer(start: address, count: count))
  }

  /// Gives the memory that holds a mapped file's content back to the system, which reads it again, most likely from its
  /// cache, where it is asked for later.
  func releasePages() {
    guard case .mapping(let bytes) = storage else { return }
    madvise(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, MADV_DONTNEED)
  }

  deinit {
    guard case .mapping(let bytes) = storage else { return }
    munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
  }

  /// Calls the body with the whole content, valid until it returns: nothing else keeps the memory for that long, since
  /// an object may go after its last use.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch storage {
    case .mapping(let bytes):
      try withExtendedLifetime(self) { () throws(Failure) in try body(bytes) }
    case .array(let bytes):
      try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
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
