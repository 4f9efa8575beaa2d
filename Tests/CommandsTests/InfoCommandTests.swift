import Files
import Foundation
import ImageCodecs
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion

@Suite struct InfoCommandTests {
  @Test func textSaysWhatWouldCompute() {
    let result = runTool("info", "--threads", "3", width: 80)
    #expect(result.status == .success)
    let formats = ImageDecoder.formats.joined(separator: ", ").labelled("Formats", column: 17, width: 80)
    let decoders = ImageDecoder.libraries.joined(separator: ", ").labelled("Decoders", column: 17, width: 80)
    #expect(
      result.output == """
        Version          \(DermaFusionVersion.current)
        Model            toy 0.0.1, in model
        SHA-256          0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
        Checksums        none: the folder has no SHA256SUMS, and a damaged file would
                         not be noticed
        Architecture     efficientnet_lite2
        Metadata         age, sex and site are used
        Abstention       no limits of its own: it abstains only from damaged pictures
                         and from those of one colour, black, white or without contrast,
                         and answers pictures that show no skin and those without a
                         dermatoscope too
        Preprocessing    48x48 pixels, Shades of Gray (p 6, rounding round), mean 0.485
                         0.456 0.406, std 0.229 0.224 0.225
        Classes          7: akiec, bcc, bkl, df, mel, nv, vasc
        \(formats)
        \(decoders)
        Instruction set  baseline
        Threads          3

        DermaFusion is a research and educational tool. It is NOT a medical device and
        has NOT been approved by the FDA or any regulatory authority. Results should NOT
        be used for self-diagnosis. Always consult a qualified dermatologist for skin
        concerns.

        """)
  }

  /// The file lies beside the program or, where it is installed, in the folder `share`; no model is needed.
  @Test func licencesArePrintedFromTheFileOfThePackage() throws {
    let folder = TemporaryFolder()
    let program = folder.path + "/bin/dermafusion"
    let text = "Notices\n\n  é \u{2028}\n"
    let missing = runTool("info", "--licences", executablePath: program)
    #expect(missing.status == .failure && missing.output.isEmpty)
    #expect(
      missing.errors.contains("THIRD_PARTY_NOTICES: ") && missing.errors.contains("\(folder.path)/share"))
    for place in ["share/dermafusion/THIRD_PARTY_NOTICES", "bin/THIRD_PARTY_NOTICES"] {
      let path = folder.write(text, to: place)
      let result = runTool("info", "--licences", executablePath: program)
      #expect(result.status == .success && result.output.hasPrefix(text), "\(result.output)")
      let json = runTool("info", "--licences", "--format", "json", executablePath: program)
      #expect(json.output.contains(#""licences":"Notices\n\n"#))
      try FileManager.default.removeItem(atPath: path)
    }
  }

  /// Every project whose library the package links has its notice.
  @Test func thePackageHasItsNotices() throws {
    let text = try String(contentsOf: Fixtures.root.appending(path: "THIRD_PARTY_NOTICES"), encoding: .utf8)
    for words in [
      "Independent JPEG Group", "PNG Reference Library License version 2", "Jean-loup Gailly",
      "Runtime Library Exception", "GCC RUNTIME LIBRARY EXCEPTION", "Roboto",
    ] {
      #expect(text.contains(words), "\(words)")
    }
  }

  @Test func jsonHasItsKeysInOrder() throws {
    let result = runTool("info", "--format", "json", usesMetadata: false)
    let list = { (names: [String]) in JSONValue.strings(names).text }
    let layers = try toyClassifier(threadCount: 2, usesMetadata: false).layers
    #expect(
      result.output == """
        {"schemaVersion":2,"version":"\(DermaFusionVersion.current)","model":{"name":"toy","version":"0.0.1",\
        "sha256":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",\
        "architecture":"efficientnet_lite2","precision":"float32","folder":"model","usesMetadata":false,"temperature":1,"hasChecksums":false},\
        "classes":["akiec","bcc","bkl","df","mel","nv","vasc"],\
        "labels":[{"class":"akiec","name":"Actinic keratoses","malignancy":"pre-malignant"},\
        {"class":"bcc","name":"Basal cell carcinoma","malignancy":"malignant"},\
        {"class":"bkl","name":"Benign keratosis-like lesions","malignancy":"benign"},\
        {"class":"df","name":"Dermatofibroma","malignancy":"benign"},\
        {"class":"mel","name":"Melanoma","malignancy":"malignant"},\
        {"class":"nv","name":"Melanocytic nevi","malignancy":"benign"},\
        {"class":"vasc","name":"Vascular lesions","malignancy":"benign"}],\
        "multiLabel":false,"preprocessing":{"size":48,"colorConstancy":{"method":"shades_of_gray","p":6,"rounding":"round"},\
        "mean":[0.485,0.456,0.406],"std":[0.229,0.224,0.225]},"abstention":"basic","limits":[],\
        "formats":\(list(ImageDecoder.formats)),"decoders":\(list(ImageDecoder.libraries)),\
        "sexes":["male","female","unknown"],"sites":\(list(BodySite.allCases.map(\.rawValue))),\
        "pickerSites":\(list(BodySite.pickerSites.map(\.rawValue))),\
        "methods":["gradcam","hirescam","gradcam++","layercam","eigencam"],"layers":\(list(layers)),\
        "instructionSet":"baseline","threads":2,"disclaimer":"\(Wording.disclaimer)"}

        """)
  }

  @Test func infoHasNoTable() {
    #expect(runTool("info", "--format", "csv").status == .usage)
  }
}

@Suite struct ModelLocationTests {
  let folder = TemporaryFolder()

  func location(_ words: [String], environment: [String: String] = [:], executable: String?) throws -> String
  {
    try ModelLocation.folder(
      parsedArguments(words, options: [ModelLocation.option]),
      terminal: memoryTerminal(environment: environment, executablePath: executable))
  }

  @Test func theCommandLineWinsOverTheEnvironmentAndThatOverTheSearch() throws {
    folder.write("{}", to: "Weights/config.json")
    let executable = folder.path + "/.build/release/dermafusion"
    let environment = ["DERMAFUSION_MODEL": "from/environment"]
    #expect(
      try location(["--model", "x"], environment: environment, executable: executable) == "x")
    #expect(try location([], environment: environment, executable: executable) == "from/environment")
    // The folder from which tests run may have a Weights of its own, which comes first.
    let found = try location([], environment: ["DERMAFUSION_MODEL": ""], executable: executable)
    #expect(
      found
        == (FileManager.default.fileExists(atPath: "Weights/config.json")
          ? "Weights" : folder.path + "/Weights"))
  }

  /// By name beside the model that is used without `--model`; what is there by that path goes before.
  @Test func modelsAreFoundByName() throws {
    for name in ["config.json", "int8/config.json", "other/config.json", "training/split.csv"] {
      folder.write("{}", to: "Weights/\(name)")
    }
    let environment = ["DERMAFUSION_MODEL": folder.path + "/Weights"]
    func used(_ model: String) throws -> String? {
      let result = runTool("info", "--model", model, "--format", "json", environment: environment)
      let object = try result.object()
      return (object["model"] as? [String: Any])?["folder"] as? String
    }
    #expect(try used("int8") == folder.path + "/Weights/int8")
    #expect(try used("training") == "training")
    #expect(try used("./int8") == "./int8")
    let list = runTool("info", "--models", "--format", "json", environment: environment)
    let object = try list.object()
    let models = try #require(object["models"] as? [[String: Any]])
    #expect(models.map { $0["name"] as? String } == [nil, "int8", "other"])
    #expect(
      models.map { $0["folder"] as? String } == ["", "/int8", "/other"].map { "\(folder.path)/Weights\($0)" })
    let text = runTool("info", "--models", environment: environment).output
    #expect(text.hasPrefix("(default)  toy 0.0.1, "), "\(text)")
    #expect(text.contains("\nint8       toy 0.0.1, "))
  }

  /// Another model's answer in the place of a broken one's would be worse than none.
  @Test func whatIsThereIsNotPassedOver() throws {
    folder.write("", to: "Fixtures/m.json")
    let terminal = memoryTerminal(executablePath: folder.path + "/bin/dermafusion")
    let found = { try ModelLocation.search(folder: $0, holding: "m.json", terminal: terminal) }
    #expect(try found("Fixtures") == folder.path + "/Fixtures")
    folder.write("", to: "here/README.md")
    #expect(try found("\(folder.path)/here") == "\(folder.path)/here")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/broken", withDestinationPath: "/nowhere")
    #expect(try found("\(folder.path)/broken") == "\(folder.path)/broken")
  }

  @Test func whereNothingIsFoundEveryPlaceIsNamed() {
    let terminalPlaces = [
      "Fixtures", "/none/bin/Fixtures", "/none/bin/share/dermafusion/Fixtures", "/none/Fixtures",
      "/none/share/dermafusion/Fixtures", "/Fixtures", "/share/dermafusion/Fixtures",
    ]
    let terminal = memoryTerminal(executablePath: "/none/bin/dermafusion")
    let error = #expect(throws: DermaFusionError.self) {
      try ModelLocation.search(folder: "Fixtures", holding: "m.json", terminal: terminal)
    }
    #expect(
      error?.description
        == "no folder with a m.json was found; looked at \(terminalPlaces.joined(separator: ", "))")
  }
}
