import SystemModule

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
  ///
  /// - Throws: `DermaFusionError` when the file cannot be read or a line of it is not understood.
  init?(directory: String) throws(DermaFusionError) {
    path = FileContent.path(of: Self.fileName, in: directory)
    folder = FileContent.path(of: "", in: directory)
    guard try FileContent.isFolder(path) != nil else { return nil }
    let bytes = try FileContent(path: path, limit: Self.byteLimit).array
    for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      if line.starts(with: Self.identityMark) {
        identity = Self.digest(Self.withoutReturn(line).dropFirst(Self.identityMark.count))
      }
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      guard let (digest, name) = Self.parse(line) else {
        throw .malformedChecksum(path: path, line: index + 1)
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
    guard digits.count == 64,
      digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) })
    else { return nil }
    return String(decoding: digits.map { $0 < 0x40 ? $0 : $0 | 0x20 }, as: UTF8.self)
  }

  /// The digest stated for a file of the folder.
  ///
  /// - Throws: `DermaFusionError.checksumMissing`
  func digest(of name: String) throws(DermaFusionError) -> String {
    guard let digest = digests[name] else { throw .checksumMissing(path: path, name: name) }
    return digest
  }

  /// Holds the bytes of a file of the folder against its digest.
  ///
  /// - Throws: `DermaFusionError.checksumMismatch` or `.checksumMissing`
  func check(_ bytes: [UInt8], of name: String) throws(DermaFusionError) {
    let (expected, found) = (try digest(of: name), SHA256.hexDigest(bytes))
    guard found == expected else {
      throw .checksumMismatch(path: folder + name, expected: expected, found: found)
    }
  }
}
