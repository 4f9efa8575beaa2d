import SystemModule

/// What a file holds, read once or given as bytes, for as long as this object lives.
final class FileContent: Sendable {
  private enum Storage: Sendable {
    case copy(FileCopy)
    case array([UInt8])
  }

  private let storage: Storage

  /// The bytes themselves.
  init(_ bytes: [UInt8]) {
    storage = .array(bytes)
  }

  /// Reads the file at a path.
  ///
  /// - Parameter limit: the most bytes that it may have; looked at before any is read.
  init(path: String, limit: Int) throws(DermaFusionError) {
    do throws(DermaFusionError) {
      storage = .copy(try FileCopy(path: path, limit: limit))
    } catch {
      throw error.inModel
    }
  }

  /// Calls the body with the whole content, valid until it returns.
  func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch storage {
    case .copy(let file): try file.withBytes(body)
    case .array(let bytes): try body(bytes.span)
    }
  }

  /// The whole content, copied.
  var array: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }

  /// The path of a file or folder in a folder.
  static func path(of name: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// Whether a path leads to a folder; nil when it leads to nothing.
  ///
  /// - Throws: `DermaFusionError.file` when the system does not say what lies there.
  static func isFolder(_ path: String) throws(DermaFusionError) -> Bool? {
    do throws(DermaFusionError) {
      return try FileCopy.isFolder(path)
    } catch {
      throw error.inModel
    }
  }
}
