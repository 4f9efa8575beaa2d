import SystemModule

/// A model's two files, read and checked: `config.json` and `model.safetensors`. timm's model may lie in shards instead, which
/// `model.safetensors.index.json` lists.
package struct ModelFolder: Sendable {
  package static let weightsName = "model.safetensors"
  static let indexName = "model.safetensors.index.json"

  package private(set) var configuration: ModelConfiguration
  package let weights: SafetensorsFile
  package let configurationPath: String
  package let digest: ModelDigest
  /// True if the folder states its files' hashes, which loading then holds them against.
  package let hasChecksums: Bool
  /// True if the weights are read a last time by the network that is made of them.
  package private(set) var isReadOnce = false
  let addBytes: @Sendable (inout SHA256) -> Void

  /// Reads the files of a folder, each once: what is hashed is what a network is made from. Where the folder has a
  /// `SHA256SUMS`, ``ModelDigest/check()`` holds the weights against it.
  ///
  /// - Parameter architectures: The names of the networks that can be run; nil: any.
  package init(directory path: String, architectures: [String]? = nil) throws(DermaFusionError) {
    try self.init(ConfigurationFile(in: path), architectures: architectures)
  }

  init(_ file: ConfigurationFile, architectures: [String]?) throws(DermaFusionError) {
    let path = file.folder
    // Before the weights, which an ensemble has none of.
    let configuration = try file.model(architectures: architectures)
    let weights = ModelFiles.path(of: Self.weightsName, in: path)
    if try ModelFiles.isFolder(weights) != nil {
      try self.init(
        configuration, file,
        weights: SafetensorsFile(path: weights, hasCounters: configuration.isTimms))
      return
    }
    guard configuration.isTimms, let shards = try Self.shardNames(in: path) else {
      throw ModelPath.withoutWeights(path)
    }
    var files: [SafetensorsFile] = []
    var limit = SafetensorsFile.byteLimit
    for shard in shards {
      let file = try SafetensorsFile(
        path: ModelFiles.path(of: shard, in: path), hasCounters: true, limit: limit)
      limit -= file.byteCount
      files.append(file)
    }
    let index = ModelFiles.path(of: Self.indexName, in: path)
    try self.init(
      configuration, file, weights: SafetensorsFile(shards: files, name: index),
      files: shards.map { ($0, ModelFiles.path(of: $0, in: path)) })
  }

  /// The names of the shards that a folder's index lists, in order; nil where there is no index. Which tensors each has its own
  /// header says: one that is missing is missing from the network.
  private static func shardNames(in folder: String) throws(DermaFusionError) -> [String]? {
    let path = ModelFiles.path(of: indexName, in: folder)
    guard try ModelFiles.isFolder(path) != nil else { return nil }
    let bytes = try ModelFiles.read(path, limit: ConfigurationFile.byteLimit).copied
    return try DermaFusionError.naming(path) { () throws(DermaFusionError) in
      var index = try ConfigurationObject(parsing: bytes)
      // Bytes: to a file system two forms of one letter are two names, to a String they are equal.
      var names: [[UInt8]: String] = [:]
      for name in try index.textsByKey("weight_map").values {
        guard !name.contains("/"), name.hasSuffix(".safetensors") else {
          throw .invalidModel(
            "\"weight_map\" has the file \(quoted(name)), and must have the plain names of .safetensors files"
          )
        }
        names[Array(name.utf8)] = name
      }
      guard !names.isEmpty else { throw .invalidModel("\"weight_map\" lists no file") }
      return names.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { $0.value }
    }
  }

  /// Reads a model from the bytes of its two files; see ``init(directory:architectures:)``.
  package init(
    configuration: [UInt8], weights: [UInt8], architectures: [String]? = nil
  ) throws(DermaFusionError) {
    try self.init(
      configuration: configuration, weights: weights, folder: nil, architectures: architectures)
  }

  /// - Parameter folder: what errors call the folder that the files would lie in.
  init(
    configuration bytes: [UInt8], weights: [UInt8], folder: String?, architectures: [String]?
  ) throws(DermaFusionError) {
    let names = [ConfigurationFile.name, Self.weightsName].map { name in
      folder.map { ModelFiles.path(of: name, in: $0) } ?? name
    }
    let file = try ConfigurationFile(bytes, path: names[0])
    let configuration = try file.model(architectures: architectures)
    try self.init(
      configuration, file,
      weights: SafetensorsFile(bytes: weights, name: names[1], hasCounters: configuration.isTimms))
  }

  /// - Parameter files: the names and paths of the shards; nil where the weights are one file.
  private init(
    _ configuration: ModelConfiguration, _ file: ConfigurationFile, weights: SafetensorsFile,
    files: [(name: String, path: String)]? = nil
  ) throws(DermaFusionError) {
    self.configuration = configuration
    // transformers keeps a network of timm as a module of its own.
    let network = configuration.isTimms ? weights.withoutPrefix("timm_model.") : nil
    self.weights = network ?? weights
    configurationPath = file.path
    addBytes = { [bytes = file.bytes] hash in
      hash.update(bytes)
      for file in weights.files { file.forEachPiece { hash.update($0) } }
    }
    hasChecksums = file.checksums != nil
    let stated = try file.checksums.map { (checksums) throws(DermaFusionError) in
      ModelDigest.Stated(
        configuration: file.bytes,
        files: try zip(weights.files, files ?? [(Self.weightsName, weights.name)]).map {
          (pages, file) throws(DermaFusionError) in
          ModelDigest.Stated.File(
            path: file.path, expected: try checksums.digest(of: file.name), pages: pages)
        }, identity: checksums.identity)
    }
    digest = ModelDigest(addBytes, stated: stated)
  }
}

extension ModelFolder {
  /// The model as it is, or to be computed in another precision than its `config.json` says. One in 8 bits has no other form.
  package func computed(in precision: Precision?) throws(DermaFusionError) -> ModelFolder {
    guard let precision, precision != configuration.precision else { return self }
    guard configuration.precision != .int8, precision != .int8 else {
      throw .unusablePrecision(
        file: configurationPath,
        rule:
          "\"precision\" is \"\(configuration.precision.rawValue)\", and such a model cannot be computed in "
          + "\(precision.rawValue)")
    }
    var folder = self
    folder.configuration.precision = precision
    return folder
  }

  /// The model for one network and no other reader, which gives the memory of each tensor back once it is packed. Where the weights
  /// are hashed twice they stay. Those of a model in 8 bits stay too: the levels between two layers belong to both, and each
  /// reads them.
  package var readOnce: ModelFolder {
    var folder = self
    folder.isReadOnce = !digest.needsSecondHash && configuration.precision != .int8
    return folder
  }
}

/// The files of a model's folder: of a single model, or of an ensemble and its members.
package enum StoredModel: Sendable {
  case single(ModelFolder)
  case ensemble(EnsembleFolder)

  /// Reads the files of a folder; see ``ModelFolder/init(directory:architectures:)``.
  package init(directory path: String, architectures: [String]? = nil) throws(DermaFusionError) {
    let file = try ConfigurationFile(in: path)
    guard let configuration = try file.ensemble() else {
      self = .single(try ModelFolder(file, architectures: architectures))
      return
    }
    self = .ensemble(
      try EnsembleFolder(configuration, file) { (folder) throws(DermaFusionError) in
        try ModelFolder(
          directory: ModelFiles.path(of: folder, in: file.folder), architectures: architectures)
      })
  }
}

/// An ensemble's files, read and checked: its `config.json` and the two files of each member.
package struct EnsembleFolder: Sendable {
  package let configuration: EnsembleConfiguration
  package let configurationPath: String
  package let members: [ModelFolder]
  package let digest: ModelDigest

  /// Reads an ensemble from the bytes of its files: of each member by the name of its folder.
  package init(
    configuration: [UInt8], members: [String: (configuration: [UInt8], weights: [UInt8])],
    architectures: [String]? = nil
  ) throws(DermaFusionError) {
    let file = try ConfigurationFile(configuration, path: ConfigurationFile.name)
    guard let ensemble = try file.ensemble() else {
      throw DermaFusionError.missingKey("members").named(file.path)
    }
    try self.init(ensemble, file) { (folder) throws(DermaFusionError) in
      guard let files = members[folder] else { throw ModelPath.missing(folder) }
      return try ModelFolder(
        configuration: files.configuration, weights: files.weights, folder: folder,
        architectures: architectures)
    }
  }

  fileprivate init(
    _ configuration: EnsembleConfiguration, _ file: ConfigurationFile,
    member: (String) throws(DermaFusionError) -> ModelFolder
  ) throws(DermaFusionError) {
    var members: [ModelFolder] = []
    for listed in configuration.members {
      let folder = try member(listed.folder)
      try (members.first ?? folder).configuration.requireMember(
        folder.configuration, file: folder.configurationPath)
      members.append(folder)
    }
    self.configuration = configuration
    configurationPath = file.path
    self.members = members
    digest = ModelDigest { [bytes = file.bytes, members] hash in
      hash.update(bytes)
      for member in members {
        member.addBytes(&hash)
        // Nobody asks for it, but until it is known the member keeps its files' bytes in memory.
        _ = member.digest.sha256
      }
    }
  }
}

extension ModelFolder {
  /// The folder that a model's path means; the path itself where it is not a model's.
  package static func folder(_ path: String) -> String { (try? ModelPath.folder(path)) ?? path }

  /// The files that a model's folder has or, where it is an ensemble's, that its members' folders have too; there or not.
  package static func filePaths(in folder: String) -> [String] {
    let folder = Self.folder(folder)
    guard let ensemble = try? ConfigurationFile(in: folder).ensemble() else { return paths(in: folder) }
    return [ConfigurationFile.name, ModelChecksums.fileName].map { ModelFiles.path(of: $0, in: folder) }
      + ensemble.members.flatMap { paths(in: ModelFiles.path(of: $0.folder, in: folder)) }
  }

  private static func paths(in folder: String) -> [String] {
    let shards = (try? shardNames(in: folder)) ?? []
    return
      ([ConfigurationFile.name, weightsName, ModelChecksums.fileName]
      + (shards.isEmpty ? [] : [indexName] + shards))
      .map { ModelFiles.path(of: $0, in: folder) }
  }
}

extension ModelConfiguration {
  /// The contents of the `config.json` in a model's folder or, in that of an ensemble, of its own and those of its members.
  /// Weights are not looked for.
  package init(directory path: String) throws(DermaFusionError) {
    let file = try ConfigurationFile(in: path)
    guard let ensemble = try file.ensemble() else {
      self = try file.model()
      return
    }
    var members: [ModelConfiguration] = []
    for listed in ensemble.members {
      let inner = try ConfigurationFile(in: ModelFiles.path(of: listed.folder, in: file.folder))
      let member = try inner.model()
      try (members.first ?? member).requireMember(member, file: inner.path)
      members.append(member)
    }
    self.init(ensemble, members: members)
  }

  /// Checks that `member` can vote with this first one; errors name its file.
  fileprivate func requireMember(_ member: ModelConfiguration, file: String) throws(DermaFusionError) {
    try DermaFusionError.naming(file) { () throws(DermaFusionError) in
      try member.requireAgreement(with: self)
    }
  }
}

/// The `config.json` of a model or an ensemble: read, held against the folder's `SHA256SUMS` and parsed, each once.
package struct ConfigurationFile {
  package static let name = "config.json"

  /// The file's path or name, for errors.
  let path: String
  /// The folder that it was read from: of the Hub's cache the snapshot.
  let folder: String
  let bytes: [UInt8]
  /// The hashes that the folder states of its files; nil where it states none.
  let checksums: ModelChecksums?
  private let root: ConfigurationObject

  /// The most bytes of a `config.json` that are read; the shipped one has two thousand.
  package static let byteLimit = 4 << 20

  init(in folder: String) throws(DermaFusionError) {
    let folder = try ModelPath.folder(folder)
    let path = ModelFiles.path(of: Self.name, in: folder)
    let bytes = try ModelFiles.read(path, limit: Self.byteLimit).copied
    let checksums = try ModelChecksums(directory: folder)
    try checksums?.check(bytes, of: Self.name)
    try self.init(bytes, path: path, folder: folder, checksums: checksums)
  }

  /// - Parameter folder: that it lies in; empty for bytes that come without one.
  init(
    _ bytes: [UInt8], path: String, folder: String = "", checksums: ModelChecksums? = nil
  ) throws(DermaFusionError) {
    guard !bytes.isEmpty else { throw DermaFusionError.empty(path).inModel }
    self.path = path
    self.folder = folder
    self.bytes = bytes
    self.checksums = checksums
    root = try DermaFusionError.naming(path) { () throws(DermaFusionError) in
      try ConfigurationObject(parsing: bytes)
    }
  }

  /// The ensemble that the file describes; nil where it is that of a single model.
  func ensemble() throws(DermaFusionError) -> EnsembleConfiguration? {
    try DermaFusionError.naming(path) { () throws(DermaFusionError) in try EnsembleConfiguration(root) }
  }

  /// The single model that the file describes. Whether its network can be run is the first of all rules, because the others
  /// are those of a network that is known.
  func model(architectures: [String]? = nil) throws(DermaFusionError) -> ModelConfiguration {
    try DermaFusionError.naming(path) { () throws(DermaFusionError) in
      if let architectures { try root.requireArchitecture(of: architectures) }
      return try ModelConfiguration(root)
    }
  }
}
