import Dispatch
import Synchronization

/// A model's two files, read and checked: `config.json` and `model.safetensors`.
public struct ModelFolder: Sendable {
  /// The name of the configuration's file.
  public static let configurationName = "config.json"
  /// The name of the weights' file.
  public static let weightsName = "model.safetensors"

  /// What `config.json` says.
  public let configuration: ModelConfiguration
  /// The tensors of `model.safetensors`.
  public let weights: SafetensorsFile
  private let identity: Identity

  /// Reads the files of a folder. The weights are mapped into memory; their data are not touched yet.
  ///
  /// - Throws: `ModelFileError` when the folder or a file is missing or breaks a rule.
  public init(directory path: String) throws(ModelFileError) {
    guard let isFolder = FileBytes.isFolder(path) else { throw .folderMissing(path: path) }
    guard isFolder else { throw .notAFolder(path: path) }
    let prefix = path.hasSuffix("/") ? path : path + "/"
    for name in [Self.configurationName, Self.weightsName] where FileBytes.isFolder(prefix + name) == nil {
      throw .fileMissing(name: name, folder: path)
    }
    let configuration = try FileBytes(mapping: prefix + Self.configurationName)
    let weights = try FileBytes(mapping: prefix + Self.weightsName)
    try self.init(
      configuration: configuration.withBytes { [UInt8]($0) },
      configurationName: prefix + Self.configurationName,
      weights: SafetensorsFile(weights, name: prefix + Self.weightsName))
  }

  /// Reads a model from the bytes of its two files.
  ///
  /// - Throws: `ModelFileError` when a file breaks a rule.
  public init(configuration: [UInt8], weights: [UInt8]) throws(ModelFileError) {
    try self.init(
      configuration: configuration, configurationName: Self.configurationName,
      weights: SafetensorsFile(bytes: weights, name: Self.weightsName))
  }

  private init(
    configuration: [UInt8], configurationName: String, weights: SafetensorsFile
  ) throws(ModelFileError) {
    guard !configuration.isEmpty else { throw .emptyFile(path: configurationName) }
    do throws(ConfigurationError) {
      self.configuration = try ModelConfiguration(parsing: configuration)
    } catch {
      throw .configuration(file: configurationName, error)
    }
    self.weights = weights
    identity = Identity(configuration: configuration, weights: weights.file)
  }

  /// The model's identity: the SHA-256 of `config.json`'s bytes followed by `model.safetensors`'s, in lowercase
  /// hexadecimal (`cat config.json model.safetensors | sha256sum`). Computed when first asked for.
  public var sha256: String {
    identity.digest
  }

  /// Starts computing `sha256` on another thread, so that asking for it later does not wait for all of it.
  public func prepareIdentity() {
    DispatchQueue.global(qos: .userInitiated).async { [identity] in _ = identity.digest }
  }

  /// Gives the memory that holds mapped weights back to the system, once they have been read: a packed copy is what a
  /// network computes with.
  public func releasePages() {
    weights.file.releasePages()
  }

  private final class Identity: Sendable {
    private let configuration: [UInt8]
    private let weights: FileBytes
    private let computed = Mutex<String?>(nil)

    init(configuration: [UInt8], weights: FileBytes) {
      self.configuration = configuration
      self.weights = weights
    }

    /// Who asks while another thread computes waits for it.
    var digest: String {
      computed.withLock { computed in
        if let computed { return computed }
        var hash = SHA256()
        hash.update(configuration)
        weights.withBytes { hash.update($0) }
        weights.releasePages()
        let digest = hash.finalizedHexDigest()
        computed = digest
        return digest
      }
    }
  }
}
