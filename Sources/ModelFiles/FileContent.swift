import SystemModule

/// What a file holds, mapped from disk or given as bytes, for as long as this object lives.
final class FileContent: Sendable {
  private enum Storage: Sendable {
    case mapping(MappedFile)
    case array([UInt8])
  }

  private let storage: Storage

  /// The bytes themselves.
  init(_ bytes: [UInt8]) {
    storage = .array(bytes)
  }

  /// Maps the file at a path for reading.
  init(mapping path: String) throws(ModelFileError) {
    do throws(MappingError) {
      storage = .mapping(try MappedFile(path: path))
    } catch {
      throw ModelFileError(error, path: path)
    }
  }

  /// Gives the memory of a mapped file back to the system.
  func releasePages() {
    if case .mapping(let file) = storage { file.releasePages() }
  }

  /// Calls the body with the whole content, valid until it returns.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch storage {
    case .mapping(let file):
      try file.withBytes(body)
    case .array(let bytes):
      try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
    }
  }

  /// Whether a path leads to a folder; nil when it leads to nothing.
  ///
  /// - Throws: `ModelFileError.cannotOpen` when the system does not say what lies there.
  static func isFolder(_ path: String) throws(ModelFileError) -> Bool? {
    do throws(MappingError) {
      return try MappedFile.isFolder(path)
    } catch {
      throw ModelFileError(error, path: path)
    }
  }
}

extension ModelFileError {
  fileprivate init(_ error: MappingError, path: String) {
    self =
      switch error {
      case .refused(let reason): .cannotOpen(path: path, reason: reason)
      case .isAFolder: .isAFolder(path: path)
      case .notARegularFile: .notARegularFile(path: path)
      case .empty: .emptyFile(path: path)
      }
  }
}
