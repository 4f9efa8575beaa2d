import Foundation
import SystemModule
import Testing

@testable import Files

/// The bytes that are hashed are those that are packed, and are held against the folder's `SHA256SUMS`.
@Suite struct ModelChecksumsTests {
  private let configuration = Array(ModelConfigurationTests.valid.utf8)
  private let weights = SafetensorsFileTests.mixed

  private func withModel(sums: String?, _ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try write(configuration, to: folder + "/config.json")
      try write(weights, to: folder + "/model.safetensors")
      if let sums { try write(Array(sums.utf8), to: folder + "/SHA256SUMS") }
      try body(folder)
    }
  }

  private var digests: (configuration: String, weights: String) {
    (SHA256.hexDigest(configuration), SHA256.hexDigest(weights))
  }

  /// A writer in place changed the tensors between the hash and the packing of a mapped file.
  @Test func aFileRewrittenAfterReadingChangesNothing() throws {
    try withModel(sums: nil) { folder in
      let path = folder + "/model.safetensors"
      let model = try ModelFolder(directory: folder)
      let expected = try model.weights.tensors.map { try $0.floats() }
      let handle = try #require(FileHandle(forWritingAtPath: path))
      try handle.write(contentsOf: [UInt8](repeating: 0x3C, count: weights.count))
      try handle.close()
      #expect(try model.weights.tensors.map { try $0.floats() } == expected)
      #expect(model.digest.sha256 == SHA256.hexDigest(configuration + weights))
    }
  }

  /// Looking at a mapped file behind its end is a bus error.
  @Test func aFileCutAfterReadingChangesNothing() throws {
    try withModel(sums: nil) { folder in
      let model = try ModelFolder(directory: folder)
      let expected = try model.weights.tensors.map { try $0.floats() }
      #expect(truncate(folder + "/model.safetensors", 0) == 0)
      #expect(try model.weights.tensors.map { try $0.floats() } == expected)
      #expect(model.digest.sha256 == SHA256.hexDigest(configuration + weights))
    }
  }

  @Test(arguments: ["  ", " *"])
  func filesThatAgreeAreLoaded(separator: String) throws {
    let sums = """
      # made by sha256sum
      \(digests.weights.uppercased())\(separator)model.safetensors
      \(String(repeating: "0", count: 64))\(separator)README.md

      \(digests.configuration)\(separator)config.json\r

      """
    try withModel(sums: sums) { folder in
      let model = try ModelFolder(directory: folder)
      #expect(model.hasChecksums)
      model.digest.prepare()
      try model.digest.check()
    }
    try withModel(sums: nil) { folder in
      let model = try ModelFolder(directory: folder)
      #expect(!model.hasChecksums)
      try model.digest.check()
    }
  }

  @Test func aFlippedBitInTheWeightsIsNamed() throws {
    let sums = "\(digests.configuration)  config.json\n\(digests.weights)  model.safetensors\n"
    try withModel(sums: sums) { folder in
      var changed = weights
      changed[changed.count - 1] ^= 1
      let path = folder + "/model.safetensors"
      try write(changed, to: path)
      let model = try ModelFolder(directory: folder)
      let expected = DermaFusionError.checksumMismatch(
        path: path, expected: digests.weights, found: SHA256.hexDigest(changed))
      #expect(throws: expected) { try model.digest.check() }
      #expect(throws: expected) { try model.digest.check() }
      #expect(expected.description.contains(digests.weights), "\(expected)")
    }
  }

  /// A comment with the model's identity, which is hashed anyway, stands for the weights' own line; where it is not that of
  /// these files, the line counts.
  @Test(arguments: ["", "\r"])
  func aStatedIdentityStandsForTheWeights(end: String) throws {
    let identity = SHA256.hexDigest(configuration + weights)
    let other = String(repeating: "0", count: 64)
    let sums = { (identity: String, digest: String) in
      "# model: \(identity)\(end)\n\(digest)  model.safetensors\n\(digests.configuration)  config.json\n"
    }
    for text in [
      sums(identity, other), sums(identity.uppercased(), other), sums(other, digests.weights),
      sums(identity + "0", digests.weights), sums("", digests.weights),
    ] {
      try withModel(sums: text) { folder in
        let model = try ModelFolder(directory: folder)
        model.digest.prepare()
        try model.digest.check()
        #expect(model.digest.sha256 == identity)
      }
    }
    for text in [sums(other, other), sums(identity + "0", other), sums(String(identity.dropLast()), other)] {
      try withModel(sums: text) { folder in
        let model = try ModelFolder(directory: folder)
        model.digest.prepare()
        #expect(
          throws: DermaFusionError.checksumMismatch(
            path: folder + "/model.safetensors", expected: other, found: digests.weights)
        ) { try model.digest.check() }
      }
    }
  }

  /// The weights are held against the sums although their memory went back: the file is read again, and has to be the one
  /// that was used.
  @Test func aModelWhoseMemoryWentBackIsStillChecked() throws {
    let large = safetensors(
      #"{"a":{"dtype":"F32","shape":[1500000],"data_offsets":[0,6000000]}}"#,
      (0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 37 >> 3) & 0x3F })
    let digest = SHA256.hexDigest(large)
    var damaged = large
    damaged[large.count - 7] ^= 4
    let other = String(repeating: "0", count: 64)
    func used(_ folder: String) throws -> ModelFolder {
      let model = try ModelFolder(directory: folder).readOnce
      #expect(model.isReadOnce)
      model.digest.prepare()
      for tensor in model.weights.tensors { tensor.release(0..<tensor.elementCount) }
      return model
    }
    for identity in [SHA256.hexDigest(configuration + large), other] {
      let sums = "# model: \(identity)\n\(digest)  model.safetensors\n\(digests.configuration)  config.json\n"
      try withModel(sums: sums) { folder in
        let path = folder + "/model.safetensors"
        try write(large, to: path)
        try used(folder).digest.check()
        try write(damaged, to: path)
        let model = try used(folder)
        let found = SHA256.hexDigest(damaged)
        #expect(
          throws: DermaFusionError.checksumMismatch(path: path, expected: digest, found: found)
        ) { try model.digest.check() }
        // The damaged file is used, and the good one lies there when it is checked.
        let second = try used(folder)
        #expect(second.digest.sha256 == SHA256.hexDigest(configuration + damaged))
        try write(large, to: path)
        #if os(Linux)
          #expect(throws: DermaFusionError.changed(path)) { try second.digest.check() }
        #endif
      }
    }
  }

  @Test func aChangedConfigurationIsNamed() throws {
    let sums = "\(digests.configuration)  config.json\n\(digests.weights)  model.safetensors\n"
    try withModel(sums: sums) { folder in
      let path = folder + "/config.json"
      try write(configuration + [0x0A], to: path)
      #expect(
        throws: DermaFusionError.checksumMismatch(
          path: path, expected: digests.configuration, found: SHA256.hexDigest(configuration + [0x0A]))
      ) { try ModelFolder(directory: folder) }
      #expect(throws: DermaFusionError.self) { try ModelConfiguration(directory: folder) }
    }
  }

  @Test func linesThatAreMissingOrMalformed() throws {
    let digest = digests.configuration
    try withModel(sums: "\(digest)  config.json\n") { folder in
      #expect(
        throws: DermaFusionError.checksumMissing(path: folder + "/SHA256SUMS", name: "model.safetensors")
      ) { try ModelFolder(directory: folder) }
    }
    for line in [
      "\(digest) config.json", "\(digest.dropLast())  config.json", "\(digest)0  config.json", "\(digest)  ",
      "\(digest.dropLast())g  config.json", "config.json  \(digest)",
    ] {
      try withModel(sums: "# a comment\n\(line)\n") { folder in
        #expect(
          throws: DermaFusionError.malformedChecksum(path: folder + "/SHA256SUMS", line: 2), "\(line)"
        ) { try ModelFolder(directory: folder) }
      }
    }
  }

  /// Each is refused by its size, before it is read.
  @Test func hugeFilesAreRefusedUnread() throws {
    try withModel(sums: nil) { folder in
      let path = folder + "/model.safetensors"
      #expect(truncate(path, 1 << 42) == 0)
      #expect(throws: DermaFusionError.tooLarge(path, limit: SafetensorsFile.byteLimit).inModel) {
        try ModelFolder(directory: folder)
      }
      #expect(truncate(folder + "/config.json", 1 << 42) == 0)
      #expect(throws: DermaFusionError.self) { try ModelFolder(directory: folder) }
    }
  }
}
