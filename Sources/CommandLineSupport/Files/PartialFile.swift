import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is being written. It has its name when it is whole, or never: until then it lies beside its place under
/// another name. What a symbolic link leads to is replaced, not the link, and what may be done with it stays; a device or
/// a pipe is written to.
package final class PartialFile: ByteOutput {
  private let path: String
  private let output: FileDescriptorOutput
  /// Where the bytes are until the file is whole, and its place; `nil` for what is written to directly.
  private let names: (temporary: PathBytes, target: PathBytes)?
  private let isClosed = Atomic<Bool>(false)

  /// - Parameter patience: seconds to wait for somebody to read from a named pipe.
  package init(path: String, patience: Int = FileBytes.writerPatience) throws(FileError) {
    self.path = path
    if let stream = FileBytes.openStream(path) {
      names = nil
      output = FileDescriptorOutput(descriptor: dup(stream))
    } else {
      var status = stat()
      let isThere = stat(path, &status) == 0
      if isThere, status.st_mode & S_IFMT != S_IFREG {
        if status.st_mode & S_IFMT == S_IFDIR { throw .isFolder(path) }
        let isPipe = status.st_mode & S_IFMT == S_IFIFO
        names = nil
        output = FileDescriptorOutput(
          descriptor: isPipe
            ? try FileBytes.openPipe(path, patience: patience) : open(path, O_WRONLY | O_CLOEXEC))
      } else {
        let target = PathBytes(path).followingLinks
        // A name of its own, since the target's may be as long as a name can be; by chance, since processes in two
        // containers may have the same number and write into the same folder.
        let number = String(UInt64.random(in: 0 ... .max), radix: 36)
        let temporary = target.folder.appending("/.dermafusion-\(number).partial".utf8)
        names = (temporary, target)
        output = FileDescriptorOutput(
          descriptor: temporary.withCString { open($0, O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0o666) })
        if isThere, output.descriptor >= 0 { _ = fchmod(output.descriptor, status.st_mode & 0o7777) }
      }
    }
    guard output.descriptor >= 0 else {
      isClosed.store(true, ordering: .relaxed)
      throw .unwritable(path, reason: FileBytes.reason)
    }
  }

  package func write(_ bytes: [UInt8]) throws(OutputError) {
    do throws(OutputError) {
      try output.write(bytes)
    } catch {
      throw .file(.unwritable(path, reason: error.reason))
    }
  }

  /// Gives the file its name.
  package func finish() throws(FileError) {
    isClosed.store(true, ordering: .relaxed)
    // Where a file lies on another machine, this may be where it turns out that it has no room.
    let isWritten = close(output.descriptor) == 0
    guard let (temporary, target) = names else {
      if !isWritten { throw .unwritable(path, reason: FileBytes.reason) }
      return
    }
    let isRenamed =
      isWritten && temporary.withCString { old in target.withCString { rename(old, $0) == 0 } }
    if isRenamed { return }
    let reason = FileBytes.reason
    _ = temporary.withCString { unlink($0) }
    throw .unwritable(path, reason: reason)
  }

  deinit {
    if isClosed.load(ordering: .relaxed) { return }
    close(output.descriptor)
    if let names { _ = names.temporary.withCString { unlink($0) } }
  }
}

extension FileBytes {
  /// Writes a file at once or not at all; see ``PartialFile``.
  ///
  /// - Parameter patience: seconds to wait for somebody to read from a named pipe.
  package static func write(
    _ bytes: [UInt8], path: String, patience: Int = writerPatience
  ) throws(FileError) {
    let file = try PartialFile(path: path, patience: patience)
    do throws(OutputError) {
      try file.write(bytes)
    } catch {
      if case .file(let failure) = error { throw failure }
      throw .unwritable(path, reason: error.reason)
    }
    try file.finish()
  }
}

/// A file of lines that is gone on with: what stands in it stays, but for a last line that was not finished.
package final class ContinuedFile: ByteOutput {
  private let path: String
  private let output: FileDescriptorOutput
  /// What the file held when it was opened.
  package let content: [UInt8]
  private let isClosed = Atomic<Bool>(false)

  /// Opens a file, or makes an empty one.
  ///
  /// - Parameter limit: bytes that it may hold.
  /// - Throws: ``FileError``, also where another process goes on with the same file.
  package init(path: String, limit: Int) throws(FileError) {
    self.path = path
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw status.st_mode & S_IFMT == S_IFDIR ? .isFolder(path) : .notFile(path)
    }
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .unwritable(path, reason: FileBytes.reason) }
    output = FileDescriptorOutput(descriptor: descriptor)
    do throws(FileError) {
      content = try Self.lockedContent(of: descriptor, path: path, limit: limit)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func lockedContent(
    of descriptor: Int32, path: String, limit: Int
  ) throws(FileError) -> [UInt8] {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw .unwritable(path, reason: "another process writes to it")
    }
    do throws(FileError) {
      return try FileBytes.read(descriptor: descriptor, name: path, limit: limit)
    } catch .empty {
      return []
    }
  }

  /// Cuts the file off.
  package func truncate(to count: Int) throws(FileError) {
    if ftruncate(output.descriptor, off_t(count)) != 0 { throw .unwritable(path, reason: FileBytes.reason) }
  }

  package func write(_ bytes: [UInt8]) throws(OutputError) {
    do throws(OutputError) {
      try output.write(bytes)
    } catch {
      throw .file(.unwritable(path, reason: error.reason))
    }
  }

  /// Closes the file; what was written stays whether or not this is called.
  package func finish() throws(FileError) {
    isClosed.store(true, ordering: .relaxed)
    if close(output.descriptor) != 0 { throw .unwritable(path, reason: FileBytes.reason) }
  }

  deinit {
    if !isClosed.load(ordering: .relaxed) { close(output.descriptor) }
  }
}
