#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a file's bytes cannot be had.
package enum FileCopyError: Error, Equatable, Sendable {
  /// The operating system refuses, for the reason that it gives.
  case refused(reason: String)
  /// A folder lies where a file is required.
  case isAFolder
  /// The path leads to a device, a pipe or a socket.
  case notARegularFile
  /// The file has no bytes.
  case empty
  /// The file has more bytes than asked for.
  case tooLarge
  /// There is no memory for so many bytes.
  case outOfMemory(byteCount: Int)
  /// Its size or its date is not what it was when it was opened.
  case changed
}

/// A file's bytes, read once into memory of this process's own, for as long as this object lives.
///
/// They stay the same: another process that writes to the file, or shortens it, does not reach
/// them. A mapped file would change under its reader, and end the process with a bus error where it is shortened.
///
/// `@unchecked Sendable`: the pointer is set once, nothing writes through it later, and the memory goes with the object.
package final class FileCopy: @unchecked Sendable {
  private let bytes: UnsafeMutableRawBufferPointer

  /// Reads the file at a path.
  ///
  /// - Parameter limit: the most bytes that it may have; looked at before any is read.
  package init(path: String, limit: Int) throws(FileCopyError) {
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
      guard count <= limit else { throw .tooLarge }
      guard let address = FreshPages.map(byteCount: Self.mappedByteCount(count), populates: false) else {
        throw .outOfMemory(byteCount: count)
      }
      bytes = UnsafeMutableRawBufferPointer(start: address, count: count)
      try Self.fill(bytes, from: descriptor, openedAs: status)
    #else
      throw .refused(reason: "this machine has no files")
    #endif
  }

  deinit {
    if let address = bytes.baseAddress {
      FreshPages.unmap(address, byteCount: Self.mappedByteCount(bytes.count))
    }
  }

  /// Somewhat more, so that the workspace of a small network has room where its weights lay.
  private static func mappedByteCount(_ byteCount: Int) -> Int { byteCount + min(byteCount / 4, 1 << 21) }

  /// Calls the body with the whole content, valid until it returns: nothing else keeps the memory for that long, since
  /// an object may go after its last use.
  package func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withExtendedLifetime(self) { () throws(Failure) in
      try body(Span(_unsafeElements: UnsafeRawBufferPointer(bytes).bindMemory(to: UInt8.self)))
    }
  }

  /// Whether a path leads to a folder; nil when it leads to nothing.
  ///
  /// - Throws: `FileCopyError.refused` when the system does not say what lies there.
  package static func isFolder(_ path: String) throws(FileCopyError) -> Bool? {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      var status = stat()
      if stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
      let number = errno
      guard number == ENOENT || number == ENOTDIR else { throw .refused(reason: reason(number)) }
    #endif
    return nil
  }

  #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
    /// Reads a large file on two threads: what takes time is the system's finding of pages, which it does for both at once.
    private static func fill(
      _ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, openedAs before: stat
    ) throws(FileCopyError) {
      let middle = bytes.count < 1 << 24 ? bytes.count : (bytes.count >> 17) << 16
      let second = UnsafeMutableRawBufferPointer(rebasing: bytes[middle...])
      let (address, byteCount) = (UInt(bitPattern: second.baseAddress), second.count)
      let outcome = Locked<FileCopyError?>(nil)
      let isDone = Semaphore()
      let isShared =
        byteCount > 0
        && BackgroundThread.start {
          let part = UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: address), count: byteCount)
          let error = read(into: part, from: descriptor, at: middle)
          outcome.withLock { $0 = error }
          isDone.signal()
        }
      let first = UnsafeMutableRawBufferPointer(rebasing: bytes[..<(isShared ? middle : bytes.count)])
      let error = read(into: first, from: descriptor, at: 0)
      if isShared { isDone.wait() }
      if let error = error ?? outcome.withLock({ $0 }) { throw error }
      var after = stat()
      guard fstat(descriptor, &after) == 0 else { throw .refused(reason: reason(errno)) }
      guard after.st_size == before.st_size, date(after) == date(before) else { throw .changed }
    }

    /// Fills a part of the memory, from a page's start on, with the file's bytes from a place on.
    ///
    /// - Returns: the error, if there was one.
    private static func read(
      into part: UnsafeMutableRawBufferPointer, from descriptor: Int32, at place: Int
    ) -> FileCopyError? {
      FreshPages.populate(part)
      var count = 0
      while count < part.count {
        let got = pread(descriptor, part.baseAddress! + count, part.count - count, off_t(place + count))
        if got < 0, errno == EINTR { continue }
        guard got >= 0 else { return .refused(reason: reason(errno)) }
        guard got > 0 else { return .changed }
        count += got
      }
      return nil
    }

    /// Seconds and nanoseconds of the last change.
    private static func date(_ status: stat) -> [Int] {
      #if canImport(Darwin)
        [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
      #else
        [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
      #endif
    }

    /// The operating system's words for an error number.
    private static func reason(_ number: Int32) -> String {
      String(cString: strerror(number))
    }
  #endif
}
