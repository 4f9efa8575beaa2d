import Foundation
import SystemModule
import Testing

@testable import Files

@Suite struct ModelFolderTests {
  private let configuration = Array(ModelConfigurationTests.valid.utf8)
  private let weights = SafetensorsFileTests.mixed

  @Test func readsAFolderAndBytesAlike() throws {
    try withTemporaryFolder { folder in
      try write(configuration, to: folder + "/config.json")
      try write(weights, to: folder + "/model.safetensors")
      let fromBytes = try ModelFolder(configuration: configuration, weights: weights)
      for path in [folder, folder + "/"] {
        let fromFolder = try ModelFolder(directory: path)
        #expect(fromFolder.configuration == fromBytes.configuration)
        #expect(fromFolder.weights.name == folder + "/model.safetensors")
        #expect(fromFolder.weights.tensors.map(\.name) == fromBytes.weights.tensors.map(\.name))
        #expect(fromFolder.digest.sha256 == fromBytes.digest.sha256)
        for (read, kept) in zip(fromFolder.weights.tensors, fromBytes.weights.tensors) {
          #expect(try read.floats() == kept.floats(), "\(kept.name)")
        }
      }
    }
  }

  @Test func identityIsTheHashOfBothFiles() async throws {
    let model = try ModelFolder(configuration: configuration, weights: weights)
    let expected = SHA256.hexDigest(configuration + weights)
    async let beside = model.digest.sha256
    #expect(model.digest.sha256 == expected)
    #expect(await beside == expected)

    var changed = weights
    changed[changed.count - 1] ^= 0x80
    #expect(try ModelFolder(configuration: configuration, weights: changed).digest.sha256 != expected)
    #expect(
      try ModelFolder(configuration: configuration + [0x0A], weights: weights).digest.sha256 != expected)
  }

  /// A path that the system refuses to look at may well be there.
  @Test func whatCannotBeLookedAtIsNotCalledMissing() throws {
    try withTemporaryFolder { folder in
      let long = folder + "/" + String(repeating: "n", count: 300)
      #expect(throws: DermaFusionError.unreadable(long, reason: "File name too long").inModel) {
        try ModelFolder(directory: long)
      }
      for name in ["config.json", "model.safetensors"] {
        let path = folder + "/" + name
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        let error = #expect(throws: DermaFusionError.self) { try ModelFolder(directory: folder) }
        let message = error?.message ?? ""
        #expect(
          message.hasPrefix("\(path): cannot be read: ") && message.contains("symbolic link"), "\(message)")
        try FileManager.default.removeItem(atPath: path)
        try write(configuration, to: path)
      }
    }
  }

  @Test func missingFolderOrFile() throws {
    try withTemporaryFolder { folder in
      #expect(throws: DermaFusionError.folderMissing(path: folder + "/none")) {
        try ModelFolder(directory: folder + "/none")
      }
      #expect(throws: DermaFusionError.fileMissing(name: "config.json", folder: folder)) {
        try ModelFolder(directory: folder)
      }
      try write(configuration, to: folder + "/config.json")
      #expect(throws: DermaFusionError.fileMissing(name: "model.safetensors", folder: folder)) {
        try ModelFolder(directory: folder)
      }
      #expect(throws: DermaFusionError.notAFolder(path: folder + "/config.json")) {
        try ModelFolder(directory: folder + "/config.json")
      }
      try write(weights, to: folder + "/model.safetensors")
      let error = #expect(throws: DermaFusionError.self) {
        try ModelFolder(directory: folder + "/config.json")
      }
      #expect(
        error?.message.hasSuffix("and this is a file; name the folder that it lies in: \(folder)") == true)
      #expect(
        DermaFusionError.fileMissing(name: "model.safetensors", folder: "M").description
          == "M: the model folder lacks model.safetensors")
    }
  }

  @Test func errorsNameTheFile() throws {
    try withTemporaryFolder { folder in
      let (configurationPath, weightsPath) = (folder + "/config.json", folder + "/model.safetensors")
      try write(configuration, to: configurationPath)
      try write([], to: weightsPath)
      #expect(throws: DermaFusionError.empty(weightsPath).inModel) { try ModelFolder(directory: folder) }
      try write(weights + [0], to: weightsPath)
      #expect(throws: DermaFusionError.trailingData(bytes: 1).named(weightsPath)) {
        try ModelFolder(directory: folder)
      }
      try write(weights, to: weightsPath)
      let limit = ConfigurationFile.byteLimit
      try write(
        configuration + [UInt8](repeating: 0x20, count: limit - configuration.count), to: configurationPath)
      _ = try ModelFolder(directory: folder)
      try write([UInt8](repeating: 0x20, count: limit + 1), to: configurationPath)
      #expect(throws: DermaFusionError.tooLarge(configurationPath, limit: limit).inModel) {
        try ModelFolder(directory: folder)
      }
      try write(Array("{}".utf8), to: configurationPath)
      #expect(throws: DermaFusionError.missingKey("format_version").named(configurationPath)) {
        try ModelFolder(directory: folder)
      }
    }
    #expect(throws: DermaFusionError.empty("config.json").inModel) {
      try ModelFolder(configuration: [], weights: weights)
    }
    #expect(throws: DermaFusionError.empty("model.safetensors").inModel) {
      try ModelFolder(configuration: configuration, weights: [])
    }
  }
}
