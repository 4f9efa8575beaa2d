import CLibrary

/// A path as the system has it, which need not be text: links can lead to names in any encoding.
struct PathBytes: Equatable {
  /// With the terminating zero from the first: between the renames of several files nothing may be allocated.
  private let terminated: [UInt8]

  init(_ path: String) { self.init(path.utf8) }

  init(_ bytes: some Sequence<UInt8>) { terminated = bytes + [0] }

  /// Without the terminating zero.
  var bytes: ArraySlice<UInt8> { terminated.dropLast() }

  private static let slash = UInt8(ascii: "/")
  /// As many as Linux follows.
  private static let linkLimit = 40

  var name: [UInt8] { Array(bytes[(bytes.lastIndex(of: Self.slash).map { $0 + 1 } ?? 0)...]) }

  /// The part before the name; `.` for a name alone.
  var folder: PathBytes {
    guard let end = bytes.lastIndex(of: Self.slash) else { return PathBytes(".") }
    return end == 0 ? PathBytes("/") : PathBytes(bytes[..<end])
  }

  /// The path of what the last part leads to when it is a symbolic link, of which the end need not be there. To compare
  /// paths; never to open what it leads to, see ``OutputTarget``.
  var followingLinks: PathBytes {
    var path = self
    for _ in 0..<Self.linkLimit {
      guard let link = path.linkContent else { break }
      path =
        link[0] == Self.slash ? PathBytes(link) : PathBytes(path.folder.bytes + [Self.slash] + link)
    }
    return path
  }

  /// The path in a symbolic link; nil if this is not a link.
  var linkContent: [UInt8]? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe withCString { source in
      unsafe target.withUnsafeMutableBytes {
        unsafe readlink(source, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
    }
    return count > 0 ? Array(target[..<count]) : nil
  }

  func appending(_ more: some Sequence<UInt8>) -> PathBytes { PathBytes(bytes + more) }

  /// True if it is a file, not a link to one.
  var isFile: Bool {
    var status = stat()
    return unsafe withCString { unsafe lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// - Returns: false where the system refuses; `errno` says why.
  func rename(to target: PathBytes) -> Bool {
    unsafe withCString { old in unsafe target.withCString { unsafe systemRename(old, $0) == 0 } }
  }

  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe terminated.withUnsafeBytes { unsafe body($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }
}

/// Which file a path leads to, whatever its spelling and the links on the way.
package enum FileIdentity: Hashable {
  case existing(device: UInt64, node: UInt64)
  /// A file that is not there yet: the folder that it would lie in, and its name there.
  case missing(folder: UInt64, device: UInt64, name: [UInt8])

  /// `nil` where the path leads nowhere and no file could be made.
  package init?(path: String) {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      self.init(status)
      return
    }
    let target = PathBytes(path).followingLinks
    guard !target.name.isEmpty, unsafe target.folder.withCString({ unsafe stat($0, &status) }) == 0 else {
      return nil
    }
    self = .missing(
      folder: UInt64(status.st_ino), device: UInt64(truncatingIfNeeded: status.st_dev), name: target.name)
  }

  init(_ status: stat) {
    // Signed on some systems, where it may be negative.
    self = .existing(device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(status.st_ino))
  }
}
