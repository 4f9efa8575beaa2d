import SystemModule

/// The `config.json` of a model or an ensemble: read, held against the folder's `SHA256SUMS` and parsed, each once.
package struct ConfigurationFile {
  /// What the file is called in its folder.
  package static let name = "config.json"

  /// The file's path or name, for errors.
  let path: String
  let bytes: [UInt8]
  /// What the folder states of its files; nil where it states nothing.
  let checksums: ModelChecksums?
  private let root: ConfigurationObject

  /// The most bytes of a `config.json` that are read; the shipped one has two thousand.
  static let byteLimit = 4 << 20

  /// Reads the file of a folder.
  init(in folder: String) throws(DermaFusionError) {
    guard let isFolder = try FileContent.isFolder(folder) else { throw .folderMissing(path: folder) }
    guard isFolder else { throw .notAFolder(path: folder) }
    let path = FileContent.path(of: Self.name, in: folder)
    guard try FileContent.isFolder(path) != nil else { throw .fileMissing(name: Self.name, folder: folder) }
    let bytes = try FileContent(path: path, limit: Self.byteLimit).array
    let checksums = try ModelChecksums(directory: folder)
    try checksums?.check(bytes, of: Self.name)
    try self.init(bytes, path: path, checksums: checksums)
  }

  init(_ bytes: [UInt8], path: String, checksums: ModelChecksums? = nil) throws(DermaFusionError) {
    guard !bytes.isEmpty else { throw DermaFusionError.empty(path).inModel }
    self.path = path
    self.bytes = bytes
    self.checksums = checksums
    root = try DermaFusionError.naming(path) { () throws(DermaFusionError) in
      try ConfigurationObject(parsing: bytes)
    }
  }

  /// What the file says of an ensemble; nil where it is that of a single model.
  func ensemble() throws(DermaFusionError) -> EnsembleConfiguration? {
    try DermaFusionError.naming(path) { () throws(DermaFusionError) in try EnsembleConfiguration(root) }
  }

  /// What the file says of a single model.
  func model() throws(DermaFusionError) -> ModelConfiguration {
    try DermaFusionError.naming(path) { () throws(DermaFusionError) in try ModelConfiguration(root) }
  }
}
