import CLibrary

/// A file's bytes, read once into memory of this process's own or given, for as long as this object lives.
///
/// They stay the same: another process that writes to the file, or shortens it, does not reach
/// them. A mapped file would change under its reader, and end the process with a bus error where it is shortened.
///
/// `@unchecked Sendable`: the pointer is set once, nothing writes through it later, and the memory goes with the object.
@safe package final class FilePages: @unchecked Sendable {
  /// The bytes that were read.
  private let bytes: UnsafeMutableRawBufferPointer
  /// The bytes that were given instead.
  private let array: [UInt8]
  private let progress = Locked(Progress())

  /// The two readers of a file that need it once only: one in order, one by its parts.
  private struct Progress {
    /// Bytes from the start that the reader in order has passed.
    var passed = 0
    /// Parts that the other has read and whose memory is not given back: those that the first has not passed, and those
    /// smaller than a page. In order, none touches the next.
    var waiting: [Range<Int>] = []
    /// True if the reader in order is at work.
    var isInOrder = false
    /// False once the memory of a part went back.
    var isWhole = true
    /// Readers by parts that wait for it.
    var stopped = 0

    /// Bytes of the parts that the first has not passed.
    var waitingByteCount: Int {
      waiting.reduce(0) { $0 + max($1.upperBound - max($1.lowerBound, passed), 0) }
    }

    /// Adds a part, joined with those that it touches.
    mutating func add(_ part: Range<Int>) {
      let first = waiting.firstIndex { $0.upperBound >= part.lowerBound } ?? waiting.count
      let end = waiting[first...].firstIndex { $0.lowerBound > part.upperBound } ?? waiting.count
      let touched = waiting[first..<end]
      let start = min(part.lowerBound, touched.first?.lowerBound ?? part.lowerBound)
      let stop = max(part.upperBound, touched.last?.upperBound ?? part.upperBound)
      waiting.replaceSubrange(first..<end, with: [start..<stop])
    }

    /// Takes out the large pages that nobody reads again.
    ///
    /// - Parameter start: The address of the first byte.
    mutating func takeDiscarded(from start: Int) -> [Range<Int>] {
      let size = FreshPages.hugePageByteCount
      var (discarded, left): ([Range<Int>], [Range<Int>]) = ([], [])
      for part in waiting {
        let first = (start + part.lowerBound).roundedUp(toMultipleOf: size) - start
        let end = (start + min(part.upperBound, passed)) / size * size - start
        guard first < end else {
          left.append(part)
          continue
        }
        discarded.append(first..<end)
        left += [part.lowerBound..<first, end..<part.upperBound].filter { !$0.isEmpty }
      }
      waiting = left
      isWhole = isWhole && discarded.isEmpty
      return discarded
    }
  }

  private let piecePassed = Semaphore()

  package init(_ bytes: [UInt8]) {
    unsafe self.bytes = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    array = bytes
  }

  /// Reads the file at a path. Before any byte is read it is refused if it has more than `limit`.
  package init(path: String, limit: Int) throws(DermaFusionError) {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      // Opening a pipe would wait for a writer.
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw FileBytes.failure(path: path) }
      defer { close(descriptor) }

      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw FileBytes.failure(path: path) }
      switch status.st_mode & S_IFMT {
      case S_IFREG: break
      case S_IFDIR: throw .isFolder(path)
      default: throw .notFile(path)
      }
      let count = Int(status.st_size)
      guard count > 0 else { throw .empty(path) }
      guard count <= limit else { throw .tooLarge(path, limit: limit) }
      guard let address = unsafe FreshPages.map(byteCount: Self.mappedByteCount(count), populates: false)
      else {
        throw .outOfMemory(path, byteCount: count)
      }
      unsafe bytes = unsafe UnsafeMutableRawBufferPointer(start: address, count: count)
      array = []
      unsafe try Self.fill(bytes, from: descriptor, path: path, openedAs: status)
    #else
      throw .unreadable(path, reason: "this machine has no files")
    #endif
  }

  deinit {
    if let address = unsafe bytes.baseAddress {
      unsafe FreshPages.unmap(address, byteCount: Self.mappedByteCount(bytes.count))
    }
  }

  /// Somewhat more, so that the workspace of a small network has room where its weights lay.
  private static func mappedByteCount(_ byteCount: Int) -> Int { byteCount + min(byteCount / 4, 1 << 21) }

  /// Calls the body with the whole content, valid until it returns: nothing else keeps the memory for that long, since
  /// an object may go after its last use.
  package func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if unsafe bytes.baseAddress == nil {
      let array = array
      return try body(array.span)
    }
    return try withExtendedLifetime(self) { () throws(Failure) in
      unsafe try body(Span(_unsafeElements: UnsafeRawBufferPointer(bytes).bindMemory(to: UInt8.self)))
    }
  }

  /// Calls the body with the content piece by piece, in order. The system gets the pages back of a part that was also
  /// ``release(_:)``.
  package func forEachPiece(_ body: (Span<UInt8>) -> Void) {
    withBytes { content in
      progress.withLock { $0.isInOrder = true }
      defer { pass(content.count, isEnd: true) }
      for start in stride(from: 0, to: content.count, by: Self.pieceByteCount) {
        let end = min(start + Self.pieceByteCount, content.count)
        body(content.extracting(start..<end))
        pass(end, isEnd: false)
      }
    }
  }

  /// Gives the parts back that lie before a place, and lets go on who waits for that.
  private func pass(_ end: Int, isEnd: Bool) {
    #if os(Linux)
      let stopped = progress.withLock { progress in
        progress.passed = max(progress.passed, end)
        discard(&progress)
        if isEnd { progress.isInOrder = false }
        defer { progress.stopped = 0 }
        return progress.stopped
      }
      for _ in 0..<stopped { piecePassed.signal() }
    #endif
  }

  /// Takes leave of a part, which only ``forEachPiece(_:)`` may still read, and only once: its memory goes back to the
  /// system as soon as that has passed it. Anybody else would read zeros. Where that is far behind, this waits for it: what is
  /// made of the parts would take memory beside them. Other systems than Linux keep the memory.
  package func release(_ part: Range<Int>) {
    #if os(Linux)
      progress.withLock { progress in
        progress.add(part)
        discard(&progress)
      }
      while mustWait() { piecePassed.wait() }
    #endif
  }

  private func mustWait() -> Bool {
    progress.withLock { progress in
      let isFarBehind = progress.isInOrder && progress.waitingByteCount > Self.waitingLimit
      if isFarBehind { progress.stopped += 1 }
      return isFarBehind
    }
  }

  /// Gives back whole large pages: what the system does with a part of one takes longer than packing what it holds.
  private func discard(_ progress: inout Progress) {
    guard let address = unsafe bytes.baseAddress else { return }
    for part in progress.takeDiscarded(from: Int(bitPattern: address)) {
      unsafe FreshPages.discard(
        UnsafeMutableRawBufferPointer(start: address + part.lowerBound, count: part.count))
    }
  }

  private static let pieceByteCount = 1 << 22
  /// The most bytes of parts that wait while both readers go on.
  private static let waitingLimit = 1 << 23

  package var count: Int { withBytes { $0.count } }

  /// False once the memory of a part went back, which is zero since.
  package var isWhole: Bool {
    #if os(Linux)
      progress.withLock { $0.isWhole }
    #else
      true
    #endif
  }

  package var copied: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }

  /// True if a path leads to a folder; nil when it leads to nothing.
  package static func isFolder(_ path: String) throws(DermaFusionError) -> Bool? {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      var status = stat()
      if unsafe stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
      guard errno == ENOENT || errno == ENOTDIR else {
        throw .unreadable(path, reason: FileBytes.reason)
      }
    #endif
    return nil
  }

  /// The names in a folder sorted by their bytes, read before any is looked at: the system has its own order.
  package static func names(in folder: String) throws(DermaFusionError) -> [[UInt8]] {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      guard let stream = unsafe opendir(folder) else {
        throw errno == ENOTDIR ? .notFolder(folder) : FileBytes.failure(path: folder)
      }
      defer { unsafe closedir(stream) }
      var names: [[UInt8]] = []
      while true {
        errno = 0
        guard let entry = unsafe readdir(stream) else {
          if errno != 0 { throw FileBytes.failure(path: folder) }
          return names.sorted { $0.lexicographicallyPrecedes($1) }
        }
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
        // Not the folder itself and the one above it.
        if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
      }
    #else
      return []
    #endif
  }

  /// The first bytes of a file, at most `count`; none where it cannot be read.
  package static func beginning(of path: String, count: Int) -> [UInt8] {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      // Opening a pipe would wait for a writer.
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return [] }
      defer { close(descriptor) }
      return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = unsafe max(0, pread(descriptor, buffer.baseAddress, count, 0))
      }
    #else
      return []
    #endif
  }

  #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
    /// Reads a large file on two threads: what takes time is the system's finding of pages, which it does for both at once.
    private static func fill(
      _ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, path: String, openedAs before: stat
    ) throws(DermaFusionError) {
      let middle = bytes.count < 1 << 24 ? bytes.count : (bytes.count >> 17) << 16
      let second = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[middle...])
      let (address, byteCount) = (UInt(bitPattern: second.baseAddress), second.count)
      let outcome = Locked<DermaFusionError?>(nil)
      let isDone = Semaphore()
      let isShared =
        byteCount > 0
        && BackgroundThread.start {
          let part = unsafe UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(bitPattern: address), count: byteCount)
          let error = unsafe read(into: part, from: descriptor, path: path, at: middle)
          outcome.withLock { $0 = error }
          isDone.signal()
        }
      let first = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<(isShared ? middle : bytes.count)])
      let error = unsafe read(into: first, from: descriptor, path: path, at: 0)
      if isShared { isDone.wait() }
      if let error = error ?? outcome.withLock({ $0 }) { throw error }
      var after = stat()
      guard unsafe fstat(descriptor, &after) == 0 else { throw FileBytes.failure(path: path) }
      guard after.st_size == before.st_size, date(after) == date(before) else { throw .changed(path) }
    }

    /// Fills a part of the memory, from a page's start on, with the file's bytes from a place on; returns the error.
    private static func read(
      into part: UnsafeMutableRawBufferPointer, from descriptor: Int32, path: String, at place: Int
    ) -> DermaFusionError? {
      unsafe FreshPages.populate(part)
      var count = 0
      while count < part.count {
        let got = unsafe pread(
          descriptor, part.baseAddress! + count, part.count - count, off_t(place + count))
        if got < 0, errno == EINTR { continue }
        guard got >= 0 else { return FileBytes.failure(path: path) }
        guard got > 0 else { return .changed(path) }
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
  #endif
}
