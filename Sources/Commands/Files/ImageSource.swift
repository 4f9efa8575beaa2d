#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where the bytes of one image come from.
package enum ImageSource: Equatable, Sendable {
  case standardInput
  case file(String)

  /// Files in a folder are images when their name ends so, in any letter case.
  package static let imageEndings = [".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".pnm"]

  /// `-` is standard input, everything else a path.
  package init(argument: String) {
    self = argument == "-" ? .standardInput : .file(argument)
  }

  /// What the image is called in results and messages: the path as it was given, or `-`.
  package var name: String {
    switch self {
    case .standardInput: "-"
    case .file(let path): path
    }
  }

  /// The file name without its folders and its ending, by which metadata tables know the image.
  package var identifier: String? {
    guard case .file(let path) = self, let last = path.split(separator: "/").last else { return nil }
    guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return String(last) }
    return String(last[..<dot])
  }

  /// The image's bytes.
  package func read(terminal: Terminal) throws(FileError) -> [UInt8] {
    switch self {
    case .standardInput: try terminal.readInput(FileBytes.imageLimit)
    case .file(let path): try FileBytes.read(path: path, limit: FileBytes.imageLimit)
    }
  }

  /// The images that one argument stands for: standard input, the file itself, or the images in a folder
  /// and the folders below it, sorted by path. Hidden files and folders are passed over; symbolic links are
  /// followed, but a folder that holds itself is entered once.
  ///
  /// `failures` names folders below that could not be read. Whether a file can be read turns out when it
  /// is read.
  ///
  /// - Throws: ``FileError`` for a folder that cannot be read or holds no image.
  package static func sources(
    for argument: String
  ) throws(FileError) -> (sources: [ImageSource], failures: [FileError]) {
    guard argument != "-", isFolder(argument) else { return ([ImageSource(argument: argument)], []) }
    return try sources(inFolder: argument)
  }

  /// ``sources(for:)`` where nothing but a folder will do.
  static func sources(
    inFolder folder: String
  ) throws(FileError) -> (sources: [ImageSource], failures: [FileError]) {
    var walk = FolderWalk()
    try walk.enter(folder, enclosing: [])
    if walk.paths.isEmpty, walk.failures.isEmpty { throw .folderWithoutImages(folder) }
    let sorted = walk.paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return (sorted.map(ImageSource.file), walk.failures)
  }

  fileprivate static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

/// The images below a folder, in the order in which the system lists them.
private struct FolderWalk {
  var paths: [String] = []
  var failures: [FileError] = []

  /// - Parameter enclosing: the canonical paths of the folders that this one was reached through.
  mutating func enter(_ folder: String, enclosing: [String]) throws(FileError) {
    guard let canonical = realpath(folder, nil) else { throw FileBytes.failure(path: folder) }
    defer { free(canonical) }
    let identity = String(cString: canonical)
    if enclosing.contains(identity) { return }

    guard let stream = opendir(folder) else {
      throw errno == ENOTDIR ? .notFolder(folder) : FileBytes.failure(path: folder)
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
      if ImageSource.isFolder(path) {
        do throws(FileError) {
          try enter(path, enclosing: enclosing + [identity])
        } catch {
          failures.append(error)
        }
      } else if ImageSource.imageEndings.contains(where: name.lowercased().hasSuffix) {
        paths.append(path)
      }
    }
  }
}
