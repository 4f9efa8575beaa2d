import DermaFusion

extension ModelIdentity {
  /// `dermafusion-lite2 1.2.0, SHA-256 9c21bfdfdb872118`
  var words: String { "\(name) \(version), SHA-256 \(sha256.prefix(16))".printable }
}
