import Foundation
import ImagePipeline
import TestFiles
import TestModels
import Testing

@testable import DermaFusion
@testable import Files

/// Texts that anybody may have written, with a number that nobody expects in the place of each of their numbers: every one is
/// an error or an answer, never a trap.
@Suite struct StoredNumberTests {
  private static let numbers = [
    "1e39", "-1e39", "1e308", "-1e400", "NaN", "Infinity", "0", "-0", "5e-324", "1e-400", "0.5", "-1",
    "9223372036854775807", "9223372036854775808", "1" + String(repeating: "0", count: 400),
  ]
  /// Those that Float32 has no value for.
  private static let beyond = ["1e39", "-1e39", "1e308", "-1e400", "NaN", "Infinity"]

  /// The text with one number replaced, for each number and each replacement.
  private static func replacing(
    _ text: String, with numbers: [String] = numbers
  ) throws -> [(place: String, number: String, text: String)] {
    let whole = try JSONParser.parse(Array(text.utf8))
    var found: [(String, String, String)] = []
    func walk(_ value: JSONValue, _ place: String, _ rebuild: (JSONValue) -> JSONValue) {
      switch value {
      case .number:
        for number in numbers {
          found.append((place, number, rebuild(.number(JSONNumber(literal: number))).text))
        }
      case .array(let elements):
        for index in elements.indices {
          walk(elements[index], "\(place)[\(index)]") { new in
            var changed = elements
            changed[index] = new
            return rebuild(.array(changed))
          }
        }
      case .object(let object):
        for (index, member) in object.members.enumerated() {
          walk(member.value, "\(place).\(member.key)") { new in
            var changed = object
            changed.members[index] = .init(key: member.key, value: new)
            return rebuild(.object(changed))
          }
        }
      default: break
      }
    }
    walk(whole, "") { $0 }
    return found.map { (place: $0.0, number: $0.1, text: $0.2) }
  }

  private static let image = PixelImage(
    width: 47, height: 41, pixels: (0..<47 * 41 * 3).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 / 141 * 5) }
  )

  /// Reads each text; an answer is told in every form, with a map.
  private func expectAnswersOrErrors(
    _ text: String, numbers: [String] = numbers, _ load: (String) throws -> Classifier
  ) throws {
    var answered = 0
    for (place, number, changed) in try Self.replacing(text, with: numbers) {
      do {
        let answer = try load(changed).explain(Self.image)
        #expect(!answer.classification.summary.isEmpty)
        #expect(!answer.classification.json(imageName: place).isEmpty)
        #expect(
          answer.classification.probabilities.values.allSatisfy { (0...1).contains($0) }, "\(place) \(number)"
        )
        answered += 1
      } catch let error as DermaFusionError {
        #expect(!error.message.contains("\n") && error.message.count < 600, "\(place) \(number): \(error)")
      }
    }
    #expect(answered > 0, "a number that means nothing to the network, or one in its range")
  }

  // MARK: config.json

  private static let models = Result { try makeModels() }

  /// A network with a head for metadata, limits and sets; and one without, whose classes are those of `timm`.
  private static func makeModels() throws -> (
    ours: (text: String, weights: [UInt8]), timm: (text: String, weights: [UInt8])
  ) {
    let (formula, configuration) = try #require(
      FormulaNetwork.all().first { $0.network.name == "efficientnet_lite0" })
    var object = try #require(
      try JSONSerialization.jsonObject(with: Data(configuration)) as? [String: Any])
    var preprocessing = try #require(object["preprocessing"] as? [String: Any])
    preprocessing["size"] = 64
    preprocessing["crop_mode"] = "border"
    preprocessing["crop_pct"] = 0.9
    object["preprocessing"] = preprocessing
    object["abstention"] = [
      "quality": [
        "minimum_brightness": 1, "maximum_brightness": 250, "minimum_contrast": 0.5,
        "minimum_sharpness": 0.01,
        "minimum_structure": 0.01, "maximum_green": 0.9, "minimum_color_variety": 0.1, "minimum_warmth": -99,
      ],
      "distance": ["stage": 3, "threshold": 2.5, "outer_tenth": 1.5],
      "conformal": ["coverage": 0.9, "thresholds": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]],
    ]
    let channels = 80
    var tensors = formula.shapes.map { ($0.key, $0.value, FormulaNetwork.tensor($0.key, shape: $0.value)) }
    tensors.append(("abstention.means", [7, channels], [Float](repeating: 0.5, count: 7 * channels)))
    tensors.append(
      ("abstention.whitening", [channels, channels], [Float](repeating: 0.01, count: channels * channels)))
    let ours = String(
      decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    let timm = """
      {"architecture": "efficientnet_lite0", "num_classes": 2, "num_features": 1280, "global_pool": "avg",
       "label_names": ["dark", "light"], "model_args": {"in_chans": 3, "num_classes": 2, "drop_rate": 0.2},
       "pretrained_cfg": {"input_size": [3, 64, 64], "test_input_size": [3, 96, 96], "crop_pct": 0.875, "crop_mode": "squash",
        "mean": [0.485, 0.456, 0.406], "std": 0.229, "interpolation": "bilinear", "pool_size": [7, 7]}}
      """
    return (
      (ours, safetensors(tensors)),
      (timm, try LightDetector.files(classes: ["dark", "light"], rising: 1, falling: 0).weights)
    )
  }

  @Test func aConfigurationOfOursIsRefusedOrAnswers() throws {
    let model = try Self.models.get().ours
    _ = try Classifier(configuration: Array(model.text.utf8), weights: model.weights).explain(Self.image)
    try expectAnswersOrErrors(model.text) {
      try Classifier(configuration: Array($0.utf8), weights: model.weights, threadCount: 2)
    }
  }

  @Test func aConfigurationOfTimmIsRefusedOrAnswers() throws {
    let model = try Self.models.get().timm
    _ = try Classifier(configuration: Array(model.text.utf8), weights: model.weights).explain(Self.image)
    try expectAnswersOrErrors(model.text) {
      try Classifier(configuration: Array($0.utf8), weights: model.weights, threadCount: 2)
    }
  }

  @Test func anEnsemblesConfigurationIsRefusedOrAnswers() throws {
    let folder = TemporaryFolder()
    for (name, rising) in [("a", 1), ("b", 0)] {
      let files = try LightDetector.files(classes: ["dark", "light"], rising: rising, falling: 1 - rising)
      folder.write(files.configuration, to: "\(name)/config.json")
      folder.write(files.weights, to: "\(name)/model.safetensors")
    }
    let text = """
      {"format_version": 1, "name": "e", "version": "1", "temperature": 1.5,
       "members": [{"folder": "a", "weight": 0.25}, {"folder": "b", "weight": 2}]}
      """
    for (place, number, changed) in try Self.replacing(text) {
      folder.write(changed, to: "config.json")
      do {
        let answer = try Classifier(modelDirectory: folder.path, threadCount: 2).classify(Self.image)
        #expect(!answer.summary.isEmpty && !Self.beyond.contains(number), "\(place) \(number)")
      } catch {
        #expect(!error.message.contains("\n"), "\(place) \(number): \(error)")
      }
    }
  }

  /// A number of a configuration that the engine would take for an infinity names its key.
  @Test(arguments: ["abstention.quality.minimum_contrast", "abstention.distance.threshold"])
  func aNumberBeyondFloat32IsNamed(key: String) throws {
    let text = try Self.models.get().ours.text
    for number in ["1e39", "1e308"] {
      let changed = try #require(
        Self.replacing(text, with: [number]).first { $0.place == "." + key }, "\(key)")
      let error = #expect(throws: DermaFusionError.self) {
        _ = try ModelConfiguration(parsing: Array(changed.text.utf8))
      }
      #expect(error?.message.hasPrefix("\"\(key)\" is \(number), and must be ") == true, "\(error!)")
    }
  }

  // MARK: Results

  private static func result() -> Classification {
    let labels = Labels.ham10000
    let set = Abstention.ConformalSet(classes: [labels[5], labels[4]], coverage: 0.9)
    return Classification(
      logits: ClassScores([-1, 0.25, 1e-7, -3.5, 1.5, 2.5, -2], labels: labels), temperature: 1.25,
      metadata: try! PatientMetadata(ageInYears: 61.5, sex: .female, site: .ear), warnings: [.smallImage],
      imageSHA256: String(repeating: "0af1", count: 16),
      model: ModelIdentity(name: "m", version: "1.2.3", sha256: String(repeating: "0af1", count: 16)),
      abstention: Abstention(reasons: [], conformalSet: set))
  }

  @Test func aResultOfAHistoryIsRefusedOrRead() throws {
    let text = JSONValue.object([
      "classes": .array(Labels.ham10000.map { $0.json }),
      "result": .object(Self.result().members(imageName: "a.jpg")),
    ]).text
    _ = try ImportedResult(json: Array(text.utf8)) { _ in nil }
    for (place, number, changed) in try Self.replacing(text) {
      do {
        let stored = try ImportedResult(json: Array(changed.utf8)) { _ in nil }
        #expect(!stored.json.text.isEmpty && !stored.classification.summary.isEmpty)
        #expect(!Self.beyond.contains(number), "\(place) is \(number)")
      } catch {
        #expect(!error.message.contains("\n") && error.message.count < 600, "\(place) \(number): \(error)")
      }
    }
  }

  /// Values that Swift decodes, from a decoder that knows NaN and the infinities.
  @Test func aResultThatSwiftDecodesIsRefusedOrRead() throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    let text = String(decoding: try JSONEncoder().encode(Self.result()), as: UTF8.self)
    #expect(try decoder.decode(Classification.self, from: Data(text.utf8)) == Self.result())
    let numbers = Self.numbers.map { Double($0)?.isFinite == true || $0.hasPrefix("1e") ? $0 : "\"\($0)\"" }
    for (place, number, changed) in try Self.replacing(text, with: numbers + ["1e30", "0.4"]) {
      guard let read = try? decoder.decode(Classification.self, from: Data(changed.utf8)) else { continue }
      #expect(!read.summary.isEmpty && !read.json(imageName: "x").isEmpty && read.confidence == .normal)
      #expect(read.probabilities.values.allSatisfy { (0...1).contains($0) }, "\(place) is \(number)")
      #expect(read.logits.values.allSatisfy { $0.isFinite }, "\(place) is \(number)")
      #expect(abs(read.probabilities.values.reduce(0, +) - 1) < 1e-3, "\(place) is \(number)")
    }
  }

  @Test func setsAndReasonsThatNoModelGivesAreNotDecoded() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    func text(_ value: some Encodable) throws -> String {
      String(decoding: try encoder.encode(value), as: UTF8.self)
    }
    let (whole, nv, mel) = try (text(Self.result()), text(LesionLabel.nv), text(LesionLabel.mel))
    for (from, to) in [
      ("[\(nv),\(mel)]", "[]"), ("[\(nv),\(mel)]", "[\(nv),\(nv)]"),
      ("[\(nv),\(mel)]", "[\(nv.replacing("nv", with: "moon"))]"),
      ("\"reasons\":[]", "\"reasons\":[\"blurred\",\"blurred\"]"), ("\"coverage\":0.9", "\"coverage\":1.5"),
    ] {
      let changed = whole.replacing(from, with: to)
      try #require(changed != whole, "\(from) is not in \(whole)")
      #expect(throws: DecodingError.self, "\(to)") {
        try JSONDecoder().decode(Classification.self, from: Data(changed.utf8))
      }
    }
  }

  /// Bytes changed, left out and put in at places that a seed chooses, those of numbers most often.
  @Test func aResultWithChangedBytesIsRefusedOrRead() throws {
    let text = JSONValue.object([
      "classes": .array(Labels.ham10000.map { $0.json }),
      "result": .object(Self.result().members(imageName: "a.jpg")),
    ]).text
    let pieces = [
      "-", ".", "e", "9", "0", "e38", "e-46", "1e39", "null", "\"", ",", "}", "[", "\u{0}", "\\u0000", "é",
    ]
    for seed in 0..<4000 {
      var generator = SplitMix64(seed: UInt64(seed))
      var bytes = Array(text.utf8)
      let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
      for _ in 0...generator.index(below: 3) {
        let place = min(digits[generator.index(below: digits.count)], bytes.count - 1)
        let piece = Array(pieces[generator.index(below: pieces.count)].utf8)
        bytes.replaceSubrange(place..<place + generator.index(below: 2), with: piece)
      }
      do {
        let stored = try ImportedResult(json: bytes) { _ in nil }
        #expect(!stored.json.text.isEmpty && !stored.classification.summary.isEmpty, "seed \(seed)")
      } catch {
        #expect(!error.message.contains("\n") && error.message.count < 700, "seed \(seed): \(error)")
      }
    }
  }

  // MARK: Weights

  @Test func aHeaderOfWeightsIsRefusedOrRead() throws {
    let header = """
      {"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"F16","shape":[],"data_offsets":[24,26]},
      "c":{"dtype":"I8","shape":[0,7],"data_offsets":[26,26]}}
      """
    func file(_ header: String) -> [UInt8] {
      let count = UInt64(header.utf8.count)
      return (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + Array(header.utf8)
        + [UInt8](repeating: 0, count: 26)
    }
    #expect(try SafetensorsFile(bytes: file(header)).tensors.count == 3)
    for (place, number, changed) in try Self.replacing(header) {
      do {
        for tensor in try SafetensorsFile(bytes: file(changed)).tensors { _ = try tensor.floats() }
        #expect(!Self.beyond.contains(number), "\(place) is \(number)")
      } catch {
        #expect(!error.message.contains("\n") && error.message.count < 600, "\(place) \(number): \(error)")
      }
    }
  }
}
