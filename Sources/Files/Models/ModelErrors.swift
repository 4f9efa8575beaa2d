import SystemModule

/// Why a model's files cannot be used.
extension DermaFusionError {
  /// The model's folder does not exist.
  package static func folderMissing(path: String) -> Self {
    modelNotFound("\(path): there is no such model folder")
  }
  /// The path given for the model's folder is a file.
  package static func notAFolder(path: String) -> Self {
    modelNotFound("\(path): a model is a folder, and this is a file")
  }
  /// The model's folder lacks a file.
  package static func fileMissing(name: String, folder: String) -> Self {
    modelNotFound("\(folder): the model folder lacks \(name)")
  }
  /// The file's SHA-256 is not the one that the folder's `SHA256SUMS` states.
  package static func checksumMismatch(path: String, expected: String, found: String) -> Self {
    invalidModel(
      "\(path): the SHA-256 is \(found), and the folder's \(ModelChecksums.fileName) states \(expected): the file is "
        + "damaged, or was replaced without its checksum")
  }
  /// The folder's `SHA256SUMS` has no line for a file of the model.
  package static func checksumMissing(path: String, name: String) -> Self {
    invalidModel("\(path): there is no line for \(name)")
  }
  /// A line of the folder's `SHA256SUMS` is not a SHA-256 and a name; lines count from 1.
  package static func malformedChecksum(path: String, line: Int) -> Self {
    invalidModel(
      "\(path): line \(line) must be a SHA-256 of 64 hexadecimal digits, two spaces and a file's name")
  }
  /// The network needs a tensor that the file does not have.
  package static func missingTensor(file: String, name: String) -> Self {
    invalidModel("\(file): the tensor \(quoted(name)) is missing")
  }
  /// The tensor has another shape than the network needs.
  package static func misshapenTensor(file: String, name: String, expected: [Int], found: [Int]) -> Self {
    invalidModel(
      "\(file): the tensor \(quoted(name)) has shape \(inWords(found)), and the network needs \(expected)")
  }
  /// The tensor's elements are of a type that its layer cannot use.
  package static func wrongDataType(file: String, name: String, found: String, expected: String) -> Self {
    invalidModel(
      "\(file): the tensor \(quoted(name)) has the data type \(quoted(found)), and the network needs \(expected)"
    )
  }
  /// A tensor of a quantised layer breaks a rule, given in words.
  package static func unusableQuantization(file: String, name: String, rule: String) -> Self {
    invalidModel("\(file): the tensor \(quoted(name)) \(rule)")
  }
  /// The network cannot be computed in the precision that the configuration or the caller asks for; a rule in words.
  package static func unusablePrecision(file: String, rule: String) -> Self {
    Self(
      .invalidModel, message: "\(file): \(rule)", remedy: "Leave the precision to the model's config.json.")
  }
  /// The tensor has a NaN or an infinity; the index counts elements in the order stored, the
  /// value is "NaN", "infinity" or "-infinity".
  package static func nonFiniteValue(file: String, name: String, index: Int, value: String) -> Self {
    invalidModel(
      "\(file): the tensor \(quoted(name)) has the value \(value) at index \(index); every value must be finite"
    )
  }
  /// The four tensors below this name make a batch norm that multiplies a channel by, or adds to it, what is no finite
  /// number: most likely the variance is negative.
  package static func unusableBatchNorm(file: String, name: String, channel: Int, variance: Float) -> Self {
    invalidModel(
      "\(file): the batch norm \(quoted(name)) makes no finite numbers of channel \(channel), whose variance "
        + "(\(quoted("\(name).running_var"))) is \(variance)")
  }
  /// The file has tensors that the network does not use.
  package static func surplusTensors(file: String, names: [String]) -> Self {
    invalidModel(
      "\(file): the network has no place for "
        + (names.count == 1
          ? "the tensor \(quoted(names[0]))" : "\(names.count) tensors: \(list(names))"))
  }

  /// A file of the model breaks a rule.
  package static func invalidModel(_ message: String) -> Self {
    Self(
      .invalidModel, message: message, remedy: "Export the model again, or copy its folder again in full.")
  }

  static func modelNotFound(_ message: String) -> Self {
    Self(
      .modelNotFound, message: message, remedy: "Name a folder that holds config.json and model.safetensors.")
  }

  /// The same failure, of a file that belongs to a model.
  package var inModel: Self { code == .fileNotFound ? .modelNotFound(message) : .invalidModel(message) }

  private static func list(_ names: [String]) -> String {
    names.prefix(3).map(quoted).joined(separator: ", ") + (names.count > 3 ? ", ..." : "")
  }
}

/// The rules of a model's `config.json`. Keys are given with the keys around them: `preprocessing.color_constancy.p`.
extension DermaFusionError {
  /// A required key is missing.
  package static func missingKey(_ key: String) -> Self {
    invalidModel("the key \(quoted(key)) is missing")
  }
  /// A key that the configuration does not know.
  package static func unknownKey(_ key: String) -> Self {
    invalidModel("the key \(quoted(key)) is unknown")
  }
  /// The key's value is of another type than required; both in words.
  package static func wrongType(key: String, expected: String, found: String) -> Self {
    invalidModel("\(quoted(key)) must be \(expected), and is \(found)")
  }
  /// The key's number breaks its rule.
  package static func outOfRange(key: String, value: String, rule: String) -> Self {
    invalidModel("\(quoted(key)) is \(shortened(value, to: 40)), and must be \(rule)")
  }
  /// The key's string is not one of those allowed.
  package static func unknownValue(key: String, value: String, allowed: [String]) -> Self {
    invalidModel("\(quoted(key)) is \(quoted(value)), and must be one of \(allowed.joined(separator: ", "))")
  }
  /// The key's string is empty, too long, or has characters that are unfit for names.
  package static func malformedText(key: String) -> Self {
    invalidModel(
      "\(quoted(key)) must be a text of 1 to \(ConfigurationObject.textLimit) characters, without control characters, "
        + "marks of the direction of writing and code points that are no characters")
  }
  /// The key's array has another number of elements than required.
  package static func wrongCount(key: String, expected: String, found: Int) -> Self {
    invalidModel("\(quoted(key)) must have \(expected), and has \(found)")
  }
  /// Two classes have one name.
  package static func duplicateClass(_ name: String) -> Self {
    invalidModel("\"classes\" has \(quoted(name)) twice")
  }
  /// One class says how malignant it is, and another does not.
  package static func partialMalignancy(present: String, missing: String) -> Self {
    invalidModel(
      "\"classes\" tells the malignancy of \(quoted(present)) and not that of \(quoted(missing)); it must tell all or none"
    )
  }
  /// The configuration is an ensemble's, where that of a single model is required.
  package static var listsMembers: DermaFusionError {
    invalidModel(
      "the key \"members\" makes this an ensemble, and a single model is required here, such as one of its members"
    )
  }
  /// The key's string must name a folder directly below the ensemble's.
  package static func notAPlainName(key: String, value: String) -> Self {
    invalidModel(
      "\(quoted(key)) is \(quoted(value)), and must be the plain name of a folder beside this file")
  }
  /// Two members of an ensemble have one folder.
  package static func duplicateMember(key: String, folder: String) -> Self {
    invalidModel("\(quoted(key)) is \(quoted(folder)), which another member has already")
  }
  /// What the key says of an ensemble's member is not what it says of the first member; both in words.
  package static func unlikeFirstMember(key: String, found: String, first: String) -> Self {
    invalidModel(
      "\(quoted(key)) is \(shortened(found, to: 400)), and must be \(shortened(first, to: 400)), as in the ensemble's "
        + "first member")
  }
  /// The vocabulary of a metadata field departs from the one this software encodes, first at this index; a word is
  /// nil where one list is shorter.
  package static func vocabularyDiffers(key: String, index: Int, expected: String?, found: String?) -> Self {
    invalidModel(
      "\(quoted(key)) has \(found.map(quoted) ?? "nothing") at index \(index), and this software encodes "
        + "\(expected.map(quoted) ?? "nothing") there")
  }
}
