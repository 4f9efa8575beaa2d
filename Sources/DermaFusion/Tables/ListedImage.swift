import Files
import SystemModule

/// An image as a person names it, for a table that has a row for it.
package struct ListedImage: Sendable {
  /// As it was given, or as it was found in a folder that was given. `-` and an empty path name nothing.
  package let path: String
  /// Its path below the folder that was given; nil if the image itself was given.
  package let below: String?
  /// The rank of that folder where an earlier folder goes before a later one.
  package let rank: Int

  package init(_ path: String, below: String? = nil, rank: Int = 0) {
    self.path = path
    self.below = below
    self.rank = rank
  }
}

/// Paths as the parts between their slashes.
enum PathParts {
  static let slash = UInt8(ascii: "/")
  private static let backslash = UInt8(ascii: "\\")
  private static let dot = UInt8(ascii: ".")

  /// Without empty parts and `.`; an absolute path begins with an empty one.
  static func parts(_ path: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    let parts = path.split(separator: slash).filter { $0.count != 1 || $0.first != dot }
    return path.first == slash ? [path.prefix(0)] + parts : parts
  }

  static func joined(_ parts: some Collection<ArraySlice<UInt8>>) -> [UInt8] {
    Array(parts.joined(separator: CollectionOfOne(slash)))
  }

  /// The path without what means nothing in it: `./`, `//`. On Windows a backslash is a slash.
  static func plain(_ path: ArraySlice<UInt8>, isOfWindows: Bool = false) -> ArraySlice<UInt8> {
    var (before, isPlain) = (UInt8(0), true)
    for byte in path where isPlain {
      // Also `x./y`, which stays as it is.
      isPlain = !(byte == slash && (before == slash || before == dot)) && !(isOfWindows && byte == backslash)
      before = byte
    }
    if isPlain, before != slash { return path }
    let slashed = isOfWindows ? path.map { $0 == backslash ? slash : $0 }[...] : path
    return joined(parts(slashed))[...]
  }

  /// True for an absolute path of a Windows machine: `C:\x`, `\\server\x`.
  static func isForeign(_ path: ArraySlice<UInt8>) -> Bool {
    let start = path.prefix(3)
    if start.starts(with: [backslash, backslash]) { return true }
    return start.count == 3 && start.dropFirst().first == UInt8(ascii: ":")
      && (start.last == backslash || start.last == slash)
  }

  /// The last parts of a path without the slash before them; the whole path if it has no more parts.
  static func last(_ count: Int, of path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var (end, rest) = (path.endIndex, count)
    while let place = path[..<end].lastIndex(of: slash) {
      rest -= 1
      if rest == 0 { return path[(place + 1)...] }
      end = place
    }
    return path
  }

  /// An absolute path of one that may begin below a folder. Only `..` at its start is followed: what lies above another folder
  /// depends on links.
  static func absolute(_ path: ArraySlice<UInt8>, in folder: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var (base, below) = (parts(folder), parts(path)[...])
    if path.first == slash { return Array(below) }
    while base.count > 1, let first = below.first, first.elementsEqual([dot, dot]) {
      base.removeLast()
      below = below.dropFirst()
    }
    return base + below
  }
}
