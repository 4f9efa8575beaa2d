import Foundation
import ImagePipeline
import SystemModule
import Testing

@testable import Files

@Suite struct ModelConfigurationTests {
  static let valid = #"""
    {"format_version":1,"name":"Test","version":"1.0.0","architecture":"efficientnet_lite2","padding":"same",
     "batch_norm_epsilon":0.001,"classes":["akiec","bcc","bkl","df","mel","nv","vasc"],"temperature":1.25,
     "preprocessing":{"size":380,"color_constancy":{"method":"shades_of_gray","p":6,"rounding":"round"},
      "mean":[0.485,0.456,0.406],"std":[0.229,0.224,0.225]},
     "metadata":{"sexes":["male","female","unknown"],"sites":["abdomen","acral","back","chest","ear","face","foot",
      "genital","hand","lower extremity","neck","scalp","trunk","unknown","upper extremity"]},
     "fusion":{"sex_embedding_size":4,"site_embedding_size":8,"metadata_size":32,"hidden_size":256,
      "layer_norm_epsilon":1e-5},
     "training":{"anything":[1,{"at":"all"}]}}
    """#

  private func parse(_ text: String) throws -> ModelConfiguration {
    try ModelConfiguration(parsing: Array(text.utf8))
  }

  /// The valid configuration with one piece of its text replaced; the piece must occur once.
  private func parse(
    replacing piece: String, with replacement: String, _ place: SourceLocation = #_sourceLocation
  ) throws -> ModelConfiguration {
    let parts = Self.valid.components(separatedBy: piece)
    try #require(parts.count == 2, "the piece occurs \(parts.count - 1) times", sourceLocation: place)
    return try parse(parts.joined(separator: replacement))
  }

  private func expectError(
    _ error: DermaFusionError, replacing piece: String, with replacement: String,
    _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: error, sourceLocation: place) { try parse(replacing: piece, with: replacement, place) }
  }

  @Test func everyValueIsRead() throws {
    let configuration = try parse(Self.valid)
    #expect(configuration.name == "Test" && configuration.version == "1.0.0")
    #expect(configuration.architecture == "efficientnet_lite2")
    #expect(configuration.padding == .same)
    #expect(configuration.batchNormEpsilon == 0.001)
    #expect(configuration.classes == ModelConfiguration.ham10000Classes)
    #expect(configuration.temperature == 1.25)
    let preprocessing = configuration.preprocessing
    #expect(preprocessing.size == 380)
    #expect(preprocessing.colorConstancy == .shadesOfGray(p: 6, rounding: .round))
    #expect(preprocessing.mean == [0.485, 0.456, 0.406])
    #expect(preprocessing.standardDeviation == [0.229, 0.224, 0.225])
    #expect(
      configuration.fusion
        == .init(
          sexCount: 3, siteCount: 15, sexEmbeddingSize: 4, siteEmbeddingSize: 8, metadataSize: 32,
          hiddenSize: 256, layerNormEpsilon: 1e-5
        ))
  }

  @Test func whatMayBeLeftOut() throws {
    let fusion = Self.valid[
      Self.valid.range(of: #"{"sex_"#)!.lowerBound..<Self.valid.range(of: ",\n \"training")!.lowerBound]
    #expect(try parse(replacing: String(fusion), with: "null").fusion == nil)
    _ = try parse(replacing: #","# + "\n" + #" "training":{"anything":[1,{"at":"all"}]}"#, with: "")
    let constancy = #"{"method":"shades_of_gray","p":6,"rounding":"round"}"#
    #expect(
      try parse(replacing: constancy, with: #"{"method":"none"}"#).preprocessing.colorConstancy == .none)
    #expect(
      try parse(replacing: #""method":"shades_of_gray""#, with: #""method":"none""#).preprocessing
        .colorConstancy
        == .none)
  }

  /// Which of them there are, the network says.
  @Test func anArchitectureIsAName() throws {
    for name in ["efficientnet_b0", "convnext_tiny"] {
      #expect(try parse(replacing: "efficientnet_lite2", with: name).architecture == name)
    }
  }

  @Test func precision() throws {
    #expect(try parse(Self.valid).precision == .float32)
    for (name, precision) in [
      ("float32", Precision.float32), ("bfloat16", .bfloat16), ("int8", .int8),
    ] {
      let text = #""padding":"same","precision":"\#(name)""#
      #expect(try parse(replacing: #""padding":"same""#, with: text).precision == precision)
    }
    expectError(
      .unknownValue(key: "precision", value: "int4", allowed: ["float32", "bfloat16", "int8"]),
      replacing: #""padding":"same""#, with: #""padding":"same","precision":"int4""#)
  }

  @Test func notJSON() {
    #expect(throws: DermaFusionError.unexpectedEnd(offset: 0).inModel) { try parse("") }
    expectError(
      .duplicateKey("name", offset: 34).inModel, replacing: #""version":"1.0.0""#, with: #""name":"x""#)
  }

  @Test(arguments: ["[]", "1", "null", "\"x\""])
  func notAnObject(text: String) {
    #expect { try parse(text) } throws: { error in
      (error as? DermaFusionError)?.message.hasPrefix("\"the configuration\" must be an object, and is ")
        == true
    }
  }

  @Test(arguments: [
    ("format_version", "format_version"), ("name", "name"), ("version", "version"),
    ("architecture", "architecture"),
    ("padding", "padding"), ("batch_norm_epsilon", "batch_norm_epsilon"),
    ("temperature", "temperature"), ("preprocessing", "preprocessing"), ("size", "preprocessing.size"),
    ("color_constancy", "preprocessing.color_constancy"), ("method", "preprocessing.color_constancy.method"),
    ("p", "preprocessing.color_constancy.p"), ("rounding", "preprocessing.color_constancy.rounding"),
    ("mean", "preprocessing.mean"), ("std", "preprocessing.std"), ("metadata", "metadata"),
    ("sexes", "metadata.sexes"), ("sites", "metadata.sites"), ("fusion", "fusion"),
    ("sex_embedding_size", "fusion.sex_embedding_size"),
    ("site_embedding_size", "fusion.site_embedding_size"),
    ("metadata_size", "fusion.metadata_size"), ("hidden_size", "fusion.hidden_size"),
    ("layer_norm_epsilon", "fusion.layer_norm_epsilon"),
  ])
  func missingKeys(key: String, fullKey: String) {
    expectError(.missingKey(fullKey), replacing: "\"\(key)\":", with: "\"\(key)_\":")
  }

  @Test func withoutClassesTheyAreHAM10000s() throws {
    let list = #""classes":["akiec","bcc","bkl","df","mel","nv","vasc"],"#
    #expect(try parse(replacing: list, with: "") == parse(Self.valid))
  }

  @Test func unknownKeys() {
    expectError(.unknownKey("seed"), replacing: #""format_version":1"#, with: #""seed":1,"format_version":1"#)
    expectError(.unknownKey("preprocessing.crop"), replacing: #""size":380"#, with: #""crop":1,"size":380"#)
    expectError(
      .unknownKey("preprocessing.color_constancy.q"), replacing: #""p":6"#, with: #""p":6,"q":1"#)
    expectError(.unknownKey("metadata.ages"), replacing: #""sexes":"#, with: #""ages":[],"sexes":"#)
    expectError(
      .unknownKey("fusion.dropout"), replacing: #""hidden_size":256"#, with: #""hidden_size":256,"dropout":0"#
    )
  }

  @Test func wrongTypes() {
    expectError(
      .wrongType(key: "name", expected: "a string", found: "a number"), replacing: #""Test""#, with: "1")
    expectError(
      .wrongType(key: "preprocessing.size", expected: "an integer", found: "a string"), replacing: "380",
      with: #""380""#)
    expectError(
      .wrongType(key: "temperature", expected: "a number", found: "null"), replacing: "1.25", with: "null")
    expectError(
      .wrongType(key: "classes[1]", expected: "a string", found: "a number"), replacing: #""bcc""#, with: "1")
    expectError(
      .wrongType(key: "preprocessing.mean", expected: "an array", found: "a number"),
      replacing: "[0.485,0.456,0.406]", with: "0.5")
    expectError(
      .wrongType(key: "preprocessing.std[2]", expected: "a number", found: "a boolean"), replacing: "0.225",
      with: "true")
    expectError(
      .wrongType(key: "fusion", expected: "an object", found: "an array"),
      replacing: #""fusion":{"#, with: #""fusion":[],"x":{"#)
  }

  @Test(arguments: ["0", "2", "-1"])
  func otherFormatVersions(version: String) {
    #expect { try parse(replacing: #""format_version":1"#, with: #""format_version":\#(version)"#) } throws: {
      ($0 as? DermaFusionError)?.message.hasPrefix("\"format_version\" is \(version), and must be ") == true
    }
  }

  @Test(arguments: [
    ("380", "preprocessing.size", "31", "an integer in 32...2048"),
    ("380", "preprocessing.size", "2049", "an integer in 32...2048"),
    ("380", "preprocessing.size", "380.0", "an integer in 32...2048"),
    ("380", "preprocessing.size", "-380", "an integer in 32...2048"),
    ("0.485", "preprocessing.mean[0]", "2e6", "in -1e6...1e6"),
    ("0.229", "preprocessing.std[0]", "0", "in 1e-6...1e6"),
    ("0.229", "preprocessing.std[0]", "-0.1", "in 1e-6...1e6"),
    ("0.229", "preprocessing.std[0]", "1e-320", "in 1e-6...1e6"),
    ("0.485", "preprocessing.mean[0]", "1e999", "in -1e6...1e6"),
    ("0.001", "batch_norm_epsilon", "0", "above 0 and at most 1"),
    ("0.001", "batch_norm_epsilon", "-1e-3", "above 0 and at most 1"),
    ("1e-5", "fusion.layer_norm_epsilon", "0.0", "above 0 and at most 1"),
    ("1.25", "temperature", "0", "above 0, in 0.001...1000"),
    ("1.25", "temperature", "-1", "above 0, in 0.001...1000"),
    ("1.25", "temperature", "1e999", "above 0, in 0.001...1000"),
    (#""p":6"#, "preprocessing.color_constancy.p", "0", "in 1...100"),
    (#""p":6"#, "preprocessing.color_constancy.p", "101", "in 1...100"),
    ("256", "fusion.hidden_size", "0", "an integer in 1...65536"),
    ("32,\"hidden", "fusion.metadata_size", "65537", "an integer in 1...65536"),
  ])
  func numbersOutOfRange(piece: String, key: String, value: String, rule: String) {
    var replacement = value
    if piece.hasPrefix(#""p""#) { replacement = #""p":"# + value }
    if piece.hasSuffix("hidden") { replacement = value + ",\"hidden" }
    expectError(
      .outOfRange(key: key, value: value, rule: Sentence(rule)), replacing: piece, with: replacement)
  }

  @Test(arguments: ["32", "2048"])
  func boundsAreIncluded(size: String) throws {
    #expect(try parse(replacing: "380", with: size).preprocessing.size == Int(size))
  }

  @Test func choices() throws {
    expectError(
      .unknownValue(key: "padding", value: "valid", allowed: ["same", "symmetric"]), replacing: #""same""#,
      with: #""valid""#)
    expectError(
      .unknownValue(
        key: "preprocessing.color_constancy.rounding", value: "up", allowed: ["round", "truncate", "none"]),
      replacing: #""round""#, with: #""up""#)
    expectError(
      .unknownValue(
        key: "preprocessing.color_constancy.method", value: "gray_world", allowed: ["shades_of_gray", "none"]),
      replacing: "\"shades_of_gray\"", with: "\"gray_world\"")
    #expect(try parse(replacing: #""same""#, with: #""symmetric""#).padding == .symmetric)
    for rounding in PreprocessingConfiguration.Rounding.allCases {
      let constancy = try parse(replacing: #""round""#, with: "\"\(rounding.rawValue)\"").preprocessing
        .colorConstancy
      #expect(constancy == .shadesOfGray(p: 6, rounding: rounding))
    }
  }

  @Test func classes() throws {
    let list = #"["akiec","bcc","bkl","df","mel","nv","vasc"]"#
    for (count, text) in [
      (0, "[]"), (1001, "[\((0...1000).map { "\"c\($0)\"" }.joined(separator: ","))]"),
    ] {
      expectError(
        .wrongCount(key: "classes", expected: "2 to 1000 classes", found: count), replacing: list, with: text)
    }
    expectError(
      .invalidModel(
        #""classes" lists one class, and a model chooses among two or more; of a network with one output, dermafusion_training export makes two classes"#
      ), replacing: list, with: #"["mel"]"#)
    expectError(.duplicateClass("bcc"), replacing: #""vasc""#, with: #""bcc""#)
    expectError(.malformedText(key: "classes[6]"), replacing: #""vasc""#, with: #""""#)
    expectError(.malformedText(key: "name"), replacing: #""Test""#, with: #""a\nb""#)
    // Ids that are not exactly the known seven have no other names, and nothing is known of their malignancy.
    #expect(
      try parse(replacing: list, with: #"["mel","dog"]"#).classes == [
        .init(id: "mel", name: "mel", malignancy: nil), .init(id: "dog", name: "dog", malignancy: nil),
      ])
    let turned = #"["vasc","nv","mel","df","bkl","bcc","akiec"]"#
    #expect(try parse(replacing: list, with: turned).classes == ModelConfiguration.ham10000Classes.reversed())
  }

  @Test func describedClasses() throws {
    let list = #"["akiec","bcc","bkl","df","mel","nv","vasc"]"#
    func parse(_ text: String) throws -> [ModelConfiguration.Class] {
      try self.parse(replacing: list, with: text).classes
    }
    #expect(
      try parse(
        #"[{"class":"a","name":"A b","malignancy":"pre-malignant"},{"class":"B","malignancy":"benign"}]"#)
        == [
          .init(id: "a", name: "A b", malignancy: .preMalignant),
          .init(id: "B", name: "B", malignancy: .benign),
        ])
    #expect(
      try parse(#"[{"class":"a"},{"class":"b","name":"B"}]"#) == [
        .init(id: "a", name: "a", malignancy: nil), .init(id: "b", name: "B", malignancy: nil),
      ])
    for (text, error) in [
      (#"[{"class":"a"},{"class":"a"}]"#, .duplicateClass("a")),
      (
        #"[{"class":"a","malignancy":"benign"},{"class":"b"}]"#,
        .partialMalignancy(present: "a", missing: "b")
      ),
      (
        #"[{"class":"a"},{"class":"b","malignancy":"benign"}]"#,
        .partialMalignancy(present: "b", missing: "a")
      ),
      (
        #"[{"class":"a","malignancy":"bad"},{"class":"b"}]"#,
        .unknownValue(
          key: "classes[0].malignancy", value: "bad", allowed: ["malignant", "pre-malignant", "benign"])
      ),
      (#"[{"class":"a"},{"name":"B"}]"#, .missingKey("classes[1].class")),
      (#"[{"class":""},{"class":"b"}]"#, .malformedText(key: "classes[0].class")),
      (
        #"[{"class":"a","malignancy":null},{"class":"b"}]"#,
        .wrongType(key: "classes[0].malignancy", expected: "a string", found: "null")
      ),
      (#"[{"class":"a","risk":1},{"class":"b"}]"#, .unknownKey("classes[0].risk")),
      (#"["a",{"class":"b"}]"#, .wrongType(key: "classes[1]", expected: "a string", found: "an object")),
      (#"[{"class":"a"},"b"]"#, .wrongType(key: "classes[1]", expected: "an object", found: "a string")),
    ] as [(String, DermaFusionError)] {
      expectError(error, replacing: list, with: text)
    }
  }

  @Test func wrongCounts() {
    expectError(
      .wrongCount(key: "preprocessing.mean", expected: "3 numbers", found: 2), replacing: "0.485,0.456,0.406",
      with: "0.5,0.5")
    expectError(
      .wrongCount(key: "preprocessing.std", expected: "3 numbers", found: 4), replacing: "0.229,0.224,0.225",
      with: "1,1,1,1")
  }

  @Test func errorsAreOneLine() {
    let error = DermaFusionError.outOfRange(
      key: "preprocessing.size", value: "31", rule: "an integer in 32...2048"
    ).named("Weights/config.json")
    #expect(
      error.description
        == "Weights/config.json: \"preprocessing.size\" is 31, and must be an integer in 32...2048")
  }
}
