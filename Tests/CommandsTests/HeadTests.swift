import DermaFusion
import Files
import Foundation
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands

/// Models of timm whose last layer is not one class of several: one output, and classes that may be right at once.
@Suite struct HeadTests {
  private let tests = ModelLabelsTests()

  /// Writes a folder of timm.
  ///
  /// - Parameters:
  ///   - outputs: of the last layer. The first falls with light; the second grows, where there is one.
  ///   - more: members of `config.json`.
  private func model(_ labels: [String], outputs: Int, more: String = "") throws -> String {
    let files = try LightDetector.files(
      classes: ["a", "b"], rising: outputs > 1 ? 1 : 0, falling: 0, outputs: outputs)
    let names = labels.map { "\"\($0)\"" }.joined(separator: ", ")
    let text = """
      {"architecture": "tf_efficientnet_lite0", "num_classes": \(outputs), "label_names": [\(names)], \(more)
       "pretrained_cfg": {"input_size": [3, 128, 128], "mean": [0.0, 0.0, 0.0], "std": [1.0, 1.0, 1.0]}}
      """
    let name = labels.joined(separator: "-")
    tests.folder.write(text, to: "\(name)/config.json")
    tests.folder.write(files.weights, to: "\(name)/model.safetensors")
    return "\(tests.folder.path)/\(name)"
  }

  private func sigmoid(_ value: Double) -> Double { 1 / (1 + exp(-value)) }

  private func scores(_ json: [String: Any], _ key: String) throws -> [String: Double] {
    try #require(json[key] as? [String: Double])
  }

  @Test(arguments: [("melanoma", true), ("MEL", true), ("malignant", true), ("nevus", false), ("x", false)])
  func theSigmoidOfOneOutputIsTheNamedClass(name: String, isDangerous: Bool) throws {
    let model = try model([name], outputs: 1)
    let image = tests.folder.write(pnm(), to: "images/A.ppm")
    let line = tests.run("classify", image, "--model", model, "--format", "json")
    let json = try tests.object(line)
    let (logits, probabilities) = try (scores(json, "logits"), scores(json, "probabilities"))
    let logit = try #require(logits[name])
    #expect(logit < 0 && logits == [name: logit, "other": 0])
    #expect(abs(try #require(probabilities[name]) - sigmoid(logit)) < 1e-7)
    #expect(abs(try #require(probabilities["other"]) - sigmoid(-logit)) < 1e-7)
    #expect(line.output.contains("\"probabilities\":{\"\(name)\":"), "the named class is the first")
    #expect(json["multiLabel"] == nil && json["conformalSet"] is NSNull)
    #expect((json["risk"] is String) == isDangerous)
    if isDangerous {
      #expect((json["risk"] as? String == "high") == (try #require(probabilities[name]) >= 0.3))
    }
  }

  /// Evidence for the class speaks against the other.
  @Test func theMapsOfBothClassesAreOpposite() throws {
    let model = try model(["melanoma"], outputs: 1)
    let image = tests.folder.write(pnm(), to: "images/A.ppm")
    var files: [[UInt8]] = []
    for name in ["melanoma", "other"] {
      let path = "\(tests.folder.path)/\(name)"
      let result = tests.run(
        "gradcam", image, "--model", model, "--class", name, "--signed", "--raw", path + ".npy", "--output",
        path + ".png")
      #expect(result.status == .success, "\(result.errors)")
      files.append(try #require(tests.folder.contents(of: name + ".npy")))
    }
    let floats = files.map { file in
      let start = 10 + Int(file[8]) + Int(file[9]) << 8
      return file[start...].withUnsafeBytes { bytes in
        (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
      }
    }
    #expect(floats[0].contains { $0 < 0 } && floats[0] == floats[1].map { -$0 })
  }

  @Test func inTablesEveryOtherDiagnosisIsOther() throws {
    let model = try model(["melanoma"], outputs: 1)
    for (seed, name) in ["A", "B", "C"].enumerated() {
      tests.folder.write(pnm(seed: seed * 11), to: "images/\(name).ppm")
    }
    func evaluate(_ rows: String) -> ToolResult {
      let labels = tests.folder.write("image_id,dx\n" + rows, to: "labels.csv")
      return tests.run(
        "evaluate", "--labels", labels, "--images", "\(tests.folder.path)/images", "--model", model,
        "--format",
        "json")
    }
    let json = try tests.object(evaluate("A,mel\nB,nv\nC,Basal cell carcinoma\n"))
    let classes = try #require(json["perClass"] as? [String: [String: Any]])
    #expect(classes["melanoma"]?["n"] as? Int == 1 && classes["other"]?["n"] as? Int == 2)
    #expect(json["malignantAUROC"] is Double)
    #expect(evaluate("A,mel\nB,toast\n").status == .failure)
  }

  @Test func severalClassesMayBeRight() throws {
    let names = ["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"]
    let model = try model(names, outputs: 7, more: #""task": "multilabel","#)
    let image = tests.folder.write(pnm(), to: "images/A.ppm")
    let json = try tests.object(tests.run("classify", image, "--model", model, "--format", "json"))
    let (logits, probabilities) = try (scores(json, "logits"), scores(json, "probabilities"))
    for name in names {
      #expect(abs(try #require(probabilities[name]) - sigmoid(try #require(logits[name]))) < 1e-7)
    }
    #expect(json["multiLabel"] as? Bool == true && probabilities.values.reduce(0, +) > 3)
    #expect((json["prediction"] as? [String: Any])?["class"] as? String == "bcc")
    #expect(json["risk"] as? String == "high" && json["conformalSet"] is NSNull)
    let text = tests.run("classify", image, "--model", model).output
    #expect(text.contains("Each class has a probability of its own"), "\(text)")
    let information = try tests.object(tests.run("info", "--model", model, "--format", "json"))
    #expect(information["multiLabel"] as? Bool == true)
    let report = tests.folder.path + "/report.html"
    #expect(tests.run("report", image, "--model", model, "--output", report).status == .success)
    let page = tests.folder.text(of: "report.html") ?? ""
    #expect(page.contains("Each class has a probability of its own"))
  }

  @Test func whatNeedsOneLabelForEachImageIsRefused() throws {
    let told = #""label_malignancy": {"a": "benign", "b": "malignant", "c": "benign"},"#
    let more = told + #""problem_type": "multi_label_classification","#
    let model = try model(["a", "b", "c"], outputs: 3, more: more)
    let image = tests.folder.write(pnm(), to: "images/A.ppm")
    let json = try tests.object(tests.run("classify", image, "--model", model, "--format", "json"))
    #expect(json["risk"] as? String == "high")
    let labels = tests.folder.write("image_id,dx\nA,a\n", to: "labels.csv")
    let table = ["--labels", labels, "--images", "\(tests.folder.path)/images", "--model", model]
    for words in [
      ["evaluate"] + table, ["calibrate", "--output", "\(tests.folder.path)/new"] + table,
      ["compare", image, "--labels", labels, "--model", model, "--against", model],
    ] {
      let result = tests.run(words: words)
      #expect(result.status == .failure && result.output.isEmpty)
      #expect(
        result.errors == """
          Error: \(model): several of its classes may be right at once (a multi-label head), and \(words[0]) holds answers \
          against labels that give each image one class

          """, "\(result.errors)")
    }
    let compared = tests.run("compare", image, "--model", model, "--against", model)
    #expect(compared.status == .success, "\(compared.errors)")
    let single = try self.model(["c", "b", "a"], outputs: 3)
    let mixed = tests.run("compare", image, "--model", single, "--against", model)
    #expect(mixed.errors.hasPrefix("Error: \(model): several of its classes"), "\(mixed.errors)")
    let columns = tests.folder.write("class,isic\na,X\nb,X\nc,Y\n", to: "columns.csv")
    let submission = tests.run(
      "classify", image, "--model", model, "--format", "isic", "--isic-classes", columns)
    #expect(submission.errors.contains("the column 'X' adds up the probabilities of 'a', 'b'"))
  }
}
