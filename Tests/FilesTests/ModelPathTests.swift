import Foundation
import SystemModule
import Testing

@testable import Files

/// The paths that people give as a model: folders of the Hugging Face Hub's cache, checkpoints, archives.
@Suite struct ModelPathTests {
  private let configuration = Array(ModelConfigurationTests.valid.utf8)
  private let weights = SafetensorsFileTests.mixed

  private func make(_ folder: String, _ files: [String: [UInt8]]) throws {
    for (name, bytes) in files {
      let path = "\(folder)/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try write(bytes, to: path)
    }
  }

  private func refusal(_ path: String) -> String {
    let error = #expect(throws: DermaFusionError.self) { try StoredModel(directory: path) }
    #expect(error?.message.contains("\n") == false)
    return error?.message ?? ""
  }

  private func withCache(_ body: (_ cache: String) throws -> Void) throws {
    try withTemporaryFolder { try body("\($0)/models--me--net") }
  }

  // MARK: The Hub's cache

  /// The files are links to `blobs`, as the Hub's library makes them.
  @Test func theOnlySnapshotIsTheModel() throws {
    try withCache { cache in
      try make(cache, ["blobs/c": configuration, "blobs/w": weights, "refs/main": Array("abc".utf8)])
      try make(cache, ["snapshots/abc/README.md": [0x23]])
      for (name, blob) in [("config.json", "c"), ("model.safetensors", "w")] {
        try FileManager.default.createSymbolicLink(
          atPath: "\(cache)/snapshots/abc/\(name)", withDestinationPath: "../../blobs/\(blob)")
      }
      for path in [cache, cache + "/", "\(cache)/snapshots/abc"] {
        let model = try ModelFolder(directory: path)
        #expect(model.digest.sha256 == SHA256.hexDigest(configuration + weights))
        #expect(model.configurationPath.hasSuffix("snapshots/abc/config.json"))
      }
      #expect(ModelFolder.filePaths(in: cache).contains("\(cache)/snapshots/abc/model.safetensors"))
      // The folder above holds one model too, but another may be downloaded into it tomorrow.
      let hub = (cache as NSString).deletingLastPathComponent
      #expect(refusal(hub) == "\(hub): the model folder lacks config.json; name the folder in it: \(cache)")
    }
  }

  @Test func ofSeveralSnapshotsNoneIsChosen() throws {
    try withCache { cache in
      for name in ["abc", "def"] {
        try make(
          cache,
          ["snapshots/\(name)/config.json": configuration, "snapshots/\(name)/model.safetensors": weights])
      }
      try make(cache, ["refs/main": Array("def\n".utf8)])
      #expect(
        refusal(cache)
          == "\(cache): this folder of the Hub's cache holds 2 snapshots; name the snapshot's folder: \(cache)/snapshots/def, \(cache)/snapshots/abc"
      )
      _ = try ModelFolder(directory: "\(cache)/snapshots/def")
    }
  }

  @Test func aSnapshotThatMainDoesNotNameIsNotTakenForIt() throws {
    try withCache { cache in
      try make(
        cache,
        [
          "snapshots/abc/config.json": configuration, "snapshots/abc/model.safetensors": weights,
          "refs/main": Array("def".utf8),
        ])
      #expect(refusal(cache).contains("another snapshot than refs/main names; name the snapshot's folder: "))
    }
    try withCache { cache in
      try make(cache, ["refs/main": Array("def".utf8)])
      try FileManager.default.createDirectory(
        atPath: cache + "/snapshots", withIntermediateDirectories: true)
      #expect(refusal(cache).hasSuffix("holds no snapshot; download the model again"))
    }
  }

  @Test(arguments: [
    ("hf-hub:timm/resnet18.a1_in1k", true), ("timm/resnet18.a1_in1k", true),
    ("https://huggingface.co/timm/resnet18", true), ("./timm/resnet18", false), ("timm/", false),
    ("/timm/resnet18", false), ("a/b/c", false), ("model", false), ("../timm", false), ("~/timm", false),
  ])
  func aNameOfTheHubIsToBeDownloaded(path: String, isOfHub: Bool) {
    let message = refusal(path)
    #expect(message.hasPrefix("\(path): there is no such model folder"))
    #expect(message.contains("hf download timm/resnet18") == isOfHub, "\(message)")
  }

  // MARK: Folders

  private static let timm = Array(
    #"{"architecture": "resnet18", "num_classes": 2, "label_names": ["a", "b"], "pretrained_cfg": {}}"#.utf8)

  @Test func theCommandMakesAModelOfWeightsUnderOtherNames() throws {
    for (name, checkpoint) in [
      ("pytorch_model.bin", ""), ("pytorch_model.bin.index.json", ""),
      ("model_best.pth.tar", "/model_best.pth.tar"),
      ("resnet18.safetensors", "/resnet18.safetensors"), ("last.ckpt", "/last.ckpt"),
    ] {
      try withTemporaryFolder { folder in
        try make(folder, ["config.json": Self.timm, name: [1], "README.md": [1]])
        let message = refusal(folder + "/")
        #expect(message.hasPrefix("\(folder)/: the model folder lacks model.safetensors; its weights are "))
        #expect(message.contains("python -m dermafusion_training export --checkpoint \(folder)/"))
        #expect(message.contains("\(checkpoint) --output "), "\(message)")
      }
    }
  }

  @Test func thePathsOfTheCommandAreWordsOfAShell() throws {
    try withTemporaryFolder { folder in
      let model = folder + "/it's mine"
      try make(model, ["config.json": Self.timm, "a b.pth": [1]])
      let quoted = folder + #"/it'\''s mine/a b"#
      #expect(
        refusal(model).hasSuffix("export --checkpoint '\(quoted).pth' --output '\(quoted)-dermafusion'"))
      try make(model, ["c.pth": [1]])
      #expect(refusal(model).contains(#"it holds 2 checkpoints (a b.pth, c.pth); choose one: "#))
    }
  }

  @Test func aFolderAroundModelsNamesThem() throws {
    try withTemporaryFolder { folder in
      try make(
        folder, ["run/net/config.json": configuration, "run/logs/a.txt": [1], "run/.git/config.json": [1]])
      #expect(
        refusal(folder + "/run").hasSuffix("lacks config.json; name the folder in it: \(folder)/run/net"))
      try make(folder, ["run/other/config.json": configuration])
      #expect(
        refusal(folder + "/run")
          .hasSuffix("name one of the folders in it: \(folder)/run/net, \(folder)/run/other"))
    }
    for (name, words) in [
      ("net.onnx", #""net.onnx" is an ONNX model, which cannot be run"#),
      ("model.zip", #""model.zip" is an archive: unpack it"#), ("notes.txt", "lacks config.json"),
      ("weights.pth", "export --checkpoint"),
    ] {
      try withTemporaryFolder { folder in
        try make(folder, [name: [1]])
        #expect(refusal(folder).contains(words))
      }
    }
  }

  // MARK: Files

  @Test(arguments: [
    (
      "best.pth", Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 26) + Array("best/data.pkl".utf8),
      "it is a checkpoint of PyTorch: make a model folder of it: python -m dermafusion_training export --checkpoint "
    ),
    (
      "model.zip",
      Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 26) + Array("net/config.json".utf8),
      "unzip it and name the folder that holds config.json"
    ),
    ("PK", Array("PK\u{3}\u{4}".utf8), "unzip it"),
    (
      "old.pth", [0x80, 2, 0x8A, 10],
      "it is a Python pickle; if it is a checkpoint of PyTorch, make a model folder"
    ),
    ("net.ONNX", [8, 9], "it is an ONNX model, which cannot be run; export the PyTorch checkpoint"),
    ("net.h5", [0x89], "weights of Keras"), ("net.tar.gz", [0x1F, 0x8B], "unpack it"),
    ("weights.safetensors", safetensors("{}"), "without the config.json that says what they are: "),
    ("notes.txt", Array("hello".utf8), "and this is a file"),
  ])
  func aFileSaysHowItBecomesAModel(name: String, bytes: [UInt8], words: String) throws {
    try withTemporaryFolder { folder in
      try make(folder, [name: bytes])
      let message = refusal("\(folder)/\(name)")
      #expect(message.hasPrefix("\(folder)/\(name): a model is a folder, and this is a file"))
      #expect(message.contains(words), "\(message)")
    }
  }
}
