/// Why a file or folder could not be used. Every message names it and the rule.
package enum FileError: Error, Equatable, CustomStringConvertible {
  case notFound(String)
  case isFolder(String)
  case notFolder(String)
  /// Something lies in a folder that is to be made.
  case folderNotEmpty(String)
  case empty(String)
  case tooLarge(String, limit: Int)
  /// There is no memory to read it.
  case outOfMemory(String, byteCount: Int)
  /// Somebody wrote to it while it was read.
  case changed(String)
  /// Its first bytes tell that it is not what is wanted; `reason` says why.
  case refused(String, reason: String)
  /// `kind` is what was looked for.
  case folderWithout(String, kind: String)
  case brokenLink(String)
  /// Neither a file nor a folder.
  case notFile(String)
  /// The path with the wrong bytes of its name as `\xE9`.
  case nameNotText(String)
  case pipeWithoutWriter(String, seconds: Int)
  /// Something was written to it, but not its end.
  case pipeWithoutEnd(String, seconds: Int)
  case pipeWithoutReader(String, seconds: Int)
  /// `reason` is the system's own words.
  case unreadable(String, reason: String)
  /// `reason` is the system's own words.
  case unwritable(String, reason: String)

  package var description: String {
    switch self {
    case .notFound(let path): "\(path): no such file or folder"
    case .isFolder(let path): "\(path): is a folder, not a file"
    case .notFolder(let path): "\(path): is a file, not a folder"
    case .folderNotEmpty(let path): "\(path): the folder is there and not empty; please name one that is not"
    case .empty(let path): "\(path): the file is empty"
    case .tooLarge(let path, let limit):
      "\(path): the file is larger than the limit of \(limit < 1 << 20 ? "\(limit >> 10) kB" : "\(limit >> 20) MB")"
    case .outOfMemory(let path, let byteCount):
      "\(path): there is no memory for its \(byteCount) bytes"
    case .changed(let path): "\(path): the file changed while it was read; try again when it is complete"
    case .refused(let path, let reason): "\(path): \(reason)"
    case .folderWithout(let path, let kind): "\(path): the folder holds no \(kind)"
    case .brokenLink(let path): "\(path): is a link to something that is not there"
    case .notFile(let path): "\(path): is neither a file nor a folder"
    case .nameNotText(let path): "\(path): the name is not UTF-8 text"
    case .pipeWithoutWriter(let path, let seconds):
      "\(path): is a pipe that nothing was written to for \(seconds) seconds"
    case .pipeWithoutEnd(let path, let seconds):
      "\(path): is a pipe that did not end within the limit of \(seconds) seconds"
    case .pipeWithoutReader(let path, let seconds):
      "\(path): is a pipe that nobody read from for \(seconds) seconds"
    case .unreadable(let path, let reason): "\(path): cannot be read: \(reason)"
    case .unwritable(let path, let reason): "\(path): cannot be written: \(reason)"
    }
  }
}

/// A failure that does not itself say of which file it speaks.
package struct NamedFailure: Error, CustomStringConvertible {
  package let name: String
  package let reason: String

  package init(name: String, reason: String) {
    self.name = name
    self.reason = reason
  }

  package var description: String { "\(name): \(reason)" }
}
