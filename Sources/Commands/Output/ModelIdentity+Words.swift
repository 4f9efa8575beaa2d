import CommandLineSupport
import DermaFusion

extension ModelIdentity {
  /// `dermafusion-lite2 1.3.0, SHA-256 f923c22ff2e74e6d`
  var words: String { "\(name) \(version), SHA-256 \(sha256.prefix(16))".printable }
}
