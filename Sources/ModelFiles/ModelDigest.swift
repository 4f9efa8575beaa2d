import HashModule
import SystemModule

/// What tells a model from all others: the SHA-256 of its files' bytes, computed once.
package final class ModelDigest: Sendable {
  private enum State: Sendable {
    /// Adds the files' bytes, which it keeps in memory, to a hash.
    case pending(@Sendable (inout SHA256) -> Void)
    case computed(String)
  }

  private let state: Locked<State>

  init(_ addBytes: @escaping @Sendable (inout SHA256) -> Void) {
    state = Locked(.pending(addBytes))
  }

  /// In lowercase hexadecimal. For a single model of `config.json` followed by `model.safetensors` (`cat config.json
  /// model.safetensors | sha256sum`), for an ensemble of its `config.json` followed by both files of each member in order.
  ///
  /// Who asks while another thread computes waits for it.
  package var sha256: String {
    state.withLock { state in
      switch state {
      case .computed(let digest): return digest
      case .pending(let addBytes):
        var hash = SHA256()
        addBytes(&hash)
        let digest = hash.finalizedHexDigest()
        state = .computed(digest)
        return digest
      }
    }
  }

  /// Starts computing ``sha256`` on another thread, so that asking for it later does not wait for all of it.
  package func prepare() { BackgroundThread.start { _ = self.sha256 } }
}
