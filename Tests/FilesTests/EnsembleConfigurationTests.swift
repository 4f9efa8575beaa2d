import Foundation
import ImagePipeline
import SystemModule
import Testing

@testable import Files

@Suite struct EnsembleConfigurationTests {
  private static let valid = #"""
    {"format_version":1,"name":"Two","version":"1.0.0","temperature":1.5,
     "members":[{"folder":"lite0","weight":0.5},{"folder":"lite2","weight":2}],"training":{"a":1}}
    """#

  private func parse(_ text: String) throws -> EnsembleConfiguration? {
    try EnsembleConfiguration(parsing: Array(text.utf8))
  }

  @Test func everyValueIsRead() throws {
    let configuration = try #require(try parse(Self.valid))
    #expect(configuration.name == "Two" && configuration.version == "1.0.0")
    #expect(configuration.temperature == 1.5)
    #expect(
      configuration.members == [.init(folder: "lite0", weight: 0.5), .init(folder: "lite2", weight: 2)])
  }

  @Test func aSingleModelIsNoEnsembleAndAnEnsembleNoSingleModel() throws {
    #expect(try parse(ModelConfigurationTests.valid) == nil)
    #expect(throws: DermaFusionError.listsMembers) {
      try ModelConfiguration(parsing: Array(Self.valid.utf8))
    }
  }

  @Test func modelsOfSeveralLabelsDoNotVote() throws {
    let text = ModelConfigurationTests.valid.replacing(
      #""temperature""#, with: #""task":"multilabel","temperature""#)
    let member = try ModelConfiguration(parsing: Array(text.utf8))
    #expect(member.outputs == .multiLabel)
    let error = #expect(throws: DermaFusionError.self) { try member.requireAgreement(with: member) }
    #expect(error?.message.contains("multi-label") == true)
  }

  @Test(arguments: ["0", "-1", "1e7", "1e999", "9e-7"]) func weightsOutOfRange(weight: String) throws {
    #expect(
      throws: DermaFusionError.outOfRange(
        key: "members[1].weight", value: weight, rule: "in 1e-6...1e6")
    ) { try parse(Self.valid.replacing(#""weight":2"#, with: #""weight":\#(weight)"#)) }
  }

  private func members(_ folders: [String]) throws -> [String]? {
    let list = folders.map { #"{"folder":"\#($0)","weight":1}"# }.joined(separator: ",")
    let text = #"{"format_version":1,"name":"e","version":"2","temperature":1,"members":[\#(list)]}"#
    return try EnsembleConfiguration(parsing: Array(text.utf8))?.members.map(\.folder)
  }

  /// 400 members ended the process.
  @Test func anEnsembleHasAtMost32Members() throws {
    let folders = (0..<400).map { "m\($0)" }
    #expect(try members(Array(folders.prefix(32))) == Array(folders.prefix(32)))
    for count in [33, 400] {
      let error = DermaFusionError.wrongCount(key: "members", expected: "1 to 32 members", found: count)
      #expect(throws: error) { try members(Array(folders.prefix(count))) }
    }
  }

  /// A String takes them for equal; they are two folders.
  @Test func twoUnicodeFormsOfOneLetterAreTwoMembers() throws {
    let forms = ["\u{E9}", "e\u{301}"]
    #expect(forms[0] == forms[1])
    #expect(try members(forms)?.map { Array($0.utf8) } == forms.map { Array($0.utf8) })
    #expect(throws: DermaFusionError.duplicateMember(key: "members[1].folder", folder: forms[1])) {
      try members([forms[1], forms[1]])
    }
  }

  @Test func aWeightThatIsNoNumberIsNoJSON() throws {
    #expect {
      try parse(Self.valid.replacing(#""weight":2"#, with: #""weight":NaN"#))
    } throws: {
      ($0 as? DermaFusionError)?.message.hasPrefix("the JSON has ") == true
    }
  }

  @Test(arguments: [
    (#""weight":2"#, #""weigth":2"#, DermaFusionError.missingKey("members[1].weight")),
    (#""weight":2"#, #""weight":2,"x":1"#, .unknownKey("members[1].x")),
    (
      #""weight":2"#, #""weight":[2]"#,
      .wrongType(key: "members[1].weight", expected: "a number", found: "an array")
    ),
    (#""lite2""#, #""lite0""#, .duplicateMember(key: "members[1].folder", folder: "lite0")),
    (#""lite2""#, #""..""#, .notAPlainName(key: "members[1].folder", value: "..")),
    (#""lite2""#, #""."  "#, .notAPlainName(key: "members[1].folder", value: ".")),
    (#""lite2""#, #""/lite2""#, .notAPlainName(key: "members[1].folder", value: "/lite2")),
    (#""lite2""#, #""../lite2""#, .notAPlainName(key: "members[1].folder", value: "../lite2")),
    (#""lite2""#, #""a/b""#, .notAPlainName(key: "members[1].folder", value: "a/b")),
    (#""lite2""#, #""""#, .malformedText(key: "members[1].folder")),
    (
      #"{"folder":"lite0","weight":0.5},{"folder":"lite2","weight":2}"#, "",
      .wrongCount(key: "members", expected: "1 to 32 members", found: 0)
    ),
    (
      #"[{"folder":"lite0","weight":0.5},{"folder":"lite2","weight":2}]"#, "null",
      .wrongType(key: "members", expected: "an array", found: "null")
    ),
    (
      #"{"folder":"lite0","weight":0.5}"#, "3",
      .wrongType(key: "members[0]", expected: "an object", found: "a number")
    ),
    (#""training""#, #""classes""#, .unknownKey("classes")),
    (#""training""#, #""abstention""#, .unknownKey("abstention")),
    (
      #""temperature":1.5"#, #""temperature":0"#,
      .outOfRange(key: "temperature", value: "0", rule: "above 0, in 0.001...1000")
    ),
    (
      #""format_version":1"#, #""format_version":2"#,
      .outOfRange(key: "format_version", value: "2", rule: "1, the version this software reads")
    ),
  ])
  func whatBreaksARuleIsNamed(piece: String, replacement: String, error: DermaFusionError) throws {
    let parts = Self.valid.components(separatedBy: piece)
    try #require(parts.count == 2, "\(piece) occurs \(parts.count - 1) times")
    #expect(throws: error) { try parse(parts.joined(separator: replacement)) }
    #expect(!"\(error)".contains("\n"))
  }
}

extension StoredModel {
  fileprivate var ensemble: EnsembleFolder? { if case .ensemble(let folder) = self { folder } else { nil } }
}

@Suite struct EnsembleFolderTests {
  private static let model = ModelConfigurationTests.valid
  private static let weights = SafetensorsFileTests.mixed

  private static func ensemble(_ folders: [String]) -> [UInt8] {
    let members = folders.map { #"{"folder":"\#($0)","weight":1}"# }.joined(separator: ",")
    return Array(
      #"{"format_version":1,"name":"e","version":"2","temperature":1,"members":[\#(members)]}"#.utf8)
  }

  /// Calls the body with the path of an ensemble of `a` and `b`, whose configuration is this one.
  private func withEnsemble(_ second: String, _ body: (String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      for (name, configuration) in [("a", Self.model), ("b", second)] {
        try FileManager.default.createDirectory(
          atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
        try write(Array(configuration.utf8), to: "\(folder)/\(name)/config.json")
        try write(Self.weights, to: "\(folder)/\(name)/model.safetensors")
      }
      try write(Self.ensemble(["a", "b"]), to: "\(folder)/config.json")
      try body(folder)
    }
  }

  @Test func membersAreReadInTheirOrderFromAFolderOrFromBytes() throws {
    let second = Self.model.replacing("efficientnet_lite2", with: "efficientnet_b4")
      .replacing("1.25", with: "0.75")
    try withEnsemble(second) { path in
      for folder in [path, path + "/"] {
        let ensemble = try #require(try StoredModel(directory: folder).ensemble)
        #expect(ensemble.configurationPath == "\(path)/config.json")
        #expect(
          ensemble.members.map(\.configuration.architecture) == ["efficientnet_lite2", "efficientnet_b4"])
        #expect(ensemble.members[1].weights.name == "\(path)/b/model.safetensors")
      }
      let parts = [
        Self.ensemble(["a", "b"]), Array(Self.model.utf8), Self.weights, Array(second.utf8), Self.weights,
      ]
      let identity = SHA256.hexDigest(Array(parts.joined()))
      #expect(try StoredModel(directory: path).ensemble?.digest.sha256 == identity)
      let fromBytes = try EnsembleFolder(
        configuration: parts[0], members: ["b": (parts[3], parts[4]), "a": (parts[1], parts[2])])
      #expect(fromBytes.digest.sha256 == identity)
      #expect(fromBytes.members[1].weights.name == "b/model.safetensors")

      let configuration = try ModelConfiguration(directory: path)
      #expect(configuration.name == "e" && configuration.version == "2" && configuration.temperature == 1)
      #expect(configuration.preprocessing == ensemblePreprocessing)
      #expect(configuration.architecture == "efficientnet_lite2 + efficientnet_b4")
      #expect(try ModelConfiguration(directory: path + "/b").temperature == 0.75)
      #expect(try StoredModel(directory: path + "/a").ensemble == nil)
    }
  }

  private var ensemblePreprocessing: PreprocessingConfiguration? {
    try? ModelConfiguration(parsing: Array(Self.model.utf8)).preprocessing
  }

  @Test(arguments: [
    (
      #""vasc""#, #""scc""#, "classes", "akiec, bcc, bkl, df, mel, nv, scc",
      "akiec, bcc, bkl, df, mel, nv, vasc"
    ),
    ("380", "260", "preprocessing.size", "260", "380"),
    (
      #""p":6"#, #""p":5"#, "preprocessing.color_constancy",
      "shades_of_gray with p 5.0 and rounding round", "shades_of_gray with p 6.0 and rounding round"
    ),
    (
      #""shades_of_gray""#, #""none""#, "preprocessing.color_constancy", "none",
      "shades_of_gray with p 6.0 and rounding round"
    ),
    ("0.485", "0.5", "preprocessing.mean", "[0.5, 0.456, 0.406]", "[0.485, 0.456, 0.406]"),
    ("0.225", "1", "preprocessing.std", "[0.229, 0.224, 1.0]", "[0.229, 0.224, 0.225]"),
  ])
  func membersThatCannotVoteTogetherAreNamed(
    piece: String, replacement: String, key: String, found: String, first: String
  ) throws {
    try withEnsemble(Self.model.replacing(piece, with: replacement)) { path in
      let error = DermaFusionError.unlikeFirstMember(key: key, found: found, first: first).named(
        "\(path)/b/config.json")
      #expect(throws: error) { try StoredModel(directory: path) }
      #expect(throws: error) { try ModelConfiguration(directory: path) }
      #expect(
        "\(error)"
          == "\(path)/b/config.json: \"\(key)\" is \(found), and must be \(first), as in the ensemble's first member"
      )
    }
  }

  @Test func whatIsMissingIsNamed() throws {
    try withEnsemble(Self.model) { path in
      try FileManager.default.removeItem(atPath: "\(path)/b/model.safetensors")
      #expect(throws: DermaFusionError.fileMissing(name: "model.safetensors", folder: "\(path)/b")) {
        try StoredModel(directory: path)
      }
      try FileManager.default.removeItem(atPath: "\(path)/b/config.json")
      #expect(throws: DermaFusionError.fileMissing(name: "config.json", folder: "\(path)/b")) {
        try StoredModel(directory: path)
      }
      try FileManager.default.removeItem(atPath: "\(path)/b")
      #expect(throws: DermaFusionError.folderMissing(path: "\(path)/b")) { try StoredModel(directory: path) }
      #expect(throws: DermaFusionError.folderMissing(path: "\(path)/b")) {
        try ModelConfiguration(directory: path)
      }
    }
    #expect(throws: DermaFusionError.folderMissing(path: "b")) {
      try EnsembleFolder(
        configuration: Self.ensemble(["a", "b"]), members: ["a": (Array(Self.model.utf8), Self.weights)])
    }
  }

  @Test func anEnsembleIsNeitherAMemberNorASingleModel() throws {
    try withEnsemble(String(decoding: Self.ensemble(["c"]), as: UTF8.self)) { path in
      let nested = DermaFusionError.listsMembers.named("\(path)/b/config.json")
      #expect(throws: nested) { try StoredModel(directory: path) }
      #expect(throws: nested) { try ModelConfiguration(directory: path) }
      let error = DermaFusionError.listsMembers.named("\(path)/config.json")
      #expect(throws: error) { try ModelFolder(directory: path) }
      #expect(
        "\(error)" == """
          \(path)/config.json: the key "members" makes this an ensemble, and a single model is required here, such as \
          one of its members
          """)
    }
  }
}
