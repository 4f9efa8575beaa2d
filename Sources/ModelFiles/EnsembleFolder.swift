import HashModule

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

  /// Reads the files of a folder.
  ///
  /// - Returns: nil when the folder's `config.json` lists no members: the folder of a single model.
  /// - Throws: `ModelFileError` when a file is missing or breaks a rule, or the members do not agree on classes and
  ///   preprocessing.
  package init?(directory path: String) throws(ModelFileError) {
    let (bytes, name) = try ModelFolder.configurationFile(in: path)
    try ModelChecksums(directory: path)?.check(bytes, of: ModelFolder.configurationName)
    try self.init(configuration: bytes, name: name) { (folder) throws(ModelFileError) in
      try ModelFolder(directory: FileContent.path(of: folder, in: path))
    }
  }

  /// Reads an ensemble from the bytes of its files.
  ///
  /// - Parameter members: the two files of each member by the name of its folder; others are not looked at.
  /// - Returns: nil when `configuration` lists no members.
  /// - Throws: `ModelFileError` as for a folder.
  package init?(
    configuration: [UInt8], members: [String: (configuration: [UInt8], weights: [UInt8])]
  ) throws(ModelFileError) {
    try self.init(configuration: configuration, name: ModelFolder.configurationName) {
      (folder) throws(ModelFileError) in
      guard let files = members[folder] else { throw .folderMissing(path: folder) }
      return try ModelFolder(configuration: files.configuration, weights: files.weights, folder: folder)
    }
  }

  private init?(
    configuration bytes: [UInt8], name: String, member: (String) throws(ModelFileError) -> ModelFolder
  ) throws(ModelFileError) {
    let configuration: EnsembleConfiguration
    do throws(ConfigurationError) {
      guard let parsed = try EnsembleConfiguration(parsing: bytes) else { return nil }
      configuration = parsed
    } catch {
      throw .configuration(file: name, error)
    }
    var members: [ModelFolder] = []
    for listed in configuration.members {
      let folder = try member(listed.folder)
      try (members.first ?? folder).configuration.requireMember(
        folder.configuration, file: folder.configurationPath)
      members.append(folder)
    }
    self.configuration = configuration
    configurationPath = name
    self.members = members
    digest = ModelDigest { [members] hash in
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
    let configuration = FileContent.path(of: configurationName, in: folder)
    guard let bytes = try? configurationFile(in: folder).bytes,
      let ensemble = try? EnsembleConfiguration(parsing: bytes)
    else { return paths(in: folder) }
    return [configuration, FileContent.path(of: ModelChecksums.fileName, in: folder)]
      + ensemble.members.flatMap { paths(in: FileContent.path(of: $0.folder, in: folder)) }
  }

  private static func paths(in folder: String) -> [String] {
    [configurationName, weightsName, ModelChecksums.fileName].map { FileContent.path(of: $0, in: folder) }
  }
}

extension ModelConfiguration {
  /// What the `config.json` in a model's folder says or, in that of an ensemble, its own and those of its members. Weights
  /// are not looked for.
  ///
  /// - Throws: `ModelFileError` when a file is missing or breaks a rule.
  package init(directory path: String) throws(ModelFileError) {
    let (bytes, name) = try ModelFolder.configurationFile(in: path)
    try ModelChecksums(directory: path)?.check(bytes, of: ModelFolder.configurationName)
    let ensemble: EnsembleConfiguration
    do throws(ConfigurationError) {
      guard let parsed = try EnsembleConfiguration(parsing: bytes) else {
        try self.init(parsing: bytes)
        return
      }
      ensemble = parsed
    } catch {
      throw .configuration(file: name, error)
    }
    var members: [ModelConfiguration] = []
    for listed in ensemble.members {
      let (bytes, name) = try ModelFolder.configurationFile(in: FileContent.path(of: listed.folder, in: path))
      let member = try ModelFolder.configuration(parsing: bytes, name: name)
      try (members.first ?? member).requireMember(member, file: name)
      members.append(member)
    }
    self.init(ensemble, members: members)
  }

  /// Checks that `member` can vote with this first one; errors name its file.
  fileprivate func requireMember(_ member: ModelConfiguration, file: String) throws(ModelFileError) {
    do throws(ConfigurationError) {
      try member.requireAgreement(with: self)
    } catch {
      throw .configuration(file: file, error)
    }
  }
}
