import CLibrary

package enum FileBytes {
  /// The seconds to wait for a named pipe, each time that it is empty or full.
  package static let writerPatience = 10
  /// The seconds that a named pipe may take to its end, however often something is written to it.
  package static let pipeSeconds = 120

  /// The bytes of a file that are read before it is asked whether the rest is wanted.
  private static let startCount = 1 << 16

  /// Reads a file to its end. Pipes and devices can be read too. A file of more than `limit` bytes is refused before it is read
  /// where the system can tell, and so is an empty one.
  ///
  /// - Parameters:
  ///   - patience: seconds to wait for somebody to write to a named pipe, each time that it is empty.
  ///   - pipeSeconds: seconds that a named pipe may take to its end.
  ///   - refusal: why a file that begins so is not wanted, without its name; `nil` when it is. Asked with the whole file, or at
  ///     least its first 4,096 bytes, before the rest is read.
  package static func read(
    path: String, limit: Int, patience: Int = writerPatience, pipeSeconds: Int = pipeSeconds,
    refusal: (UnsafeRawBufferPointer) -> Sentence? = { _ in nil }
  ) throws(DermaFusionError) -> [UInt8] {
    // Opening a named pipe would wait for a writer, and perhaps none comes.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(path: path) }
    defer { close(descriptor) }
    var status = stat()
    if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
      let time = PipeTime(patience: patience, seconds: pipeSeconds)
      // Without a writer a pipe is at its end at once.
      try time.wait(for: descriptor, name: path)
      return unsafe try read(descriptor: descriptor, name: path, limit: limit, time: time, refusal: refusal)
    }
    let flags = fcntl(descriptor, F_GETFL)
    if flags != -1 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
    return unsafe try read(descriptor: descriptor, name: path, limit: limit, refusal: refusal)
  }

  /// Reads an open file to its end, and waits for it without a limit.
  package static func read(
    descriptor: Int32, name: String, limit: Int,
    refusal: (UnsafeRawBufferPointer) -> Sentence? = { _ in nil }
  ) throws(DermaFusionError) -> [UInt8] {
    unsafe try read(descriptor: descriptor, name: name, limit: limit, time: nil, refusal: refusal)
  }

  private static func read(
    descriptor: Int32, name: String, limit: Int, time: PipeTime?,
    refusal: (UnsafeRawBufferPointer) -> Sentence?
  ) throws(DermaFusionError) -> [UInt8] {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw failure(path: name) }
    if status.st_mode & S_IFMT == S_IFDIR { throw .isFolder(name) }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    if isRegular, Int(status.st_size) > limit { throw .tooLarge(name, limit: limit) }

    var bytes = [UInt8](
      repeating: 0, count: min(isRegular ? Int(status.st_size) + 1 : startCount, startCount))
    var count = 0
    var isWanted = false
    func requireWanted() throws(DermaFusionError) {
      isWanted = true
      if count > 0,
        let reason = unsafe bytes.withUnsafeBytes({
          unsafe refusal(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        })
      {
        throw .failure(name: name, reason: reason)
      }
    }
    while true {
      if count == bytes.count {
        // All of it at once where its size is known.
        let size = max(isRegular ? Int(status.st_size) + 1 : 0, 2 * bytes.count)
        guard MemoryProbe.canAllocate(byteCount: size) else { throw .outOfMemory(name, byteCount: size) }
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { grown, filled in
          unsafe memcpy(grown.baseAddress!, bytes, count)
          unsafe memset(grown.baseAddress! + count, 0, size - count)
          filled = size
        }
      }
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe systemRead(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      if got < 0 {
        if errno == EINTR { continue }
        if errno == EAGAIN {
          if let time { try time.wait(for: descriptor, name: name) } else { systemWait(descriptor, POLLIN) }
          continue
        }
        throw failure(path: name)
      }
      if got == 0 { break }
      count += got
      if count > limit { throw .tooLarge(name, limit: limit) }
      if !isWanted, count >= 4096 { try requireWanted() }
    }
    if count == 0 { throw .empty(name) }
    if !isWanted { try requireWanted() }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Looks into a file without reading it to its end.
  ///
  /// - Parameters:
  ///   - path: of a file that is neither a pipe nor a device.
  ///   - body: is given the first 4,096 bytes, or the whole file, and what reads bytes from an offset; nil where there are fewer
  ///     than asked for.
  /// - Returns: nil where the file cannot be opened or read.
  package static func look<Result>(
    into path: UnsafePointer<CChar>,
    _ body: (_ start: UnsafeRawBufferPointer, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Result
  ) -> Result? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    /// As many as there are; nil where reading fails.
    func bytes(_ offset: Int, _ count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      var found = 0
      while found < count {
        let got = unsafe bytes.withUnsafeMutableBytes {
          unsafe pread(descriptor, $0.baseAddress! + found, count - found, off_t(offset + found))
        }
        if got < 0, errno == EINTR { continue }
        if got < 0 { return nil }
        if got == 0 { break }
        found += got
      }
      return Array(bytes.prefix(found))
    }
    guard let start = bytes(0, 4096) else { return nil }
    return unsafe start.withUnsafeBytes { start in
      unsafe body(start) { offset, count in
        // Nothing that is looked at is longer.
        guard offset >= 0, (0...1 << 24).contains(count) else { return nil }
        return bytes(offset, count).flatMap { $0.count == count ? $0 : nil }
      }
    }
  }

  /// The descriptor that a path such as `/dev/stderr` or `/dev/fd/3` names. A file behind it may be a log, which goes on
  /// rather than being replaced.
  static func openStream(_ path: String) -> Int32? {
    if path == "/dev/stderr" { return STDERR_FILENO }
    let folders = ["/dev/fd/", "/proc/self/fd/"]
    return folders.lazy.compactMap { path.hasPrefix($0) ? Int32(path.dropFirst($0.count)) : nil }.first
  }

  /// Checks that a file, or the folder which it would be written into, is there.
  package static func requireFolder(of path: String) throws(DermaFusionError) {
    var status = stat()
    if unsafe stat(path, &status) == 0 { return }
    let folder = PathBytes(path).followingLinks.folder
    guard unsafe folder.withCString({ unsafe stat($0, &status) }) == 0 else { throw writeFailure(path) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw unsafe .unwritable(path, reason: String(cString: strerror(ENOTDIR)))
    }
  }

  /// Opening a named pipe would wait for a reader, and perhaps none comes.
  static func openPipe(_ path: String, patience: Int) throws(DermaFusionError) -> Int32 {
    for _ in 0..<patience * 20 {
      let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
      if descriptor >= 0 || errno != ENXIO { return descriptor }
      usleep(50_000)
    }
    throw .pipeWithoutReader(path, seconds: patience)
  }

  /// True if something has this name, if only a link to nothing.
  package static func isThere(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// True if it is a device such as `/dev/null`, which can be read and written by as many as like to.
  package static func isDevice(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
  }

  /// True if it is a file that can be read from any place: neither a folder nor a pipe nor a device.
  package static func isRegular(_ path: String) -> Bool { size(ofRegular: path) != nil }

  /// The bytes of a file that can be read from any place; nil for others.
  package static func size(ofRegular path: String) -> Int? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  package static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  /// The part before the name; `.` for a name alone.
  package static func folder(of path: String) -> String {
    String(decoding: PathBytes(path).folder.bytes, as: UTF8.self)
  }

  /// Makes a folder, which errors call `name`, where there is none yet; the folder that it lies in must be there.
  package static func makeFolder(_ path: String, name: String? = nil) throws(DermaFusionError) {
    if unsafe mkdir(path, 0o777) == 0 { return }
    let failure = errno
    var status = stat()
    if failure == EEXIST, unsafe stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { return }
      throw .notFolder(name ?? path)
    }
    errno = failure
    throw writeFailure(name ?? path)
  }

  static func failure(path: String) -> DermaFusionError {
    guard errno == ENOENT else { return .unreadable(path, reason: reason) }
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? .brokenLink(path) : .notFound(path)
  }

  /// Why a file or folder cannot be made, by `errno`; names a folder that is missing.
  static func writeFailure(_ path: String) -> DermaFusionError {
    let failure = errno
    let folder = PathBytes(path).followingLinks.folder
    var status = stat()
    if failure == ENOENT, unsafe folder.withCString({ unsafe lstat($0, &status) }) != 0 {
      let name = String(decoding: folder.bytes, as: UTF8.self)
      return .unwritable(path, reason: "there is no folder '\(name)'")
    }
    return unsafe .unwritable(path, reason: String(cString: strerror(failure)))
  }

  static var reason: String { unsafe String(cString: strerror(errno)) }
}

/// The time for which a named pipe is read.
struct PipeTime {
  /// Seconds for each time that nothing can be read.
  let patience: Int
  /// Seconds to the end.
  let seconds: Int
  private let deadline: Double

  init(patience: Int, seconds: Int) {
    self.patience = patience
    self.seconds = seconds
    deadline = MonotonicClock.milliseconds + Double(seconds) * 1000
  }

  /// Waits until something can be read or the pipe's end is reached.
  func wait(for descriptor: Int32, name: String) throws(DermaFusionError) {
    let left = deadline - MonotonicClock.milliseconds
    let gap = Double(patience) * 1000
    if left > 0, systemWait(descriptor, POLLIN, milliseconds: Int32(min(gap, left).rounded(.up))) { return }
    throw left < gap ? .pipeWithoutEnd(name, seconds: seconds) : .pipeWithoutWriter(name, seconds: patience)
  }
}

extension FileBytes {
  /// The absolute path of the folder in which relative paths begin; nil if the system cannot tell.
  package static var currentFolder: String? {
    guard let path = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(path) }
    return unsafe String(validatingCString: path)
  }

  /// Checks that a folder can be made, or is there and empty.
  package static func requireNewFolder(_ path: String) throws(DermaFusionError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return try requireFolder(of: withoutSlashes(path)) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .notFolder(path) }
    guard let names = try? FilePages.names(in: path) else { throw .unwritable(path, reason: reason) }
    guard names.isEmpty else { throw .folderNotEmpty(path) }
  }

  /// A name beside a target, whose own may be as long as a name can be; by chance, since processes in two containers may
  /// have the same number and write into the same folder.
  static func hiddenName(ending: String) -> String {
    ".dermafusion-\(String(UInt64.random(in: 0 ... .max), radix: 36)).\(ending)"
  }

  /// Writes a folder with files: it has its name when all of them are whole, or never.
  ///
  /// - Parameters:
  ///   - files: by their names in the folder, which may lie in a folder below it.
  ///   - path: of what ``requireNewFolder(_:)`` lets pass.
  package static func writeFolder(_ files: [(name: String, bytes: [UInt8])], path: String)
    throws(DermaFusionError)
  {
    try requireNewFolder(path)
    let target = withoutSlashes(path)
    let temporary = "\(folder(of: target))/\(hiddenName(ending: "partial"))"
    let below = Set(files.compactMap { $0.name.contains("/") ? folder(of: $0.name) : nil }).sorted()
    let folders = [""] + below.map { "/\($0)" }
    let paths = files.map { "\(temporary)/\($0.name)" }
    // The content of a folder is removed before the folder.
    let names = paths + folders.reversed().map { temporary + $0 }
    let slots = names.map { ProgramSignals.removeAtEnd(PathBytes($0)) }
    defer { for slot in slots { ProgramSignals.keep(slot) } }
    do throws(DermaFusionError) {
      // Errors name what the caller knows, never the hidden folder.
      for folder in folders { try makeFolder(temporary + folder, name: target + folder) }
      try write(zip(files, paths).map { (bytes: $0.bytes, path: $1, name: "\(target)/\($0.name)") })
      guard unsafe rename(temporary, target) == 0 else { throw .unwritable(path, reason: reason) }
    } catch {
      for name in names { unsafe remove(name) }
      throw error
    }
  }

  private static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}
