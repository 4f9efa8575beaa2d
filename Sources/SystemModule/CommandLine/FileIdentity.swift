#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Which file a path leads to, whatever its spelling and the links on the way.
package enum FileIdentity: Hashable {
  case existing(device: UInt64, node: UInt64)
  /// A file that is not there yet: the folder that it would lie in, and its name there.
  case missing(folder: UInt64, device: UInt64, name: [UInt8])

  /// `nil` where the path leads nowhere and no file could be made.
  package init?(path: String) {
    var status = stat()
    if stat(path, &status) == 0 {
      self.init(status)
      return
    }
    let target = PathBytes(path).followingLinks
    guard !target.name.isEmpty, target.folder.withCString({ stat($0, &status) }) == 0 else { return nil }
    self = .missing(
      folder: UInt64(status.st_ino), device: UInt64(truncatingIfNeeded: status.st_dev), name: target.name)
  }

  init(_ status: stat) {
    // Signed on some systems, where it may be negative.
    self = .existing(device: UInt64(truncatingIfNeeded: status.st_dev), node: UInt64(status.st_ino))
  }
}
