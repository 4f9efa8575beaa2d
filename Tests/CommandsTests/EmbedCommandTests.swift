import Files
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation

/// `embed` on a network whose first feature is the logit of its class of light.
@Suite struct EmbedCommandTests {
  static let classifier = try! LightDetector.classifier()

  let folder = TemporaryFolder()

  private func embed(
    _ words: [String], input: [UInt8] = [], streams: Set<String> = [], showsProgress: Bool = false
  ) -> ToolResult {
    runTool(
      words: ["embed"] + words, input: input, showsProgress: showsProgress, streams: streams,
      classifier: Self.classifier)
  }

  /// The rows of an array of `<f4` with two extents.
  private func rows(_ file: [UInt8]?) throws -> [[Float]] {
    let file = try #require(file)
    let start = 10 + Int(file[8]) + Int(file[9]) << 8
    let header = String(decoding: file[10..<start], as: UTF8.self)
    let shape = try #require(header.firstMatch(of: /'shape': \((\d+), (\d+)\)/))
    #expect(header.contains("'descr': '<f4', 'fortran_order': False"))
    let (count, channels) = try (#require(Int(shape.1)), #require(Int(shape.2)))
    try #require(file.count - start == count * channels * 4, "\(header)")
    let values = file[start...].withUnsafeBytes { bytes in
      (0..<count * channels).map {
        Float(bitPattern: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
      }
    }
    return (0..<count).map { row in Array(values[row * channels..<(row + 1) * channels]) }
  }

  /// The features of a network that timm saved without its last layer are those of the whole network.
  @Test func aNetworkWithoutALastLayerHasTheSameFeatures() throws {
    let (own, weights) = try LightDetector.files(classes: ["a", "b"], rising: 0, falling: 1)
    let size = try Classifier(configuration: own, weights: weights).configuration.preprocessing.size
    let (start, layer) = (8 + weights[..<8].reversed().reduce(0) { $0 << 8 | Int($1) }, "classifier.")
    var header = JSONObject()
    if case .object(let object) = try JSONParser.parse(Array(weights[8..<start])) { header = object }
    let kept = header.members.filter { !$0.key.hasPrefix(layer) }
    let text = JSONValue.object(kept.map { ($0.key, $0.value) }).text
    try #require(kept.count == header.members.count - 2)
    // The last layer lies behind all others.
    let end = kept.compactMap { member -> Int? in
      guard case .object(let entry) = member.value, case .array(let ends)? = entry["data_offsets"],
        case .number(let number)? = ends.last
      else { return nil }
      return number.integer
    }.max()
    let length = withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian, Array.init)
    let headless = length + Array(text.utf8) + weights[start..<start + (try #require(end))]
    func configuration(_ count: Int, _ more: String = "") -> String {
      #"{"architecture": "tf_efficientnet_lite0", "num_classes": \#(count), "num_features": 1280, "model_args": {"num_classes": \#(count)}, \#(more)"#
        + #""pretrained_cfg": {"input_size": [3, \#(size), \#(size)], "classifier": "classifier"}}"#
    }
    folder.write(configuration(2, #""label_names": ["a", "b"], "#), to: "whole/config.json")
    folder.write(weights, to: "whole/model.safetensors")
    folder.write(configuration(0), to: "headless/config.json")
    folder.write(headless, to: "headless/model.safetensors")
    let image = folder.write(pnm(seed: 7), to: "a.ppm")
    var found: [[[Float]]] = []
    for model in ["whole", "headless"] {
      let result = runProgramTool(
        ["embed", image, "--model", "\(folder.path)/\(model)", "--output", "\(folder.path)/\(model).npy"])
      #expect(result.status == .success, "\(result.errors)")
      found.append(try rows(folder.contents(of: "\(model).npy")))
    }
    #expect(found[0] == found[1] && found[0][0].count == 1280)
    let refused = runProgramTool(["classify", image, "--model", folder.path + "/headless"])
    let reason =
      #""num_classes" is 0: the model has no classes, because its network was saved without a last layer; embed writes its features"#
    let line = "Error: \(folder.path)/headless/config.json: \(reason)\n"
    #expect(refused.status == .failure && refused.errors == line, "\(refused.errors)")
    for words in [["gradcam", image], ["report", image, "--output", folder.path + "/r.html"], ["bench"]] {
      let result = runProgramTool(words + ["--model", folder.path + "/headless"])
      #expect(result.errors == line, "\(result.errors)")
    }
    let told = runProgramTool(["info", "--model", folder.path + "/headless"])
    #expect(told.status == .success && told.output.contains("none: the network has no last layer"))
    #expect(throws: DermaFusionError.self) { try Classifier(modelDirectory: folder.path + "/headless") }
  }

  /// Runs a command with the models that its folders hold.
  private func runProgramTool(_ words: [String]) -> ToolResult {
    runTool(words: words, environment: [:], loading: loadingFolders)
  }

  @Test func aRowForEachImageInTheOrderGivenAndNoneForOneThatFails() throws {
    let images = [7, 0, 21].map { pnm(seed: $0) }
    let b = folder.write(images[0], to: "b.v2.ppm")
    let missing = folder.path + "/none.ppm"
    let text = folder.write("hello", to: "text.ppm")
    folder.write(images[1], to: "sub/z.ppm")
    let a = folder.write(images[2], to: "a.ppm")
    let result = embed(
      [b, missing, folder.path + "/sub", text, a, "--output", folder.path + "/f.npy", "--ids"]
        + [folder.path + "/f.csv"])
    #expect(result.status == .failure && result.output == "")
    let errors = result.errors.split(separator: "\n")
    #expect(errors.count == 2, "\(result.errors)")
    #expect(errors.first == "Error: \(missing): no such file or folder")
    #expect(errors.last?.hasPrefix("Error: \(text): not a PNG") == true)
    #expect(
      folder.text(of: "f.csv")
        == "image_id,image\nb.v2,\(b)\nz,\(folder.path)/sub/z.ppm\na,\(a)\n")
    let rows = try rows(folder.contents(of: "f.npy"))
    try #require(rows.count == 3)
    for (row, image) in zip(rows, images) {
      let logits = try Self.classifier.classify(encodedImage: image).logits
      #expect(row.count == 1280)
      #expect(row[0] > 0 && row[0] == logits.values[5] && row[0] == -logits.values[4])
      #expect(row.dropFirst().allSatisfy { $0 == 0 })
    }
    #expect(Set(rows.map { $0[0] }).count == 3)
  }

  @Test func theNumberOfThreadsAndTheOtherImagesDoNotChangeARow() throws {
    let images = (0..<5).map { folder.write(pnm(seed: $0 * 20), to: "\($0).ppm") }
    #expect(embed(images + ["--output", folder.path + "/all.npy"]).status == .success)
    let all = try rows(folder.contents(of: "all.npy"))
    for (image, row) in zip(images, all) {
      let alone = embed([image, "--output", "-"], streams: ["-"])
      #expect(alone.status == .success && alone.errors == "")
      #expect(try rows(alone.outputBytes) == [row])
    }
  }

  @Test func filesAreReplacedTogetherOrNotAtAll() throws {
    let (array, table) = (folder.write("old", to: "f.npy"), folder.write("old", to: "f.csv"))
    let words = ["--output", array, "--ids", table]
    let image = folder.write(pnm(), to: "a.ppm")
    #expect(embed([folder.path + "/none.ppm"] + words).status == .failure)
    #expect(embed([image, "--output", array, "--ids", array]).status == .usage)
    #expect(embed([image, "--output", image]).status == .usage)
    #expect(embed([image, "--output", array, "--ids", folder.path + "/none/f.csv"]).status == .failure)
    #expect(folder.contents(of: "f.npy") == Array("old".utf8))
    #expect(folder.contents(of: "f.csv") == Array("old".utf8))
    #expect(folder.contents(of: "a.ppm") == pnm())
    #expect(embed([image] + words).status == .success)
    #expect(try rows(folder.contents(of: "f.npy")).count == 1)
    #expect(folder.contents(of: "f.csv") == Array("image_id,image\na,\(image)\n".utf8))
  }

  @Test func aPersonIsToldWhatWasWritten() {
    let path = folder.path + "/f.npy"
    let words = ["-", folder.path + "/none.ppm", "--output", path]
    let told = embed(words, input: pnm(), showsProgress: true)
    #expect(told.errors.hasSuffix("\(path): 1 image, 1280 features each. 1 failed.\n"), "\(told.errors)")
    let quiet = embed(words + ["--quiet"], input: pnm(), showsProgress: true)
    #expect(quiet.errors == "Error: \(folder.path)/none.ppm: no such file or folder\n")
    #expect(embed(["a.ppm"]).errors.hasPrefix("Error: Missing expected option '--output <file.npy>'\n"))
  }
}
