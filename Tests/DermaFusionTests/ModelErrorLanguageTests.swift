import Foundation
import NetworkModule
import SystemModule
import TensorModule
import TestFiles
import TestModels
import Testing

@testable import DermaFusion
@testable import Files

/// Errors of a model's folder in the languages of the engine. `Scripts/checks/tidy` finds sentences without words.
@Suite struct ModelErrorLanguageTests {
  private let folder = TemporaryFolder()
  private static let own = StandIn.configuration(
    hasFusion: true,
    abstention: #"""
      {"quality":{"minimum_brightness":10,"maximum_brightness":245,"minimum_contrast":5,"minimum_sharpness":0,
       "minimum_structure":0},"distance":{"stage":4,"threshold":9},"conformal":{"coverage":0.9,
       "thresholds":[0,0,0,0,0,0,0]},"dermoscopy":{"stages":[0,1],"threshold":1}}
      """#)
  private static let timm = #"""
    {"architecture":"resnet18","num_classes":2,"label_names":["a","b"],"model_args":{"in_chans":3},
     "pretrained_cfg":{"input_size":[3,64,64]}}
    """#

  /// Nothing of the message or the remedy is English.
  private func expectWords(_ error: DermaFusionError, _ place: SourceLocation = #_sourceLocation) {
    for (language, english) in [
      (Language.german, [" the ", " is ", " must ", " has ", " of ", " it "]),
      (.french, [" the ", " is ", " must ", " has ", " of ", " with ", " it "]),
    ] {
      let words = error.worded(in: language)
      #expect(words.message != error.message, "\(language)", sourceLocation: place)
      #expect(words.remedy != error.remedy, "\(language)", sourceLocation: place)
      for word in english {
        #expect(
          !" \(words.message) \(words.remedy)".contains(word), "\(words.message)", sourceLocation: place)
      }
    }
  }

  private func refusal(_ body: () throws -> Void, _ place: SourceLocation = #_sourceLocation) {
    if let error = #expect(throws: DermaFusionError.self, sourceLocation: place, performing: body) {
      expectWords(error, place)
    }
  }

  @Test(arguments: [
    ("\"temperature\": 1.0", "\"temperature\": 0"), ("\"temperature\": 1.0", "\"temperature\": \"1\""),
    ("\"temperature\": 1.0", "\"temperature\": null"), ("\"temperature\": 1.0", "\"temperature\": true"),
    ("\"temperature\": 1.0", "\"temperature\": [1]"), ("\"temperature\": 1.0", "\"temperature\": {}"),
    ("\"temperature\": 1.0,", ""), ("\"temperature\": 1.0", "\"temperature\": 1.0, \"heat\": 1"),
    ("\"temperature\": 1.0", "\"temperature\": 1.0, \"temperature\": 2"),
    ("\"temperature\": 1.0", "\"temperature\": 01"),
    ("\"temperature\": 1.0", "\"temperature\": 1.0,}"), ("\"temperature\": 1.0", "\"temperature\" 1"),
    ("\"temperature\": 1.0", "\"temperature\": 1.0 1"), ("\"temperature\": 1.0", "\"temperature\": \n"),
    ("\"temperature\": 1.0", "\"temperature\": 1.0, \"task\": \"multilabel\""),
    ("\"temperature\": 1.0", "\"temperature\": 1.0, \"members\": []"),
    ("\"format_version\": 1", "\"format_version\": 2"), ("\"format_version\": 1", "\"format_version\": -1"),
    ("\"name\": \"toy\"", "\"name\": \"\""), ("\"name\": \"toy\"", "\"name\": \"\\q\""),
    ("\"name\": \"toy\"", "\"name\": \"\\ud800\""), ("\"name\": \"toy\"", "\"name\": \"a\tb\""),
    ("\"padding\": \"same\"", "\"padding\": \"none\""), ("\"size\": 40", "\"size\": 31"),
    ("\"size\": 40", "\"size\": 40.5"), ("\"std\": [0.229, 0.224, 0.225]", "\"std\": [0.229]"),
    ("\"std\": [0.229", "\"std\": [0"), ("\"std\": [0.229, 0.224, 0.225]", "\"std\": 1"),
    ("\"akiec\", ", "\"bcc\", "),
    ("[\"akiec\", \"bcc\", \"bkl\", \"df\", \"mel\", \"nv\", \"vasc\"]", "[\"a\"]"),
    ("[\"akiec\", \"bcc\", \"bkl\", \"df\", \"mel\", \"nv\", \"vasc\"]", "[]"),
    (
      "[\"akiec\", \"bcc\", \"bkl\", \"df\", \"mel\", \"nv\", \"vasc\"]",
      "[{\"class\":\"a\",\"malignancy\":\"benign\"},{\"class\":\"b\"}]"
    ),
    ("\"stages\":[0,1]", "\"stages\":[1,1]"), ("\"coverage\":0.9", "\"coverage\":9"),
    ("\"threshold\":9", "\"threshold\":0"), ("[0,0,0,0,0,0,0]", "[0,0,0,0,0,0,2]"),
    ("\"minimum_contrast\":5", "\"minimum_contrast\":1e99"),
  ])
  func aConfigurationIsRefused(piece: String, other: String) throws {
    try #require(Self.own.contains(piece), "\(piece)")
    let changed = Self.own.replacing(piece, with: other, maxReplacements: 1)
    refusal { _ = try ModelConfiguration(parsing: Array(changed.utf8)) }
  }

  @Test(arguments: [
    "[]", "{", "{} x", "\"", "[1", "{\"a\":tru}", String(repeating: "[", count: 65), "{\"a\":\"\u{1}\"}",
  ])
  func whatIsNoObjectIsRefused(text: String) {
    refusal { _ = try ModelConfiguration(parsing: Array(text.utf8)) }
  }

  @Test(arguments: [
    ("\"in_chans\":3", "\"in_chans\":1"), ("\"in_chans\":3", "\"in_chans\":4"),
    ("\"in_chans\":3", "\"num_classes\":3"), ("\"in_chans\":3", "\"output_stride\":8"),
    ("\"in_chans\":3", "\"img_size\":48"),
    ("[3,64,64]", "[3,64,65]"),
    ("\"label_names\":[\"a\",\"b\"],", ""), ("[\"a\",\"b\"]", "[\"a\"]"),
    ("\"num_classes\":2,\"label_names\":[\"a\",\"b\"],", "\"num_classes\":1,"),
    ("\"num_classes\":2,\"label_names\":[\"a\",\"b\"]", "\"num_classes\":1,\"label_names\":[\"other\"]"),
    ("[\"a\",\"b\"]", "{\"0\":\"a\",\"2\":\"b\"}"),
    ("\"num_classes\":2", "\"num_classes\":2,\"problem_type\":\"regression\""),
    ("\"resnet18\"", "\"resnet19\""),
    ("\"architecture\":\"resnet18\",\"num_classes\":2", "\"model_type\":\"vit\""),
  ])
  func aConfigurationOfTimmIsRefused(piece: String, other: String) throws {
    try #require(Self.timm.contains(piece), "\(piece)")
    let bytes = Array(
      Self.timm.replacing(piece, with: other).replacing(
        #""pretrained_cfg""#, with: other.contains("model_type") ? #""x""# : #""pretrained_cfg""#
      ).utf8)
    refusal {
      _ = try ConfigurationFile(bytes, path: "config.json").model(architectures: Architecture.names)
    }
  }

  private static func file(_ header: String, _ data: Int = 8) -> [UInt8] {
    let count = header.utf8.count
    return (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(header.utf8)
      + [UInt8](repeating: 0xFF, count: data)
  }

  @Test(arguments: [
    "", "x", "[]", "{\"a\":1}", "{\"a\":{}}", "{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":1}",
    #"{"a":{"dtype":1,"shape":[2],"data_offsets":[0,8]}}"#,
    #"{"a":{"dtype":"F32","shape":1,"data_offsets":[0,8]}}"#,
    #"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}}"#,
    #"{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#,
    #"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#,
    #"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
    #"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}}"#,
    #"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#,
    #"{"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,8]}}"#,
    #"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
    #"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"b":1}}"#,
    #"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}}"#,
  ])
  func aFileOfWeightsIsRefused(header: String) {
    refusal { _ = try SafetensorsFile(bytes: Self.file(header), name: "w") }
  }

  @Test func aFileThatHoldsNoHeaderIsRefused() {
    for bytes in [
      [], [1, 2], [UInt8](repeating: 0xFF, count: 9), [9, 0, 0, 0, 0, 0, 0, 0, 0x7B],
      Array("version https://git-lfs.github.com/spec/v1".utf8),
    ] {
      refusal { _ = try SafetensorsFile(bytes: bytes, name: "w") }
    }
  }

  @Test func aTensorThatDoesNotFitIsRefused() throws {
    let file = try SafetensorsFile(
      bytes: safetensors([
        (name: "a", shape: [2, 1, 3, 3], values: [Float](repeating: .nan, count: 18)),
        (name: "net.fc.weight", shape: [1, 1], values: [1]),
        (name: "fc.0.weight", shape: [1, 1], values: [1]),
      ]), name: "w")
    refusal { _ = try file.tensor("b", shape: [1]) }
    refusal { _ = try file.tensor("weight", shape: [1]) }
    refusal { _ = try file.tensor("fc.weight", shape: [1]) }
    refusal { _ = try file.tensor("a", shape: [2]) }
    refusal { _ = try file.tensor("a", shape: [2, 3, 3, 3]) }
    refusal { _ = try file.tensor("a", shape: [2, 1, 3, 3]).floats() }
    refusal { _ = try SafetensorsFile(shards: [file, file], name: "index") }
  }

  /// A network whose weights, classes, precision or limits are those of another.
  @Test func aNetworkThatCannotBeMadeIsRefused() throws {
    let (configuration, weights) = try LightDetector.files(classes: ["a", "b"], rising: 0, falling: 1)
    let text = String(decoding: configuration, as: UTF8.self)
    func model(
      _ piece: String = "", _ other: String = "", _ weights: [UInt8] = weights, precision: Precision? = nil
    ) throws {
      let bytes = Array((piece.isEmpty ? text : text.replacing(piece, with: other)).utf8)
      let folder = try ModelFolder(configuration: bytes, weights: weights).computed(in: precision)
      _ = try Model(folder, threadCount: 1)
    }
    try model()
    let (_, one) = try LightDetector.files(classes: ["a", "b"], rising: 0, falling: 1, outputs: 3)
    refusal { try model("", "", one) }
    refusal { try model("efficientnet_lite0", "resnet18") }
    refusal { try model("efficientnet_lite0", "efficientnet_lite9") }
    refusal { try model("efficientnet_lite0", "convnext_tiny") }
    refusal { try model("\"male\"", "\"man\"") }
    refusal { try model(#","unknown"]"#, "]") }
    refusal { try model(precision: .int8) }
    refusal { try model("\"temperature\"", "\"precision\":\"int8\",\"temperature\"") }
  }

  @Test func aFolderIsRefused() throws {
    let files = try LightDetector.files(classes: ["a", "b"], rising: 0, falling: 1)
    func path(_ name: String, _ files: [String: [UInt8]]) -> String {
      for (file, bytes) in files { folder.write(bytes, to: "\(name)/\(file)") }
      return "\(folder.path)/\(name)"
    }
    let digest = String(repeating: "0", count: 64)
    let ensemble = #"{"format_version":1,"name":"e","version":"1","temperature":1,"members":[%]}"#
    for path in [
      "\(folder.path)/none", "timm/resnet18", path("empty", ["notes.txt": [1]]),
      path("run", ["net/config.json": files.configuration]),
      path("without", ["config.json": files.configuration]),
      path("checkpoint", ["config.json": files.configuration, "best.pth": [1]]),
      path("checkpoints", ["config.json": files.configuration, "a.pth": [1], "b.pth": [1]]),
      path("keras", ["net.h5": [1]]), path("archive", ["net.zip": [1]]),
      path("bin", ["pytorch_model.bin": [1]]),
      path("cache", ["snapshots/notes": [1]]),
      path("two", ["snapshots/a/config.json": [1], "snapshots/b/config.json": [1]]),
      path("other", ["snapshots/a/config.json": [1], "refs/main": [0x62]]), path("void", ["config.json": []]),
      path("files", ["config.json": [1]]) + "/config.json", path("onnx", ["a.onnx": [1]]) + "/a.onnx",
      path("tflite", ["a.tflite": [1]]) + "/a.tflite", path("engine", ["a.engine": [1]]) + "/a.engine",
      path("zip", ["a.zip": [0x50, 0x4B, 3, 4]]) + "/a.zip", path("pickle", ["a.pkl": [0x80, 2]]) + "/a.pkl",
      path("gz", ["a.gz": [0x1F, 0x8B]]) + "/a.gz", path("weights", ["a.bin": files.weights]) + "/a.bin",
      path("sums", ["config.json": files.configuration, "SHA256SUMS": Array("x".utf8)]),
      path("line", ["config.json": files.configuration, "SHA256SUMS": [0x0A]]),
      path(
        "sum", ["config.json": files.configuration, "SHA256SUMS": Array("\(digest)  config.json\n".utf8)]),
      path(
        "index",
        [
          "config.json": Array(Self.timm.utf8),
          "model.safetensors.index.json": Array(#"{"weight_map":{}}"#.utf8),
        ]),
      path(
        "shard",
        [
          "config.json": Array(Self.timm.utf8),
          "model.safetensors.index.json": Array(#"{"weight_map":{"a":"x/b"}}"#.utf8),
        ]),
      path("members", ["config.json": Array(ensemble.replacing("%", with: "").utf8)]),
      path(
        "member", ["config.json": Array(ensemble.replacing("%", with: #"{"folder":"..","weight":1}"#).utf8)]),
      path(
        "twice",
        [
          "config.json": Array(
            ensemble.replacing("%", with: #"{"folder":"a","weight":1},{"folder":"a","weight":1}"#).utf8)
        ]),
    ] {
      refusal { _ = try StoredModel(directory: path, architectures: Architecture.names) }
    }
  }

  /// Members that do not agree, and a map of several.
  @Test func anEnsembleIsRefused() throws {
    let member = try ModelConfiguration(parsing: Array(StandIn.configuration().utf8))
    for (piece, other) in [
      ("\"bkl\"", "\"xyz\""), ("\"size\": 40", "\"size\": 64"), ("0.485", "0.5"),
      ("0.229", "0.25"), ("\"mean\"", "\"interpolation\": \"bicubic\", \"mean\""),
      ("\"mean\"", "\"crop_mode\": \"center\", \"crop_pct\": 0.875, \"mean\""),
      ("\"color_constancy\": {\"method\": \"none\"}", "\"color_constancy\": \(StandIn.shadesOfGray)"),
      ("\"temperature\"", "\"task\": \"multilabel\", \"temperature\""),
    ] {
      let changed = StandIn.configuration().replacing(piece, with: other)
      let configuration = try ModelConfiguration(parsing: Array(changed.utf8))
      refusal { try configuration.requireAgreement(with: member) }
    }
  }

  @Test func aRemedyBeginsWithACapitalLetter() throws {
    let error = try #require(throws: DermaFusionError.self) { try StoredModel(directory: "timm/resnet18") }
    #expect(
      error.remedy.hasPrefix(
        "A model of the Hugging Face Hub is downloaded first: hf download timm/resnet18 "))
    let german = error.worded(in: .german)
    #expect(
      german.message
        == "timm/resnet18: Diesen Modellordner gibt es nicht; ein Modell aus dem Hugging Face Hub wird zuerst "
        + "heruntergeladen: hf download timm/resnet18 --local-dir resnet18, dann nennen Sie den Ordner resnet18"
    )
    #expect(german.remedy.hasPrefix("Ein Modell ") && german.remedy.hasSuffix("."))
    #expect(
      DermaFusionError.outOfRange(key: "temperature", value: "0", rule: "above 0").named("config.json")
        .worded(in: .french).message
        == "config.json\u{A0}: \"temperature\" est 0\u{A0}; il faut une valeur supérieure à 0")
  }
}
