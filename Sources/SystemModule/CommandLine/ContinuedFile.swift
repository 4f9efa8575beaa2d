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
  /// - Throws: ``DermaFusionError``, also where another process goes on with the same file.
  package init(path: String, limit: Int) throws(DermaFusionError) {
    self.path = path
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw status.st_mode & S_IFMT == S_IFDIR ? .isFolder(path) : .notFile(path)
    }
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .unwritable(path, reason: FileBytes.reason) }
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
      return try FileBytes.read(descriptor: descriptor, name: path, limit: limit)
    } catch {
      if error.code == .emptyFile { return [] }
      throw error
    }
  }

  /// Cuts the file off.
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
