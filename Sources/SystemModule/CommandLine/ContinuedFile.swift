#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
