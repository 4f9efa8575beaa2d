import CLibrary

/// A file that is being written. It has its name when it is whole, or never: until then it lies beside its place under
/// another name. What a symbolic link leads to is replaced, not the link (see ``OutputTarget``), and what may be done with it
/// stays; a device or a pipe is written to.
package final class PartialFile: ByteOutput {
  private let path: String
  private let output: FileDescriptorOutput
  /// The place of the bytes until the file is whole, and that of the file; `nil` for what is written to directly.
  private let names: (temporary: HiddenName, target: PathBytes)?
  /// An empty file at the end of a link to nothing, which must not stay unless it is replaced.
  private let made: HiddenName?
  private let isClosed = Atomic<Bool>(false)

  /// - Parameters:
  ///   - name: what errors call the file; nil: its path.
  ///   - patience: seconds to wait for somebody to read from a named pipe.
  package init(
    path: String, name: String? = nil, patience: Int = FileBytes.writerPatience
  ) throws(DermaFusionError) {
    let name = name ?? path
    self.path = name
    if let stream = FileBytes.openStream(path) {
      (names, made) = (nil, nil)
      output = FileDescriptorOutput(descriptor: dup(stream), path: name)
    } else {
      var status = stat()
      let isThere = unsafe stat(path, &status) == 0
      if isThere, status.st_mode & S_IFMT != S_IFREG {
        if status.st_mode & S_IFMT == S_IFDIR { throw .isFolder(name) }
        let isPipe = status.st_mode & S_IFMT == S_IFIFO
        (names, made) = (nil, nil)
        output = unsafe FileDescriptorOutput(
          descriptor: isPipe
            ? try FileBytes.openPipe(path, patience: patience) : open(path, O_WRONLY | O_CLOEXEC), path: name)
      } else {
        let target = try OutputTarget(path)
        made = target.isMade ? HiddenName(removing: target.path) : nil
        let temporary = HiddenName(beside: target.path)
        names = (temporary, target.path)
        output = unsafe FileDescriptorOutput(
          descriptor: temporary.path.withCString {
            unsafe open($0, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0o666)
          },
          path: name)
        if isThere, output.descriptor >= 0 { _ = fchmod(output.descriptor, status.st_mode & 0o7777) }
      }
    }
    guard output.descriptor >= 0 else {
      isClosed.store(true, ordering: .relaxed)
      throw FileBytes.writeFailure(name)
    }
  }

  package func write(_ bytes: [UInt8]) throws(DermaFusionError) {
    try output.write(bytes)
  }

  /// Brings the bytes to the disk and gives the file its name.
  package func finish() throws(DermaFusionError) { try Self.finish([self]) }

  /// Finishes several files: all get their names, or none does. What went to a device or a pipe stays there.
  package static func finish(_ files: [PartialFile]) throws(DermaFusionError) {
    unsafe try finish(files, secondName: { unsafe link($0, $1) })
  }

  /// ``finish(_:)``; `secondName` is the system's `link`, which tests replace.
  static func finish(_ files: [PartialFile], secondName: OldFile.SecondName) throws(DermaFusionError) {
    for file in files { try file.bringToDisk() }
    // A signal between two of them would leave one of a pair.
    ProgramSignals.holdBack()
    defer { ProgramSignals.release() }
    let named = files.compactMap { file in file.names.map { (file, $0.temporary.path, $0.target) } }
    // The last file needs none: nothing after it can fail.
    var old = named.dropLast().map { unsafe OldFile(at: $0.2, secondName) }
    for (index, (file, temporary, target)) in named.enumerated() {
      if index == old.count || old[index].keep(), temporary.rename(to: target) { continue }
      let reason = FileBytes.reason
      let lost = old.indices.prefix(index + 1).filter { !old[$0].bringBack(isReplaced: $0 < index) }
      throw .unwritable(file.path, reason: ([reason] + lost.map { old[$0].place }).joined(separator: "; "))
    }
    for (file, _, _) in named { file.made?.keep() }
  }

  /// So that a file that has its name is whole after a power cut too.
  private func bringToDisk() throws(DermaFusionError) {
    if isClosed.exchange(true, ordering: .relaxed) { return }
    // Not everything can be: pipes and some networks' files answer EINVAL.
    let isOnDisk = names == nil || fsync(output.descriptor) == 0 || [EINVAL, ENOTSUP].contains(errno)
    let reason = FileBytes.reason
    // Where a file lies on another machine, this may be where it turns out that it has no room.
    let isClosed = close(output.descriptor) == 0
    if !isOnDisk { throw .unwritable(path, reason: reason) }
    if !isClosed { throw .unwritable(path, reason: FileBytes.reason) }
  }

  deinit { if !isClosed.load(ordering: .relaxed) { close(output.descriptor) } }
}

/// A file that is removed when this object goes, and when a signal ends the program.
private final class HiddenName: Sendable {
  let path: PathBytes
  /// -1 where a signal leaves the file alone.
  private let slot: Atomic<Int>
  private let isKept = Atomic<Bool>(false)

  /// A file beside a target.
  convenience init(beside target: PathBytes, ending: String = "partial") {
    self.init(removing: target.folder.appending("/\(FileBytes.hiddenName(ending: ending))".utf8))
  }

  init(removing path: PathBytes) {
    self.path = path
    slot = Atomic(ProgramSignals.removeAtEnd(path))
  }

  /// Lets the file stay after all.
  func keep() {
    isKept.store(true, ordering: .relaxed)
    keepAtSignals()
  }

  /// Lets a signal leave the file alone.
  func keepAtSignals() { ProgramSignals.keep(slot.exchange(-1, ordering: .relaxed)) }

  deinit {
    if isKept.load(ordering: .relaxed) { return }
    _ = unsafe path.withCString { unsafe unlink($0) }
    keepAtSignals()
  }
}

/// A file that is about to be replaced, kept so that it can be brought back: under a second name or, on a file system without
/// second names (FAT, exFAT, SMB), moved aside.
struct OldFile {
  typealias SecondName = (_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32

  private enum State {
    case missing
    /// It has a second name.
    case linked
    /// It has none, and is moved aside when its place is needed.
    case inPlace
    case movedAside
  }

  private let target: PathBytes
  private let name: HiddenName
  private var state: State

  init(at target: PathBytes, _ secondName: SecondName) {
    self.target = target
    let name = HiddenName(beside: target, ending: "backup")
    self.name = name
    let isLinked = unsafe target.withCString { old in
      unsafe name.path.withCString { unsafe secondName(old, $0) == 0 }
    }
    state = isLinked ? .linked : errno == ENOENT ? .missing : .inPlace
  }

  /// Sees to it that replacing the file does not lose it; false where the system does not let it be moved, and `errno` says why.
  mutating func keep() -> Bool {
    // A folder that took its place is not moved; the file that should replace it fails then.
    guard state == .inPlace, target.isFile else { return true }
    // From here on this is the only copy.
    name.keepAtSignals()
    guard target.rename(to: name.path) else { return false }
    state = .movedAside
    return true
  }

  /// Puts the old file back in its place; where there was none, takes away what came instead.
  ///
  /// - Parameter isReplaced: whether another file has its place.
  /// - Returns: false where that fails; the old file then stays at its hidden name.
  func bringBack(isReplaced: Bool) -> Bool {
    switch state {
    case .missing: return unsafe !isReplaced || target.withCString { unsafe unlink($0) == 0 }
    case .linked where !isReplaced, .inPlace: return true
    case .linked, .movedAside:
      if name.path.rename(to: target) { return true }
      name.keep()
      return false
    }
  }

  /// Says where an old file lies that could not be brought back.
  var place: String { "the old file is now \(String(decoding: name.path.bytes, as: UTF8.self))" }
}

extension FileBytes {
  /// Writes files, all or none of them; see ``PartialFile``. What went to a device or a pipe stays there.
  ///
  /// - Parameter patience: seconds to wait for somebody to read from a named pipe.
  package static func write(
    _ files: [(bytes: [UInt8], path: String)], patience: Int = writerPatience
  ) throws(DermaFusionError) {
    try write(files.map { (bytes: $0.bytes, path: $0.path, name: $0.path) }, patience: patience)
  }

  /// - Parameter files: with the names that errors call them by.
  static func write(
    _ files: [(bytes: [UInt8], path: String, name: String)], patience: Int = writerPatience
  ) throws(DermaFusionError) {
    var partials: [PartialFile] = []
    for (bytes, path, name) in files {
      let file = try PartialFile(path: path, name: name, patience: patience)
      do throws(DermaFusionError) {
        try file.write(bytes)
      } catch {
        throw error.withCode(.unusableFile)
      }
      partials.append(file)
    }
    try PartialFile.finish(partials)
  }
}

/// The file that an output's path leads to. The system follows symbolic links, not this program: a link that it does not
/// follow, such as another user's in a shared folder (Linux's `fs.protected_symlinks`), must not be followed by reading it.
struct OutputTarget {
  let path: PathBytes
  /// True if it is an empty file that was made because a link led to nothing.
  let isMade: Bool

  init(_ path: String) throws(DermaFusionError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else {
      (self.path, isMade) = (PathBytes(path), false)
      return
    }
    isMade = unsafe stat(path, &status) != 0 && errno == ENOENT
    let descriptor = unsafe open(path, (isMade ? O_WRONLY | O_CREAT : Self.pathOnly) | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw FileBytes.writeFailure(path) }
    defer { close(descriptor) }
    guard let target = Self.path(of: descriptor) else {
      throw .unwritable(path, reason: "the system does not tell where this link leads")
    }
    self.path = target
  }

  #if os(Linux)
    /// `O_PATH`, which needs no permission of the file.
    private static let pathOnly: Int32 = 0o10_000_000

    private static func path(of descriptor: Int32) -> PathBytes? {
      PathBytes("/proc/self/fd/\(descriptor)").linkContent.map(PathBytes.init)
    }
  #else
    private static let pathOnly = O_RDONLY | O_NONBLOCK

    private static func path(of descriptor: Int32) -> PathBytes? {
      var path = [UInt8](repeating: 0, count: Int(MAXPATHLEN))
      let status = path.withUnsafeMutableBytes { fcntl(descriptor, F_GETPATH, $0.baseAddress!) }
      return status == 0 ? PathBytes(Array(path.prefix { $0 != 0 })) : nil
    }
  #endif
}

/// A file of lines that is gone on with: what stands in it stays, but for a last line that was not finished.
package final class ContinuedFile: ByteOutput {
  private let path: String
  private let output: FileDescriptorOutput
  package let content: [UInt8]
  private let isClosed = Atomic<Bool>(false)

  /// Opens a file of at most `limit` bytes with which no other process goes on, or makes an empty one.
  package init(path: String, limit: Int) throws(DermaFusionError) {
    self.path = path
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw status.st_mode & S_IFMT == S_IFDIR ? .isFolder(path) : .notFile(path)
    }
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw FileBytes.writeFailure(path) }
    output = FileDescriptorOutput(descriptor: descriptor, path: path)
    do throws(DermaFusionError) {
      content = try Self.lockedContent(of: descriptor, path: path, limit: limit)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func lockedContent(
    of descriptor: Int32, path: String, limit: Int
  ) throws(DermaFusionError) -> [UInt8] {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw .unwritable(path, reason: "another process writes to it")
    }
    do throws(DermaFusionError) {
      return unsafe try FileBytes.read(descriptor: descriptor, name: path, limit: limit)
    } catch {
      if error.code == .emptyFile { return [] }
      throw error
    }
  }

  package func truncate(to count: Int) throws(DermaFusionError) {
    if ftruncate(output.descriptor, off_t(count)) != 0 { throw .unwritable(path, reason: FileBytes.reason) }
  }

  package func write(_ bytes: [UInt8]) throws(DermaFusionError) {
    try output.write(bytes)
  }

  /// Closes the file; what was written stays whether or not this is called.
  package func finish() throws(DermaFusionError) {
    isClosed.store(true, ordering: .relaxed)
    if close(output.descriptor) != 0 { throw .unwritable(path, reason: FileBytes.reason) }
  }

  deinit {
    if !isClosed.load(ordering: .relaxed) { close(output.descriptor) }
  }
}
