import SystemModule

/// What tells a model from all others: the SHA-256 of its files' bytes, computed once; and whether they are the bytes that
/// the folder's `SHA256SUMS` states.
package final class ModelDigest: Sendable {
  /// What `SHA256SUMS` states of a file.
  struct Checksum: Sendable {
    let path: String
    let expected: String
    /// What it states of all files together, if it does.
    let identity: String?
    /// Adds the file's bytes, which it keeps in memory, to a hash.
    let addBytes: @Sendable (inout SHA256) -> Void
  }

  private enum State: Sendable {
    /// Adds the files' bytes, which it keeps in memory, to a hash.
    case pending(@Sendable (inout SHA256) -> Void)
    case computed(String)
  }

  private enum Verdict: Sendable {
    case pending(Checksum)
    case correct
    case wrong(DermaFusionError)
  }

  private let state: Locked<State>
  private let verdict: Locked<Verdict>

  init(_ addBytes: @escaping @Sendable (inout SHA256) -> Void, checksum: Checksum? = nil) {
    state = Locked(.pending(addBytes))
    verdict = Locked(checksum.map(Verdict.pending) ?? .correct)
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

  /// Takes the hash from somebody who has computed it already, so that it is not computed here.
  ///
  /// - Parameter sha256: of the bytes that ``sha256`` names, in lowercase hexadecimal.
  package func settle(_ sha256: String) {
    state.withLock { state in
      if case .pending = state { state = .computed(sha256) }
    }
  }

  /// Checks that the weights are those that the folder's `SHA256SUMS` states, where there is one. Who asks while another
  /// thread computes waits for it.
  ///
  /// - Throws: `DermaFusionError.checksumMismatch`
  package func check() throws(DermaFusionError) {
    let failure: DermaFusionError? = verdict.withLock { verdict in
      switch verdict {
      case .correct: return nil
      case .wrong(let error): return error
      case .pending(let checksum):
        // The same files have the same identity: they need no hash of their own.
        if let identity = checksum.identity, identity == sha256 {
          verdict = .correct
          return nil
        }
        var hash = SHA256()
        checksum.addBytes(&hash)
        let found = hash.finalizedHexDigest()
        if found == checksum.expected {
          verdict = .correct
          return nil
        }
        let error = DermaFusionError.checksumMismatch(
          path: checksum.path, expected: checksum.expected, found: found)
        verdict = .wrong(error)
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Starts computing ``sha256``, and what ``check()`` needs, on other threads, so that asking for them later does not wait
  /// for all of it.
  package func prepare() {
    BackgroundThread.start { _ = self.sha256 }
    let needsSecondHash = verdict.withLock { verdict in
      if case .pending(let checksum) = verdict { checksum.identity == nil } else { false }
    }
    if needsSecondHash { BackgroundThread.start { try? self.check() } }
  }
}
