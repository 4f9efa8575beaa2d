import SystemModule

/// A model's two files, read and checked: `config.json` and `model.safetensors`.
package struct ModelFolder: Sendable {
  /// The name of the weights' file.
  package static let weightsName = "model.safetensors"

  /// What `config.json` says.
  package private(set) var configuration: ModelConfiguration
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
  /// - Throws: `DermaFusionError` when the folder or a file is missing or breaks a rule.
  package init(directory path: String) throws(DermaFusionError) {
    try self.init(ConfigurationFile(in: path), directory: path)
  }

  init(_ file: ConfigurationFile, directory path: String) throws(DermaFusionError) {
    // Before the weights, which an ensemble has none of.
    let configuration = try file.model()
    let weights = FileContent.path(of: Self.weightsName, in: path)
    guard try FileContent.isFolder(weights) != nil else {
      throw .fileMissing(name: Self.weightsName, folder: path)
    }
    try self.init(configuration, file, weights: SafetensorsFile(path: weights))
  }

  /// Reads a model from the bytes of its two files.
  ///
  /// - Throws: `DermaFusionError` when a file breaks a rule.
  package init(configuration: [UInt8], weights: [UInt8]) throws(DermaFusionError) {
    try self.init(configuration: configuration, weights: weights, folder: nil)
  }

  /// - Parameter folder: what errors call the folder that the files would lie in.
  init(configuration bytes: [UInt8], weights: [UInt8], folder: String?) throws(DermaFusionError) {
    let names = [ConfigurationFile.name, Self.weightsName].map { name in
      folder.map { FileContent.path(of: name, in: $0) } ?? name
    }
    let file = try ConfigurationFile(bytes, path: names[0])
    try self.init(file.model(), file, weights: SafetensorsFile(bytes: weights, name: names[1]))
  }

  private init(
    _ configuration: ModelConfiguration, _ file: ConfigurationFile, weights: SafetensorsFile
  ) throws(DermaFusionError) {
    self.configuration = configuration
    self.weights = weights
    configurationPath = file.path
    hasChecksums = file.checksums != nil
    addBytes = { [bytes = file.bytes] hash in
      hash.update(bytes)
      weights.file.withBytes { hash.update($0) }
    }
    let expected = try file.checksums?.digest(of: Self.weightsName)
    digest = ModelDigest(
      addBytes,
      checksum: expected.map { expected in
        let identity = file.checksums?.identity
        return ModelDigest.Checksum(path: weights.name, expected: expected, identity: identity) { hash in
          weights.file.withBytes { hash.update($0) }
        }
      })
  }
}

extension ModelFolder {
  /// The same model, to be computed in another precision than its `config.json` says.
  ///
  /// - Throws: `DermaFusionError` for a model in 8 bits, whose weights have no other form.
  package func computed(in precision: ModelConfiguration.Precision) throws(DermaFusionError) -> ModelFolder {
    guard precision != configuration.precision else { return self }
    guard configuration.precision != .int8, precision != .int8 else {
      throw .unusablePrecision(
        file: configurationPath,
        rule:
          "\"precision\" is \"\(configuration.precision.rawValue)\", and such a model cannot be computed in "
          + precision.rawValue)
    }
    var folder = self
    folder.configuration.precision = precision
    return folder
  }
}
