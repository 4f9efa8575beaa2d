extension DermaFusionError.Code {
  /// A file or folder is not there, is of the wrong kind, or cannot be opened.
  package static let fileNotFound = Self("fileNotFound")
  package static let emptyFile = Self("emptyFile")
  /// A file that is there cannot be used.
  package static let unusableFile = Self("unusableFile")
  /// The reader of a pipe has gone.
  package static let closedOutput = Self("closedOutput")
  package static let failedOutput = Self("failedOutput")
}

/// Files and folders. Every message names the path and the rule.
extension DermaFusionError {
  private static func missing(_ path: String, _ reason: String) -> Self {
    Self(.fileNotFound, message: "\(path): \(reason)", remedy: "Check the path.")
  }

  private static func unusable(_ path: String, _ reason: String) -> Self {
    Self(.unusableFile, message: "\(path): \(reason)", remedy: "Check the file, or name another one.")
  }

  package static func notFound(_ path: String) -> Self { missing(path, "no such file or folder") }
  package static func isFolder(_ path: String) -> Self { missing(path, "is a folder, not a file") }
  package static func notFolder(_ path: String) -> Self { missing(path, "is a file, not a folder") }
  package static func brokenLink(_ path: String) -> Self {
    missing(path, "is a link to something that is not there")
  }
  /// Neither a file nor a folder.
  package static func notFile(_ path: String) -> Self { missing(path, "is neither a file nor a folder") }
  /// - Parameter reason: the system's own words.
  package static func unreadable(_ path: String, reason: String) -> Self {
    missing(path, "cannot be read: \(reason)")
  }
  /// A folder that was to be made is there and holds something.
  package static func folderNotEmpty(_ path: String) -> Self {
    unusable(path, "the folder is there and not empty; please name one that is not")
  }
  package static func empty(_ path: String) -> Self {
    Self(.emptyFile, message: "\(path): the file is empty", remedy: "Name a file that holds something.")
  }
  package static func tooLarge(_ path: String, limit: Int) -> Self {
    let limit = limit < 1 << 20 ? "\(limit >> 10) kB" : "\(limit >> 20) MB"
    return unusable(path, "the file is larger than the limit of \(limit)")
  }
  package static func outOfMemory(_ path: String, byteCount: Int) -> Self {
    unusable(path, "there is no memory for its \(byteCount) bytes")
  }
  /// Another process wrote to the file while it was read.
  package static func changed(_ path: String) -> Self {
    unusable(path, "the file changed while it was read; try again when it is complete")
  }
  /// Its first bytes show that it is not what is wanted; `reason` says why.
  package static func refused(_ path: String, reason: String) -> Self { unusable(path, reason) }
  /// - Parameter kind: what was looked for.
  package static func folderWithout(_ path: String, kind: String) -> Self {
    unusable(path, "the folder holds no \(kind)")
  }
  /// - Parameter path: the wrong bytes of its name as `\xE9`.
  package static func nameNotText(_ path: String) -> Self { unusable(path, "the name is not UTF-8 text") }
  package static func pipeWithoutWriter(_ path: String, seconds: Int) -> Self {
    unusable(path, "is a pipe that nothing was written to for \(seconds) seconds")
  }
  /// Something was written to the pipe, but not its end.
  package static func pipeWithoutEnd(_ path: String, seconds: Int) -> Self {
    unusable(path, "is a pipe that did not end within the limit of \(seconds) seconds")
  }
  package static func pipeWithoutReader(_ path: String, seconds: Int) -> Self {
    unusable(path, "is a pipe that nobody read from for \(seconds) seconds")
  }
  /// - Parameter reason: the system's own words.
  package static func unwritable(_ path: String, reason: String) -> Self {
    unusable(path, "cannot be written: \(reason)")
  }
  /// A failure that does not itself name its file.
  package static func failure(name: String, reason: String) -> Self { unusable(name, reason) }

  /// Whether the message begins with the name of a file already.
  package var namesItsFile: Bool { [.fileNotFound, .emptyFile, .unusableFile].contains(code) }

  /// Whether results cannot be written any more, so that a batch must end.
  package var isOfOutput: Bool { code == .closedOutput || code == .failedOutput }

  // Standard output
  package static var closed: Self {
    Self(.closedOutput, message: "standard output was closed", remedy: "Read all of the output.")
  }
  /// - Parameters:
  ///   - path: `nil` for standard output.
  ///   - reason: the system's own words.
  package static func failed(path: String? = nil, reason: String) -> Self {
    Self(
      .failedOutput, message: (path.map { "\($0):" } ?? "standard output") + " cannot be written: \(reason)",
      remedy: "Write to another place.")
  }
}
