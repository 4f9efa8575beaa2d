#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Whole files, read and written.
package enum FileBytes {
  /// No dermoscopy image comes near it; what does is not an image.
  package static let imageLimit = 512 * 1024 * 1024
  /// Tables of metadata, a hundred bytes a row.
  package static let tableLimit = 64 * 1024 * 1024

  /// Reads a file to its end. Pipes and devices can be read too.
  ///
  /// - Throws: ``FileError`` when it is missing, a folder, empty, unreadable, or larger than `limit` bytes,
  ///   which is found out before it is read where the system can tell.
  package static func read(path: String, limit: Int) throws(FileError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path: path) }
    defer { close(descriptor) }
    return try read(descriptor: descriptor, name: path, limit: limit)
  }

  static func read(descriptor: Int32, name: String, limit: Int) throws(FileError) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path: name) }
    if status.st_mode & S_IFMT == S_IFDIR { throw .isFolder(name) }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    if isRegular, Int(status.st_size) > limit { throw .tooLarge(name, limit: limit) }

    var bytes = [UInt8](repeating: 0, count: isRegular ? Int(status.st_size) + 1 : 1 << 16)
    var count = 0
    while true {
      if count == bytes.count { bytes += [UInt8](repeating: 0, count: bytes.count) }
      let got = bytes.withUnsafeMutableBytes {
        systemRead(descriptor, $0.baseAddress! + count, $0.count - count)
      }
      if got < 0 {
        if errno == EINTR { continue }
        throw failure(path: name)
      }
      if got == 0 { break }
      count += got
      if count > limit { throw .tooLarge(name, limit: limit) }
    }
    if count == 0 { throw .empty(name) }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Writes a file at once or not at all: under another name beside it, then renamed. What a symbolic link
  /// leads to is replaced, not the link; a device or a pipe is written to.
  package static func write(_ bytes: [UInt8], path: String) throws(FileError) {
    var target = path
    if let canonical = realpath(path, nil) {
      target = String(cString: canonical)
      free(canonical)
    }
    var status = stat()
    if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      if status.st_mode & S_IFMT == S_IFDIR { throw .isFolder(path) }
      return try create(target, bytes: bytes, reportedPath: path)
    }
    let temporary = "\(target).\(getpid()).partial"
    do throws(FileError) {
      try create(temporary, bytes: bytes, reportedPath: path)
      if rename(temporary, target) != 0 { throw .unwritable(path, reason: reason) }
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Makes a folder where there is none yet; the folder that it lies in must be there.
  package static func makeFolder(_ path: String) throws(FileError) {
    if mkdir(path, 0o777) == 0 { return }
    let failure = errno
    var status = stat()
    if failure == EEXIST, stat(path, &status) == 0 {
      if status.st_mode & S_IFMT == S_IFDIR { return }
      throw .notFolder(path)
    }
    throw .unwritable(path, reason: String(cString: strerror(failure)))
  }

  private static func create(_ path: String, bytes: [UInt8], reportedPath: String) throws(FileError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .unwritable(reportedPath, reason: reason) }
    defer { close(descriptor) }
    do throws(OutputError) {
      try FileDescriptorOutput(descriptor: descriptor).write(bytes)
    } catch {
      throw .unwritable(reportedPath, reason: error.reason)
    }
  }

  static func failure(path: String) -> FileError {
    errno == ENOENT ? .notFound(path) : .unreadable(path, reason: reason)
  }

  private static var reason: String { String(cString: strerror(errno)) }
}

extension OutputError {
  fileprivate var reason: String {
    switch self {
    case .closed: description
    case .failed(let reason): reason
    }
  }
}
