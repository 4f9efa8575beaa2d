#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files of some kinds in a folder and the folders below it. Each folder is visited once, however many ways lead to it: first
/// those that lie there, then those that only links lead to, so that each file has the plainest of its paths. A link
/// to a file is a name of its own.
package struct FolderWalk {
  /// Sorted by their bytes.
  package private(set) var paths: [String] = []
  /// What could not be looked at, in the order in which it was met.
  package private(set) var failures: [FileError] = []
  private let endings: [String]
  private var visited: Set<FileIdentity> = []
  /// Links to folders that were met and not yet followed.
  private var links: [String] = []

  /// - Parameter endings: of the names of the files, in lower case; the names may have any letter case.
  /// - Throws: ``FileError`` when the folder itself cannot be read.
  package init(_ folder: String, endings: [String]) throws(FileError) {
    self.endings = endings
    try visit(folder)
    while !links.isEmpty {
      let next = links.sorted { left, right in
        let depths = [left, right].map { path in path.utf8.count { $0 == UInt8(ascii: "/") } }
        return depths[0] == depths[1] ? Self.precedes(left, right) : depths[0] < depths[1]
      }
      links = []
      for link in next { visitBelow(link) }
    }
    paths.sort(by: Self.precedes)
  }

  /// - Parameter name: may be no text.
  private func isListed(_ name: [UInt8]) -> Bool {
    let lowercase = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    return endings.contains { ending in
      name.count > ending.utf8.count && lowercase.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private mutating func visitBelow(_ folder: String) {
    do throws(FileError) {
      try visit(folder)
    } catch {
      failures.append(error)
    }
  }

  private mutating func visit(_ folder: String) throws(FileError) {
    var status = stat()
    guard stat(folder, &status) == 0 else { throw FileBytes.failure(path: folder) }
    guard visited.insert(FileIdentity(status)).inserted else { return }
    for name in try Self.names(in: folder) where name.first != UInt8(ascii: ".") {
      guard let text = String(validating: name, as: UTF8.self) else {
        let path = Self.path(folder, String(escapingInvalid: name))
        let bytes = PathBytes(Self.path(folder, "")).appending(name)
        if isListed(name) || bytes.withCString({ Self.isFolder($0) }) {
          failures.append(.nameNotText(path))
        }
        continue
      }
      look(at: Self.path(folder, text), isFile: isListed(name))
    }
  }

  private mutating func look(at path: String, isFile: Bool) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return failures.append(FileBytes.failure(path: path)) }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink, stat(path, &status) != 0 {
      // Whatever its name: it may have led to a folder of images.
      return failures.append(FileBytes.failure(path: path))
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: if isLink { links.append(path) } else { visitBelow(path) }
    case S_IFREG: if isFile { paths.append(path) }
    // A pipe would be waited for, a device might never end.
    default: if isFile { failures.append(.notFile(path)) }
    }
  }

  /// The names in a folder sorted by their bytes, read before any is looked at: the system has its own order.
  private static func names(in folder: String) throws(FileError) -> [[UInt8]] {
    guard let stream = opendir(folder) else {
      throw errno == ENOTDIR ? .notFolder(folder) : FileBytes.failure(path: folder)
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw FileBytes.failure(path: folder) }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
      }
      names.append(withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) })
    }
  }

  private static func path(_ folder: String, _ name: String) -> String {
    folder.utf8.last == UInt8(ascii: "/") ? folder + name : folder + "/" + name
  }

  package static func isFolder(_ path: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
