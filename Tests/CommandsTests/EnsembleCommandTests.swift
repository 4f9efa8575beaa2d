import Foundation
import ImageFiles
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import Files
@testable import ImagePipeline

/// Every command on an ensemble's folder.
@Suite struct EnsembleCommandTests {
  let folder = TemporaryFolder()
  let model: String

  static let configuration = """
    {"format_version":1,"name":"pair","version":"0.2.0","temperature":1,
     "members":[{"folder":"seeing","weight":3},{"folder":"knowing","weight":0.5}]}
    """

  init() {
    folder.write(Self.configuration, to: "pair/config.json")
    folder.write(toyConfiguration(usesMetadata: false), to: "pair/seeing/config.json")
    folder.write(toyConfiguration(usesMetadata: true), to: "pair/knowing/config.json")
    model = folder.path + "/pair"
  }

  static func ensemble(of members: [Model], in folder: String) throws -> Classifier {
    let parsed = try #require(try EnsembleConfiguration(parsing: Array(configuration.utf8)))
    return Classifier(
      Ensemble(
        parsed, file: folder + "/config.json", models: members,
        sha256: { String(repeating: "89abcdef", count: 8) }))
  }

  static func toyEnsemble(threadCount: Int, in folder: String = "") throws -> Classifier {
    let members = try [false, true].map {
      try toyModel(threadCount: threadCount, usesMetadata: $0)
    }
    return try ensemble(of: members, in: folder)
  }

  /// Runs a command with an ensemble in the place of what lies in the folder.
  func run(_ words: [String], loading: Classifier? = nil) -> ToolResult {
    runTool(words: words + ["--model", model], environment: [:]) { folder, threadCount, _ in
      try loading ?? Self.toyEnsemble(threadCount: threadCount ?? 2, in: folder)
    }
  }

  @Test(arguments: [[], ["--tta"]] as [[String]]) func classifyGivesTheVoteOfEachImage(options: [String])
    throws
  {
    let paths = (0..<3).map { folder.write(pnm(seed: $0 * 5), to: "\($0).ppm") }
    let result = run(["classify"] + paths + ["--age", "55", "--format", "json"] + options)
    #expect(result.status == .success && result.errors == "")
    let classifier = try Self.toyEnsemble(threadCount: 1)
    let metadata = try PatientMetadata(ageInYears: 55)
    let expected = try paths.enumerated().map { index, path in
      try classifier.classify(
        encodedImage: pnm(seed: index * 5), metadata: metadata,
        views: options.isEmpty ? .upright : .symmetries
      ).json(imageName: path)
    }
    #expect(result.output == expected.joined(separator: "\n") + "\n")
    #expect(
      result.output.contains("\"model\":{\"name\":\"pair\",\"version\":\"0.2.0\",\"sha256\":\"89abcdef"))
    #expect(!result.output.contains("metadata_unused"))
    #expect(result.output.contains("\"abstain\":false,\"abstainReasons\":[],\"conformalSet\":null,"))
    for format in ["text", "csv"] {
      let other = run(["classify"] + paths + ["--format", format] + options)
      #expect(other.status == .success && other.output.contains(Wording.disclaimer))
    }
  }

  @Test func explainMetadataGivesTheLogitsOfTheVote() throws {
    let detector = try GradCAMCommandTests.classifier.singleModel()
    let path = folder.write(pnm(width: 140, height: 130), to: "a.ppm")
    let result = run(
      ["classify", path, "--explain-metadata", "--format", "json"],
      loading: try Self.ensemble(of: [detector, detector], in: model))
    #expect(result.status == .success, "\(result.errors)")
    let object = try result.object()
    let shares = try #require(object["metadataShares"] as? [String: [String: Double]], "\(result.output)")
    let logits = try #require(object["logits"] as? [String: Double])
    #expect(shares["everything"] == logits && shares["imageAlone"] == logits)
  }

  @Test func evaluateLooksAtTheListsOfTheMembers() throws {
    for (index, label) in ["nv", "mel"].enumerated() {
      folder.write(pnm(seed: index), to: "images/\(label).ppm")
    }
    let labels = folder.write(
      EvaluateCommandTests.header + "nv,L1,nv,,,\nmel,L2,mel,,,\n", to: "labels.csv")
    let words = ["evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--format", "json"]
    let unknown = run(words)
    #expect(unknown.status == .success)
    #expect(unknown.output.contains("\"trainingList\":null"))
    let text = Array(words.dropLast(2))
    #expect(run(text).output.contains("Training list    none with the model: whether it was trained on"))

    folder.write("image_id,lesion_id,split\nx,L1,validation\n", to: "pair/seeing/training/split.csv")
    #expect(run(words).output.contains("\"trainingList\":null"))
    #expect(
      run(text).output.contains(
        "Training list    none with the member knowing: whether it was trained on these lesions is not known\n"
      ))
    folder.write("image_id,lesion_id,split\nx,L9,training\n", to: "pair/knowing/training/split.csv")
    #expect(run(words).output.contains("\"trainingList\":{\"trainingLesions\":0,\"validationLesions\":1}"))
    folder.write("image_id,lesion_id,split\nx,L2,training\n", to: "pair/knowing/training/split.csv")
    let refused = run(words)
    refused.expect(.failure, part: "the first of them 'L2' (\(model)/knowing/training/split.csv)")
    let allowed = run(words + ["--allow-training-lesions", "--tta"])
    #expect(allowed.output.contains("\"trainingList\":{\"trainingLesions\":1,\"validationLesions\":1}"))
  }

  @Test func infoShowsWhoVotes() throws {
    let text = run(["info"])
    #expect(text.status == .success)
    #expect(
      text.output.contains(
        """
        Architecture     efficientnet_lite2 + efficientnet_lite2
        Members          seeing: toy 0.0.1, weight 3
                         knowing: toy 0.0.1, weight 0.5
        Metadata         age, sex and site are used
        Abstention       no limits of its own: it abstains only from damaged pictures and from those of one colour, black, \
        white or without contrast, and answers pictures that show no skin and those without a dermatoscope too
        Preprocessing    48x48 pixels
        """), "\(text.output)")
    #expect(
      run(["info", "--format", "json"]).output.contains(
        """
        "usesMetadata":true,"temperature":1,"hasChecksums":false,"members":[\
        {"folder":"seeing","weight":3,"name":"toy","version":"0.0.1","architecture":"efficientnet_lite2",\
        "precision":"float32","usesMetadata":false,"temperature":1},\
        {"folder":"knowing","weight":0.5,"name":"toy","version":"0.0.1","architecture":"efficientnet_lite2",\
        "precision":"float32","usesMetadata":true,"temperature":1}]},"classes":
        """))
  }

  @Test func gradcamNamesTheFileAndTheMembers() {
    let result = run(["gradcam", folder.write(pnm(), to: "a.ppm"), "--output", "\(folder.path)/out.png"])
    result.expect(
      .failure,
      whole: """
        Error: \(model)/config.json: an activation map is of one network, and this is an ensemble; name the folder of \
        one of its members as the model (seeing, knowing)

        """)
    #expect(folder.contents(of: "out.png") == nil)
  }

  @Test func embedNamesTheFileAndTheMembers() {
    let result = run(["embed", folder.write(pnm(), to: "a.ppm"), "--output", "\(folder.path)/out.npy"])
    result.expect(
      .failure,
      whole: """
        Error: \(model)/config.json: features are of one network, and this is an ensemble; name the folder of one of its \
        members as the model (seeing, knowing)

        """)
    #expect(folder.contents(of: "out.npy") == nil)
  }

  @Test func calibrateNamesTheFolderAndTheRemedy() {
    let labels = folder.write("image_id,lesion_id,dx\na,L1,nv\n", to: "labels.csv")
    let result = run(
      ["calibrate", "--labels", labels, "--images", folder.path, "--output", "\(folder.path)/calibrated"])
    result.expect(
      .failure,
      whole: """
        Error: \(model): is an ensemble, which has no last layer of its own; please calibrate its members

        """)
    #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/calibrated"))
  }

  @Test func benchNamesTheFileAndTheRule() {
    let result = run(["bench"])
    result.expect(
      .failure,
      whole: """
        Error: \(model)/config.json: the key "members" makes this an ensemble, and a single model is required here, \
        such as one of its members

        """)
  }

  @Test func noFileOfAMemberIsOverwritten() {
    let image = folder.write(pnm(), to: "image.ppm")
    let configuration = "\(model)/knowing/config.json"
    let before = folder.contents(of: "pair/knowing/config.json")
    let result = run(["preprocess", image, "--stage", "resized", "--output", configuration])
    result.expect(
      .usage,
      "Error: '\(configuration)' is a file of the model, and '--output <file.npy>' would replace it.\n")
    #expect(folder.contents(of: "pair/knowing/config.json") == before)
  }

  @Test func preprocessIsThatOfEveryMember() {
    let image = folder.write(pnm(), to: "a.ppm")
    func array(_ model: String) -> [UInt8]? {
      let path = "\(folder.path)/\(UUID().uuidString).npy"
      let result = runTool(
        "preprocess", image, "--stage", "normalized", "--output", path, "--model", model)
      #expect(result.status == .success, "\(result.errors)")
      return FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }
    let own = array(model)
    #expect(own != nil)
    #expect(own == array(model + "/knowing"))

    folder.write(
      toyConfiguration(usesMetadata: true).replacing("\"size\": 48", with: "\"size\": 52"),
      to: "pair/knowing/config.json")
    #expect(
      run(["preprocess", image, "--stage", "resized", "--output", "\(folder.path)/no.npy"]).errors == """
        Error: \(model)/knowing/config.json: "preprocessing.size" is 52, and must be 48, as in the ensemble's first \
        member

        """)
  }

  @Test func parityComparesAnEnsembleWithItsOwnFixturesOnly() throws {
    let fixtures = """
      {"formatVersion": 1, "versions": {}, "model": {"name": "pair", "version": "0.2.0", "sha256": "SHA"},
       "preprocessing": {"size": 48, "color_constancy": {"method": "none"}, "mean": [0, 0, 0], "std": [1, 1, 1]},
       "images": [], "refused": [], "variants": [], "metadata": [], "activations": [],
       "predictions": [{"file": "a.ppm", "age": 55, "sex": null, "site": null, "vector": [0.55, 0, 2, 13],
         "logits": LOGITS, "probabilities": PROBABILITIES}]}
      """
    folder.write(pnm(), to: "fixtures/a.ppm")
    // uint32 as its header says, and no rows.
    var checksums = NPYFile.bytes([Float](), shape: [0])
    checksums[try #require(checksums.firstIndex(of: UInt8(ascii: "f")))] = UInt8(ascii: "u")
    folder.write(checksums, to: "fixtures/row_checksums.npy")
    let expected = try Self.toyEnsemble(threadCount: 1).classify(
      encodedImage: pnm(), metadata: PatientMetadata(ageInYears: 55))
    func report(sha256: String, turn: (Float) -> Float) -> ToolResult {
      folder.write(
        fixtures.replacing("SHA", with: sha256)
          .replacing("LOGITS", with: "\(expected.logits.values.map { Double(turn($0)) })")
          .replacing("PROBABILITIES", with: "\(expected.probabilities.values.map(Double.init))"),
        to: "fixtures/manifest.json")
      return run(["parity", "--fixtures", "\(folder.path)/fixtures"])
    }
    let own = String(repeating: "89abcdef", count: 8)
    #expect(report(sha256: own) { $0 }.status == .success, "\(report(sha256: own) { $0 }.errors)")
    #expect(
      report(sha256: own) { $0 + 0.01 }.errors.hasPrefix(
        "Error: the stage 'logits' departs first: a.ppm with"))
    #expect(report(sha256: "another") { $0 }.errors.hasPrefix("Error: the stage 'model' departs first: "))
  }
}
