import SystemModule

extension DermaFusionError {
  /// A file of a model breaks a rule.
  ///
  /// - Parameter rule: in words, with the file in front or to be ``named(_:)``.
  package static func invalidModel(_ rule: String) -> DermaFusionError {
    .init(.invalidModel, message: rule, remedy: "Export the model again, or copy its folder again in full.")
  }

  /// A model's folder, or one of its files, is not there.
  static func modelNotFound(_ rule: String) -> DermaFusionError {
    .init(
      .modelNotFound, message: rule, remedy: "Name a folder that holds config.json and model.safetensors.")
  }

  /// The network cannot be computed in the precision that the configuration or the caller asks for.
  package static func unusablePrecision(file: String, rule: String) -> DermaFusionError {
    .init(
      .invalidModel, message: "\(file): \(rule)", remedy: "Leave the precision to the model's config.json.")
  }

  /// The same failure, of a file that belongs to a model.
  package var inModel: DermaFusionError {
    code == .fileNotFound ? .modelNotFound(message) : .invalidModel(message)
  }

  /// The key's number breaks its rule.
  ///
  /// - Parameter key: with the keys around it: `preprocessing.color_constancy.p`.
  package static func outOfRange(key: String, value: String, rule: String) -> DermaFusionError {
    invalidModel("\(quoted(key)) is \(shortened(value, to: 40)), and must be \(rule)")
  }

  /// The key's string is not one of those allowed.
  package static func unknownValue(key: String, value: String, allowed: [String]) -> DermaFusionError {
    invalidModel("\(quoted(key)) is \(quoted(value)), and must be one of \(allowed.joined(separator: ", "))")
  }

  static func missingKey(_ key: String) -> DermaFusionError {
    invalidModel("the key \(quoted(key)) is missing")
  }

  /// The key's array has another number of elements than required.
  package static func wrongCount(key: String, expected: String, found: Int) -> DermaFusionError {
    invalidModel("\(quoted(key)) must have \(expected), and has \(found)")
  }

  /// The key's value is of another type than required.
  static func wrongType(key: String, expected: String, found: JSONValue) -> DermaFusionError {
    invalidModel("\(quoted(key)) must be \(expected), and is \(found.typeInWords)")
  }

  /// A file's SHA-256 is not the one that the folder's `SHA256SUMS` states.
  static func checksumMismatch(path: String, expected: String, found: String) -> DermaFusionError {
    invalidModel(
      "\(path): the SHA-256 is \(found), and the folder's \(ModelChecksums.fileName) states \(expected): the file is "
        + "damaged, or was replaced without its checksum")
  }
}
