import SystemModule

/// The identity of a model: the SHA-256 of its files' bytes, computed once; and whether they are the bytes that
/// the folder's `SHA256SUMS` states.
package final class ModelDigest: Sendable {
  /// The hashes that the folder's `SHA256SUMS` states of a model's files.
  struct Stated: Sendable {
    struct File: Sendable {
      let path: String
      let expected: String
      let pages: FilePages
    }

    let configuration: [UInt8]
    /// The files of weights.
    let files: [File]
    /// The SHA-256 of all files together.
    let identity: String?

    /// The first file of weights that is not the stated one.
    ///
    /// - Parameter used: The SHA-256 of the bytes that a network is made of.
    fileprivate func fault(used: () -> String) -> DermaFusionError? {
      // The same files have the same identity: they need no hash of their own.
      if let identity, identity == used() { return nil }
      do throws(DermaFusionError) {
        var pages = files.map { $0.pages }
        #if os(Linux)
          // Those whose memory went back are read again, and must be those that were used.
          if pages.contains(where: { !$0.isWhole }) {
            for (index, file) in files.enumerated() {
              pages[index] = try FilePages(path: file.path, limit: file.pages.count)
            }
            let again = SHA256.hexDigest { hash in
              hash.update(configuration)
              for pages in pages { pages.withBytes { hash.update($0) } }
            }
            guard again == used() else { throw .changed(files[0].path) }
          }
        #endif
        for (file, pages) in zip(files, pages) {
          let found = SHA256.hexDigest { hash in pages.withBytes { hash.update($0) } }
          guard found == file.expected else {
            throw .checksumMismatch(path: file.path, expected: file.expected, found: found)
          }
        }
        return nil
      } catch {
        return error
      }
    }
  }

  private let digest: Locked<Once<String>>
  private let fault: Locked<Once<DermaFusionError?>>
  /// True if `SHA256SUMS` states no hash of all files together: the weights are then hashed twice.
  let needsSecondHash: Bool

  /// - Parameter stated: Nil where nothing is stated.
  init(_ addBytes: @escaping @Sendable (inout SHA256) -> Void, stated: Stated? = nil) {
    let digest = Locked(Once.pending { SHA256.hexDigest(addBytes) })
    self.digest = digest
    fault = Locked(.pending { stated?.fault { digest.withLock { $0.value() } } })
    needsSecondHash = stated != nil && stated?.identity == nil
  }

  /// In lowercase hexadecimal. For a single model of `config.json` followed by `model.safetensors` (`cat config.json
  /// model.safetensors | sha256sum`), for an ensemble of its `config.json` followed by both files of each member in order.
  ///
  /// A reader that asks while another thread computes waits for it.
  package var sha256: String { digest.withLock { $0.value() } }

  /// Takes ``sha256`` from somebody who has computed it already.
  package func settle(_ sha256: String) {
    digest.withLock { if case .pending = $0 { $0 = .known(sha256) } }
  }

  /// Checks that the weights are those that the folder's `SHA256SUMS` states, where there is one. Who asks while another
  /// thread computes waits for it.
  package func check() throws(DermaFusionError) {
    if let fault = fault.withLock({ $0.value() }) { throw fault }
  }

  /// Starts computing ``sha256``, and what ``check()`` needs, on other threads, so that asking for them later does not wait
  /// for all of it.
  package func prepare() {
    BackgroundThread.start { _ = self.sha256 }
    if needsSecondHash { BackgroundThread.start { try? self.check() } }
  }
}

/// The hashes that a model's folder states of its files, in `SHA256SUMS` as `sha256sum` writes it. A comment `# model:
/// DIGEST` may state that of both files one after the other: the model's identity, which is worked out anyway, so that the
/// weights need not be hashed a second time by themselves.
struct ModelChecksums {
  static let fileName = "SHA256SUMS"
  private static let byteLimit = 1 << 16

  /// The file's path, for errors.
  let path: String
  /// The folder's path with a slash.
  private let folder: String
  /// In lowercase hexadecimal, by the name of the file.
  private var digests: [String: String] = [:]
  /// The digest of `config.json` followed by `model.safetensors`, where a comment states it.
  private(set) var identity: String?
  private static let identityMark = Array("# model: ".utf8)

  /// Reads the file of a folder; nil where it has none.
  init?(directory: String) throws(DermaFusionError) {
    path = ModelFiles.path(of: Self.fileName, in: directory)
    folder = ModelFiles.path(of: "", in: directory)
    guard try ModelFiles.isFolder(path) != nil else { return nil }
    let bytes = try ModelFiles.read(path, limit: Self.byteLimit).copied
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      if line.starts(with: Self.identityMark) {
        identity = Self.digest(Self.withoutReturn(line).dropFirst(Self.identityMark.count))
      }
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      guard let (digest, name) = Self.parse(line) else {
        throw .invalidModel(
          "\(path): line \(index + 1) must be a SHA-256 of 64 hexadecimal digits, two spaces and a file's name"
        )
      }
      digests[name] = digest
    }
  }

  /// A digest, a space, a space or an asterisk, and a name.
  private static func parse(_ line: ArraySlice<UInt8>) -> (digest: String, name: String)? {
    let line = withoutReturn(line)
    let rest = line.dropFirst(64)
    guard let digest = digest(line.prefix(64)), rest.count > 2, rest.first == UInt8(ascii: " "),
      [UInt8(ascii: " "), UInt8(ascii: "*")].contains(rest.dropFirst().first)
    else { return nil }
    return (digest, String(decoding: rest.dropFirst(2), as: UTF8.self))
  }

  private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    line.last == 0x0D ? line.dropLast() : line
  }

  /// 64 hexadecimal digits in lowercase; nil where there are others.
  private static func digest(_ digits: ArraySlice<UInt8>) -> String? {
    let digest = String(decoding: digits, as: UTF8.self).lowercased()
    return SHA256.isHexDigest(digest.utf8) ? digest : nil
  }

  func digest(of name: String) throws(DermaFusionError) -> String {
    guard let digest = digests[name] else { throw .invalidModel("\(path): there is no line for \(name)") }
    return digest
  }

  /// Holds the bytes of a file of the folder against its digest.
  func check(_ bytes: [UInt8], of name: String) throws(DermaFusionError) {
    let (expected, found) = (try digest(of: name), SHA256.hexDigest(bytes))
    guard found == expected else {
      throw .checksumMismatch(path: folder + name, expected: expected, found: found)
    }
  }
}
