#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The file that an output's path leads to. The system follows symbolic links, not this program: a link that it does not
/// follow, such as another user's in a shared folder (Linux's `fs.protected_symlinks`), must not be followed by reading it.
struct OutputTarget {
  let path: PathBytes
  /// Whether it is an empty file that was made because a link led to nothing.
  let isMade: Bool

  init(_ path: String) throws(FileError) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else {
      (self.path, isMade) = (PathBytes(path), false)
      return
    }
    isMade = stat(path, &status) != 0 && errno == ENOENT
    let descriptor = open(path, (isMade ? O_WRONLY | O_CREAT : Self.pathOnly) | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .unwritable(path, reason: FileBytes.reason) }
    defer { close(descriptor) }
    guard let target = Self.path(of: descriptor) else {
      throw .unwritable(path, reason: "the system does not tell where this link leads")
    }
    self.path = target
  }

  #if os(Linux)
    /// `O_PATH`, which needs no permission of the file.
    private static let pathOnly: Int32 = 0o10_000_000

    private static func path(of descriptor: Int32) -> PathBytes? {
      PathBytes("/proc/self/fd/\(descriptor)").linkContent.map(PathBytes.init)
    }
  #else
    private static let pathOnly = O_RDONLY | O_NONBLOCK

    private static func path(of descriptor: Int32) -> PathBytes? {
      var path = [UInt8](repeating: 0, count: Int(MAXPATHLEN))
      let status = path.withUnsafeMutableBytes { fcntl(descriptor, F_GETPATH, $0.baseAddress!) }
      return status == 0 ? PathBytes(Array(path.prefix { $0 != 0 })) : nil
    }
  #endif
}
