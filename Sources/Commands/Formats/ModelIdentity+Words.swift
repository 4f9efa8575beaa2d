import DermaFusion

extension ModelIdentity {
  /// `dermafusion-lite2 1.6.0, SHA-256 1bca158cd14092e8`
  var words: String { "\(name) \(version), SHA-256 \(sha256.prefix(16))".printable }
}

extension ImageViews {
  /// What a reader is told.
  var sentence: String { "mean logits of \(count) views, turned and mirrored" }
}
