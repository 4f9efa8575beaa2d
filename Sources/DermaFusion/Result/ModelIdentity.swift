/// Which model made a result.
public struct ModelIdentity: Sendable, Equatable {
  /// As its configuration names it.
  public let name: String
  /// The model's own version.
  public let version: String
  /// SHA-256 of `config.json` followed by `model.safetensors`, lower-case hexadecimal: weights,
  /// architecture and every preprocessing constant at once. An ensemble's is of its `config.json` followed by both files of
  /// each member in order.
  public let sha256: String

  /// - Parameters:
  ///   - name: as the model's configuration names it.
  ///   - version: the model's own version.
  ///   - sha256: see ``sha256``.
  package init(name: String, version: String, sha256: String) {
    self.name = name
    self.version = version
    self.sha256 = sha256
  }
}

#if !hasFeature(Embedded)
  extension ModelIdentity: Codable {}
#endif

extension ModelIdentity: CustomStringConvertible {
  /// `dermafusion-lite2 1.6.0`
  public var description: String { "\(name) \(version)" }
}
