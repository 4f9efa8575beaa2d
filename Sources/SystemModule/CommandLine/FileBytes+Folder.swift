#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension FileBytes {
  /// Checks that a folder can be made, or is there and empty.
  package static func requireNewFolder(_ path: String) throws(DermaFusionError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return try requireFolder(of: withoutSlashes(path)) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .notFolder(path) }
    guard let stream = opendir(path) else { throw .unwritable(path, reason: reason) }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { throw .folderNotEmpty(path) }
    }
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
    let folders = [temporary] + below.map { "\(temporary)/\($0)" }
    let paths = files.map { "\(temporary)/\($0.name)" }
    // What is in a folder is removed before the folder.
    let names = paths + folders.reversed()
    let slots = names.map { ProgramSignals.removeAtEnd(PathBytes($0)) }
    defer { for slot in slots { ProgramSignals.keep(slot) } }
    do throws(DermaFusionError) {
      for folder in folders { try makeFolder(folder) }
      try write(zip(files, paths).map { (bytes: $0.bytes, path: $1) })
      guard rename(temporary, target) == 0 else { throw .unwritable(path, reason: reason) }
    } catch {
      for name in names { remove(name) }
      throw error
    }
  }

  private static func withoutSlashes(_ path: String) -> String {
    var path = path
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}
