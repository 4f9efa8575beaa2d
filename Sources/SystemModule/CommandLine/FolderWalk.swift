import CLibrary

/// The files of some kinds in a folder and the folders below it. Each folder is visited once, however many ways lead to it: first
/// those that lie there, then those that only links lead to, so that each file has the plainest of its paths. A link
/// to a file is a name of its own.
package struct FolderWalk {
  /// Sorted by their bytes.
  package private(set) var paths: [String] = []
  /// What could not be looked at, in the order in which it was met.
  package private(set) var failures: [DermaFusionError] = []
  /// Of the files that were passed over, how many have each of the endings that were to be counted.
  package private(set) var counts: [String: Int] = [:]
  private let endings: [String]
  private let countedEndings: [String]
  private var visited: Set<FileIdentity> = []
  /// Links to folders that were met and not yet followed.
  private var links: [String] = []

  /// - Parameters:
  ///   - endings: of the names of the files, in lower case; the names may have any letter case.
  ///   - countedEndings: of the names that are only counted; looked at before `endings`, and the first that fits counts.
  /// - Throws: ``DermaFusionError`` when the folder itself cannot be read.
  package init(_ folder: String, endings: [String], counting countedEndings: [String] = [])
    throws(DermaFusionError)
  {
    self.endings = endings
    self.countedEndings = countedEndings
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
    let name = Self.lowercase(name)
    return endings.contains { Self.ends(name, with: $0) }
  }

  private static func lowercase(_ name: [UInt8]) -> [UInt8] {
    name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
  }

  private static func ends(_ name: [UInt8], with ending: String) -> Bool {
    name.count > ending.utf8.count && name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Visits a folder and all below it that no link leads to. Not by calling itself: folders can be thousands of levels deep,
  /// and a stack is small.
  private mutating func visit(_ folder: String) throws(DermaFusionError) {
    var open = [(folder: folder, names: try names(ofNew: folder)[...])]
    while let (folder, names) = open.last {
      guard let name = names.first else {
        open.removeLast()
        continue
      }
      open[open.count - 1].names.removeFirst()
      if name.first == UInt8(ascii: ".") { continue }
      guard let text = String(validating: name, as: UTF8.self) else {
        let path = Self.path(folder, String(escapingInvalid: name))
        let bytes = PathBytes(Self.path(folder, "")).appending(name)
        if isListed(name) || bytes.withCString({ Self.isFolder($0) }) {
          failures.append(.nameNotText(path))
        }
        continue
      }
      let path = Self.path(folder, text)
      guard isFolderToOpen(path, name: name) else { continue }
      do throws(DermaFusionError) {
        open.append((path, try self.names(ofNew: path)[...]))
      } catch {
        failures.append(error)
      }
    }
  }

  private mutating func visitBelow(_ folder: String) {
    do throws(DermaFusionError) {
      try visit(folder)
    } catch {
      failures.append(error)
    }
  }

  /// The names in a folder; none where it was visited before.
  private mutating func names(ofNew folder: String) throws(DermaFusionError) -> [[UInt8]] {
    var status = stat()
    guard stat(folder, &status) == 0 else { throw FileBytes.failure(path: folder) }
    return visited.insert(FileIdentity(status)).inserted ? try Self.names(in: folder) : []
  }

  /// Takes a file down, or a link to a folder.
  ///
  /// - Returns: whether it is a folder that is to be visited now.
  private mutating func isFolderToOpen(_ path: String, name: [UInt8]) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      failures.append(FileBytes.failure(path: path))
      return false
    }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink, stat(path, &status) != 0 {
      // Whatever its name: it may have led to a folder of images.
      failures.append(FileBytes.failure(path: path))
      return false
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      if isLink { links.append(path) }
      return !isLink
    case S_IFREG:
      let lowercase = Self.lowercase(name)
      if let ending = countedEndings.first(where: { Self.ends(lowercase, with: $0) }) {
        counts[ending, default: 0] += 1
      } else if isListed(name) {
        paths.append(path)
      }
    // A pipe would be waited for, a device might never end.
    default: if isListed(name) { failures.append(.notFile(path)) }
    }
    return false
  }

  /// The names in a folder sorted by their bytes, read before any is looked at: the system has its own order.
  private static func names(in folder: String) throws(DermaFusionError) -> [[UInt8]] {
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

  /// The names of the folders in a folder, sorted by their bytes, without hidden ones; none where it cannot be read.
  package static func folders(in folder: String) -> [String] {
    let names = (try? names(in: folder)) ?? []
    return names.compactMap { $0.first == UInt8(ascii: ".") ? nil : String(validating: $0, as: UTF8.self) }
      .filter { path(folder, $0).withCString(isFolder) }
  }

  private static func path(_ folder: String, _ name: String) -> String {
    folder.utf8.last == UInt8(ascii: "/") ? folder + name : folder + "/" + name
  }

  package static func isFolder(_ path: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
