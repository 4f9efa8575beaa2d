import CLibrary

/// The files of some kinds in a folder and the folders below it. Each folder is visited once, however many ways lead to it: first
/// those that lie there, then those that only links lead to, so that each file has the plainest of its paths. A link
/// to a file is a name of its own.
@safe package struct FolderWalk {
  package enum Choice: Equatable, Sendable {
    case listed
    /// It is passed over, and counted under this word.
    case counted(String)
    case passedOver
  }

  /// Sorted by their bytes.
  package private(set) var paths: [String] = []
  /// The paths that could not be looked at, in the order in which they were met.
  package private(set) var failures: [DermaFusionError] = []
  /// The number of files of each kind that were passed over and counted, and the first that was met.
  package private(set) var counts: [String: (count: Int, first: String)] = [:]
  private let byName: (String) -> Choice?
  private let byContent: (_ name: String, _ path: UnsafePointer<CChar>) -> Choice
  private var visited: Set<FileIdentity> = []
  /// Links to folders that were met and not yet followed.
  private var links: [String] = []

  /// - Parameters:
  ///   - byName: what to do with a file of this name, in which bytes that are no text are replaced; nil: its content tells.
  ///   - byContent: what to do with a file whose name does not tell. It is neither a pipe nor a device.
  package init(
    _ folder: String, byName: @escaping (String) -> Choice?,
    byContent: @escaping (_ name: String, _ path: UnsafePointer<CChar>) -> Choice
  ) throws(DermaFusionError) {
    self.byName = byName
    unsafe self.byContent = unsafe byContent
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
        if unsafe bytes.withCString({ unsafe isFolderOrListed($0, name: name) }) {
          failures.append(.nameNotText(path))
        }
        continue
      }
      let path = Self.path(folder, text)
      guard isFolderToOpen(path, name: text) else { continue }
      do throws(DermaFusionError) {
        open.append((path, try self.names(ofNew: path)[...]))
      } catch {
        failures.append(error)
      }
    }
  }

  /// - Parameter name: no text.
  private func isFolderOrListed(_ path: UnsafePointer<CChar>, name: [UInt8]) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return true }
    if status.st_mode & S_IFMT == S_IFDIR { return true }
    let name = String(decoding: name, as: UTF8.self)
    let choice = byName(name)
    return unsafe (choice ?? (status.st_mode & S_IFMT == S_IFREG ? byContent(name, path) : .passedOver))
      == .listed
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
    guard unsafe stat(folder, &status) == 0 else { throw FileBytes.failure(path: folder) }
    return visited.insert(FileIdentity(status)).inserted ? try FilePages.names(in: folder) : []
  }

  /// Takes a file down, or a link to a folder; true for a folder that is to be visited now.
  private mutating func isFolderToOpen(_ path: String, name: String) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else {
      failures.append(FileBytes.failure(path: path))
      return false
    }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink, unsafe stat(path, &status) != 0 {
      // Whatever its name: it may have led to a folder of images.
      failures.append(FileBytes.failure(path: path))
      return false
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      if isLink { links.append(path) }
      return !isLink
    case S_IFREG:
      switch unsafe byName(name) ?? path.withCString({ unsafe byContent(name, $0) }) {
      case .listed: paths.append(path)
      case .counted(let kind): counts[kind, default: (0, path)].count += 1
      case .passedOver: break
      }
    // A pipe would be waited for, a device might never end.
    default: if byName(name) == .listed { failures.append(.notFile(path)) }
    }
    return false
  }

  /// The names of the folders in a folder, sorted by their bytes, without hidden ones; none where it cannot be read.
  package static func folders(in folder: String) -> [String] {
    let names = (try? FilePages.names(in: folder)) ?? []
    return names.compactMap { $0.first == UInt8(ascii: ".") ? nil : String(validating: $0, as: UTF8.self) }
      .filter { unsafe path(folder, $0).withCString(unsafe isFolder) }
  }

  private static func path(_ folder: String, _ name: String) -> String {
    folder.utf8.last == UInt8(ascii: "/") ? folder + name : folder + "/" + name
  }

  package static func isFolder(_ path: UnsafePointer<CChar>) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
