import HashModule

/// A model's two files, read and checked: `config.json` and `model.safetensors`.
package struct ModelFolder: Sendable {
  /// The name of the configuration's file.
  package static let configurationName = "config.json"
  /// The most bytes of a `config.json` that are read; the shipped one has two thousand.
  static let configurationLimit = 4 << 20
  /// The name of the weights' file.
  package static let weightsName = "model.safetensors"

  /// What `config.json` says.
  package let configuration: ModelConfiguration
  /// The tensors of `model.safetensors`.
  package let weights: SafetensorsFile
  /// The path of `config.json`, as errors name it.
  package let configurationPath: String
  /// What tells the model from all others.
  package let digest: ModelDigest
  /// Whether the folder states its files' hashes, which loading then holds them against.
  package let hasChecksums: Bool
  /// Adds the files' bytes to a hash.
  let addBytes: @Sendable (inout SHA256) -> Void

  /// Reads the files of a folder, each once: what is hashed is what a network is made from. Where the folder has a
  /// `SHA256SUMS`, ``ModelDigest/check()`` holds the weights against it.
  ///
  /// - Throws: `ModelFileError` when the folder or a file is missing or breaks a rule.
  package init(directory path: String) throws(ModelFileError) {
    let (bytes, name) = try Self.configurationFile(in: path)
    let checksums = try ModelChecksums(directory: path)
    try checksums?.check(bytes, of: Self.configurationName)
    // Before the weights, which an ensemble has none of.
    let configuration = try Self.configuration(parsing: bytes, name: name)
    let weights = FileContent.path(of: Self.weightsName, in: path)
    guard try FileContent.isFolder(weights) != nil else {
      throw .fileMissing(name: Self.weightsName, folder: path)
    }
    try self.init(
      configuration, name: name, bytes: bytes, weights: SafetensorsFile(path: weights),
      checksums: checksums)
  }

  /// Reads a model from the bytes of its two files.
  ///
  /// - Throws: `ModelFileError` when a file breaks a rule.
  package init(configuration: [UInt8], weights: [UInt8]) throws(ModelFileError) {
    try self.init(configuration: configuration, weights: weights, folder: nil)
  }

  /// - Parameter folder: what errors call the folder that the files would lie in.
  init(configuration bytes: [UInt8], weights: [UInt8], folder: String?) throws(ModelFileError) {
    let names = [Self.configurationName, Self.weightsName].map { name in
      folder.map { FileContent.path(of: name, in: $0) } ?? name
    }
    try self.init(
      Self.configuration(parsing: bytes, name: names[0]), name: names[0], bytes: bytes,
      weights: SafetensorsFile(bytes: weights, name: names[1]), checksums: nil)
  }

  private init(
    _ configuration: ModelConfiguration, name: String, bytes: [UInt8], weights: SafetensorsFile,
    checksums: ModelChecksums?
  ) throws(ModelFileError) {
    self.configuration = configuration
    self.weights = weights
    configurationPath = name
    hasChecksums = checksums != nil
    addBytes = { hash in
      hash.update(bytes)
      weights.file.withBytes { hash.update($0) }
    }
    let expected = try checksums?.digest(of: Self.weightsName)
    digest = ModelDigest(
      addBytes,
      checksum: expected.map { expected in
        ModelDigest.Checksum(path: weights.name, expected: expected, identity: checksums?.identity) { hash in
          weights.file.withBytes { hash.update($0) }
        }
      })
  }
}

extension ModelFolder {
  /// The bytes of the `config.json` in a folder, and its path.
  static func configurationFile(
    in folder: String
  ) throws(ModelFileError) -> (bytes: [UInt8], name: String) {
    guard let isFolder = try FileContent.isFolder(folder) else { throw .folderMissing(path: folder) }
    guard isFolder else { throw .notAFolder(path: folder) }
    let name = FileContent.path(of: configurationName, in: folder)
    guard try FileContent.isFolder(name) != nil else {
      throw .fileMissing(name: configurationName, folder: folder)
    }
    let content = try FileContent(path: name, limit: configurationLimit)
    return (content.withBytes { [UInt8]($0) }, name)
  }

  /// What the bytes of a `config.json` say of a single model.
  static func configuration(parsing bytes: [UInt8], name: String) throws(ModelFileError) -> ModelConfiguration
  {
    guard !bytes.isEmpty else { throw .emptyFile(path: name) }
    do throws(ConfigurationError) {
      return try ModelConfiguration(parsing: bytes)
    } catch {
      throw .configuration(file: name, error)
    }
  }
}
