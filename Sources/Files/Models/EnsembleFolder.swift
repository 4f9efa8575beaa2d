import SystemModule

/// The files of a model's folder: of a single model, or of an ensemble and its members.
package enum StoredModel: Sendable {
  case single(ModelFolder)
  case ensemble(EnsembleFolder)

  /// Reads the files of a folder.
  ///
  /// - Throws: `DermaFusionError` when a file is missing or breaks a rule, or an ensemble's members do not agree on classes and
  ///   preprocessing.
  package init(directory path: String) throws(DermaFusionError) {
    let file = try ConfigurationFile(in: path)
    guard let configuration = try file.ensemble() else {
      self = .single(try ModelFolder(file, directory: path))
      return
    }
    self = .ensemble(
      try EnsembleFolder(configuration, file) { (folder) throws(DermaFusionError) in
        try ModelFolder(directory: FileContent.path(of: folder, in: path))
      })
  }
}

/// An ensemble's files, read and checked: its `config.json` and the two files of each member.
package struct EnsembleFolder: Sendable {
  /// What `config.json` says.
  package let configuration: EnsembleConfiguration
  /// The path of `config.json`, as errors name it.
  package let configurationPath: String
  /// The members' files, in the order of the configuration.
  package let members: [ModelFolder]
  /// What tells the ensemble from all others.
  package let digest: ModelDigest

  /// Reads an ensemble from the bytes of its files.
  ///
  /// - Parameter members: the two files of each member by the name of its folder; others are not looked at.
  /// - Throws: `DermaFusionError` as for a folder, and where `configuration` lists no members.
  package init(
    configuration: [UInt8], members: [String: (configuration: [UInt8], weights: [UInt8])]
  ) throws(DermaFusionError) {
    let file = try ConfigurationFile(configuration, path: ConfigurationFile.name)
    guard let ensemble = try file.ensemble() else {
      throw DermaFusionError.missingKey("members").named(file.path)
    }
    try self.init(ensemble, file) { (folder) throws(DermaFusionError) in
      guard let files = members[folder] else { throw .folderMissing(path: folder) }
      return try ModelFolder(configuration: files.configuration, weights: files.weights, folder: folder)
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
  /// The files that a model's folder has or, where it is an ensemble's, that its members' folders have too; there or not.
  package static func filePaths(in folder: String) -> [String] {
    guard let ensemble = try? ConfigurationFile(in: folder).ensemble() else { return paths(in: folder) }
    return [ConfigurationFile.name, ModelChecksums.fileName].map { FileContent.path(of: $0, in: folder) }
      + ensemble.members.flatMap { paths(in: FileContent.path(of: $0.folder, in: folder)) }
  }

  private static func paths(in folder: String) -> [String] {
    [ConfigurationFile.name, weightsName, ModelChecksums.fileName].map {
      FileContent.path(of: $0, in: folder)
    }
  }
}

extension ModelConfiguration {
  /// What the `config.json` in a model's folder says or, in that of an ensemble, its own and those of its members. Weights
  /// are not looked for.
  ///
  /// - Throws: `DermaFusionError` when a file is missing or breaks a rule.
  package init(directory path: String) throws(DermaFusionError) {
    let file = try ConfigurationFile(in: path)
    guard let ensemble = try file.ensemble() else {
      self = try file.model()
      return
    }
    var members: [ModelConfiguration] = []
    for listed in ensemble.members {
      let file = try ConfigurationFile(in: FileContent.path(of: listed.folder, in: path))
      let member = try file.model()
      try (members.first ?? member).requireMember(member, file: file.path)
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
