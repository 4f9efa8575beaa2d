import Foundation
import ImageCodecs
import ImageFiles
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Figures
@testable import ImagePipeline

/// `gradcam` on a network that responds to light, and an image whose only light is at the top right.
@Suite struct GradCAMCommandTests {
  static let classifier = try! LightDetector.classifier()
  static let photograph = (width: 150, height: 130)
  static let side = 130

  let folder = TemporaryFolder()
  let image: String

  init() {
    var pixels = [UInt8](repeating: 0, count: Self.photograph.width * Self.photograph.height * 3)
    for y in 0..<45 {
      for x in 95..<140 {
        for channel in 0..<3 { pixels[(y * Self.photograph.width + x) * 3 + channel] = 255 }
      }
    }
    let header = Array("P6\n\(Self.photograph.width) \(Self.photograph.height)\n255\n".utf8)
    image = folder.write(header + pixels, to: "light.ppm")
  }

  /// Runs the command with a picture written to the test's folder.
  func explain(
    _ words: String..., picture: String? = nil, streams: Set<String> = [],
    classifier: Classifier = Self.classifier
  ) -> ToolResult {
    explain(words: words, picture: picture, streams: streams, classifier: classifier)
  }

  func explain(
    words: [String], picture: String? = nil, streams: Set<String> = [],
    classifier: Classifier = Self.classifier
  ) -> ToolResult {
    runTool(
      words: ["gradcam", image, "--output", picture ?? "\(folder.path)/out.png"] + words, streams: streams,
      classifier: classifier)
  }

  func picture() throws -> PixelImage { try ImageDecoder.decode(#require(folder.contents(of: "out.png"))) }

  /// The library's result for the same image.
  func explanation(
    _ classes: [LesionLabel] = [], method: ActivationMapMethod = .gradcam, layer: String? = nil
  ) throws -> Explanation {
    try Self.classifier.explain(
      encodedImage: #require(folder.contents(of: "light.ppm")), labels: classes, method: method, layer: layer
    )
  }

  /// The library's picture of the same image.
  func figure(
    _ classes: [LesionLabel], _ style: FigureStyle = FigureStyle(), method: ActivationMapMethod = .gradcam
  ) throws -> PixelImage {
    try explanation(classes, method: method).figure(style, imageName: "light.ppm")
  }

  @Test func aTableTellsAboutThePatientAsForClassify() throws {
    let table = folder.write("image_id,age,sex,localization\nlight,61,female,neck\n", to: "patients.csv")
    let result = explain("--metadata", table, "--sex", "male", "--format", "json")
    #expect(result.status == .success && result.errors == "")
    let metadata = try #require(try result.object()["metadata"] as? [String: Any])
    #expect(metadata["age"] as? Int == 61)
    #expect(metadata["sex"] as? String == "male" && metadata["site"] as? String == "neck")
    let other = folder.write("image_id,age,sex,localization\ndark,61,female,neck\n", to: "others.csv")
    let unlisted = explain("--metadata", other)
    unlisted.expect(.failure, "Error: \(other): no row is that of \(image); its row is 'dark'")
    let whole = folder.write("image_id,age,sex,localization\nlight.ppm,61,female,neck\n", to: "whole.csv")
    #expect(
      explain("--metadata", whole).errors
        == "Note: in \(whole), 1 image was found by the name with the ending: \(image) by 'light.ppm'.\n")
  }

  @Test func pictureIsTheLibrarysInEveryStyle() throws {
    for (words, style) in [
      ([], FigureStyle()),
      (["--alpha", "0.25", "--colormap", "viridis"], FigureStyle(colorMap: .viridis, alpha: 0.25)),
      (["--style", "classic"], FigureStyle(.classic)), (["--side-by-side"], FigureStyle(isSideBySide: true)),
    ] {
      let result = explain(words: ["--class", "nv"] + words)
      #expect(result.status == .success && result.errors == "", "\(words): \(result.errors)")
      #expect(try picture() == figure([.nv], style), "\(words)")
    }
    #expect(try figure([.nv]) != figure([.nv], FigureStyle(.classic)))
  }

  @Test(arguments: ColorMap.allCases)
  func everyColorMapIsTheLibrarys(_ colorMap: ColorMap) throws {
    #expect(explain("--class", "nv", "--colormap", colorMap.rawValue).status == .success)
    #expect(try picture() == figure([.nv], FigureStyle(colorMap: colorMap)))
  }

  @Test(arguments: ["map.jpg", "map.txt", "a.b/heat.PNG.gif"])
  func anEndingThatIsNeitherPNGNorPDFIsRefused(name: String) {
    folder.write("x", to: "a.b/other")
    let result = explain(picture: "\(folder.path)/\(name)")
    result.expect(.usage, part: "please provide a name that ends in .png or .pdf, not in .")
    #expect(folder.contents(of: name) == nil)
  }

  @Test func aNameThatEndsInPDFMakesAPDFFile() throws {
    #expect(explain("--class", "nv", picture: "\(folder.path)/map.PDF").status == .success)
    let file = try #require(folder.contents(of: "map.PDF"))
    let size = try figure([.nv])
    #expect(file.starts(with: Array("%PDF-1.4".utf8)))
    let words = String(decoding: file, as: UTF8.self)
    #expect(words.contains("/Width \(size.width) /Height \(size.height)"))
    #expect(words.contains("NOT a medical device"))
  }

  @Test func allClassesMakeAContactSheetAndAnArrayOfSeven() throws {
    let result = explain("--class", "all", "--raw", "\(folder.path)/all.npy", "--format", "json")
    #expect(result.status == .success && result.errors == "")
    let map = try explanation(Array(Labels.ham10000))
    #expect(try picture() == figure(Array(Labels.ham10000)))
    let maps = try #require(result.object()["maps"] as? [[String: Any]])
    #expect(maps.map { $0["class"] as? String } == Labels.ham10000.ids)
    try expectArray("all.npy", shape: "(7, 128, 128)", map.maps.flatMap(\.values))
  }

  @Test(arguments: ActivationMapMethod.allCases)
  func rawIsTheMapOfTheMethodAtTheLayer(_ method: ActivationMapMethod) throws {
    let words = (method: method.rawValue, path: "\(folder.path)/map.npy")
    let result = explain(
      "--method", words.method, "--layer", "stage2", "--class", "nv", "--raw", words.path)
    #expect(result.status == .success && result.errors == "")
    let map = try explanation([.nv], method: method, layer: "stage2").maps[0]
    try expectArray("map.npy", shape: "(128, 128)", map.values)
  }

  @Test(arguments: ActivationMapMethod.allCases)
  func withoutAClassTheMostProbableIsDrawn(_ method: ActivationMapMethod) throws {
    let result = explain("--method", method.rawValue, "--format", "json")
    #expect(result.status == .success && result.errors == "")
    let maps = try #require(result.object()["maps"] as? [[String: Any]])
    #expect(maps.map { $0["class"] as? String } == ["nv"])
    #expect(try picture() == figure([.nv], method: method))
  }

  @Test func signedKeepsWhatSpeaksAgainstTheClass() throws {
    let result = explain(
      "--class", "mel", "--signed", "--raw", "\(folder.path)/map.npy", "--format", "json")
    #expect(result.status == .success && result.errors == "")
    let map = try explanation([.mel]).maps[0]
    #expect(map.minimum < 0)
    try expectArray("map.npy", shape: "(4, 4)", map.signedValues)
    let first = try #require((result.object()["maps"] as? [[String: Any]])?.first)
    let rows = try #require(first["signedMap"] as? [[Double]])
    #expect(rows.flatMap { $0 }.map(Float.init) == map.signedValues)
  }

  @Test func signedWithoutAMapToWriteIsWrongUsage() {
    let result = explain("--signed")
    result.expect(.usage, "Error: '--signed' has no effect without '--raw <map.npy>' or '--format json'.\n")
    #expect(folder.contents(of: "out.png") == nil)
  }

  private func expectArray(_ name: String, shape: String, _ values: [Float]) throws {
    let bytes = try #require(folder.contents(of: name))
    let header = String(decoding: bytes[10..<128], as: UTF8.self)
    #expect(header.hasPrefix("{'descr': '<f4', 'fortran_order': False, 'shape': \(shape), }"), "\(header)")
    #expect(bytes.dropFirst(128).elementsEqual(values.withUnsafeBytes { Array($0) }))
  }

  @Test func jsonHoldsTheStatistics() throws {
    let result = explain("--format", "json", "--layer", "stage3", "--raw", "\(folder.path)/map.npy")
    let object = try result.object()
    let map = try explanation(layer: "stage3").maps[0]
    #expect(object["method"] as? String == "gradcam")
    #expect(object["layer"] as? String == map.layer)
    #expect(object["mapShape"] as? [Int] == [map.height, map.width])
    #expect(object["prediction"] as? String == "nv")
    #expect(object["output"] as? String == "\(folder.path)/out.png")
    #expect(object["raw"] as? String == "\(folder.path)/map.npy")
    let maps = try #require(object["maps"] as? [[String: Any]])
    #expect(maps.count == 1)
    let first = try #require(maps.first)
    #expect(first["class"] as? String == "nv" && first["status"] as? String == "ok")
    #expect((first["maximum"] as? Double).map(Float.init) == map.maximum)
    #expect(first["trust"] == nil && first["signedMap"] == nil)
    let centre = try #require(first["massCentre"] as? [String: Double])
    #expect(try #require(centre["x"]) > 0.6 && #require(centre["y"]) < 0.4, "the light is at the top right")
  }

  @Test func aMapWithNothingToShowSaysSoAndIsNoFailure() throws {
    let result = explain("--class", "mel")
    #expect(result.status == .success && result.errors == "")
    #expect(result.output.contains("(all_negative)"))
    let map = try #require(
      (explain("--class", "mel", "--format", "json").object()["maps"] as? [[String: Any]])?.first)
    #expect(map["status"] as? String == "all_negative" && map["massCentre"] is NSNull)
    #expect(try picture() == figure([.mel]))
  }

  @Test func abstentionIsSaidWhereClassifySaysIt() throws {
    let classifier = try LightDetector.classifier(colorConstancy: "shades_of_gray")
    let light = try #require(folder.contents(of: "light.ppm"))
    for level in [UInt8(0), 200] {
      let bytes = Array("P6\n64 64\n255\n".utf8) + [UInt8](repeating: level, count: 64 * 64 * 3)
      folder.write(bytes, to: "light.ppm")
      let expected = try classifier.classify(encodedImage: bytes).abstention
      try #require(!expected.reasons.isEmpty)
      let object = try explain("--format", "json", classifier: classifier).object()
      #expect(object["abstain"] as? Bool == true)
      #expect(object["abstainReasons"] as? [String] == expected.reasons.map(\.rawValue))
      let sentences = expected.reasons.map(\.sentence).joined(separator: " ")
      let text = explain(classifier: classifier).output
      #expect(
        text.contains("\nNo classification is suggested: the model abstains. \(sentences) This is not"),
        "\(text)")
    }
    folder.write(Array(light), to: "light.ppm")
    let answered = try explain("--format", "json").object()
    #expect(answered["abstain"] as? Bool == false)
    #expect(answered["abstainReasons"] as? [String] == [])
    #expect(!explain().output.contains("abstains"))
  }

  @Test func everyChannelCarriesTheDisclaimer() throws {
    #expect(explain().output.contains(Wording.disclaimer))
    #expect(try explain("--format", "json").object()["disclaimer"] as? String == Wording.disclaimer)
    let file = try #require(folder.text(of: "out.png"))
    #expect(file.contains("Disclaimer\0\(Wording.disclaimer)"), "the picture's text")
    let written = try FigureLayout(explanation().mapFigure(FigureStyle(), trusts: [])).canvas
    #expect(
      written.texts.map { $0.text }.joined(separator: " ").contains(Wording.disclaimer), "the picture itself")
  }

  @Test func trustIsToldInWordsAndNumbers() throws {
    let trust = try #require(
      ((explain("--trust", "--format", "json").object()["maps"] as? [[String: Any]])?.first)?["trust"]
        as? [String: Any])
    #expect(
      Set(trust.keys) == [
        "deletionAUC", "randomDeletionAUC", "insertionAUC", "randomInsertionAUC", "shuffledHeadCorrelation",
        "passes", "words",
      ])
    #expect((trust["words"] as? [String])?.count == 4)
  }

  @Test func anUnknownLayerIsWrongUsageAndThoseThereAreAreNamed() {
    let result = explain("--layer", "stage9")
    result.expect(
      .usage,
      part: "Error: The value 'stage9' is invalid for '--layer <layer>'. The layers are stage0, stage1,")
    #expect(result.errors.contains("conv_head.\n"))
    #expect(folder.contents(of: "out.png") == nil)
  }

  @Test(arguments: [
    ["--alpha", "1.01"], ["--alpha", "-0.1"], ["--alpha", "nan"], ["--colormap", "rainbow"],
    ["--class", "naevus"], ["--method", "scorecam"], ["--layer", ""], ["--age", "131"], ["--format", "csv"],
  ])
  func whatIsOutOfRangeIsWrongUsage(words: [String]) {
    let result = explain(words[0] + "=" + words[1])
    result.expect(.usage, part: words[0])
    #expect(folder.contents(of: "out.png") == nil)
  }

  @Test func aPlaceThatCannotBeWrittenIsNamed() {
    let path = "\(folder.path)/nowhere/out.png"
    let result = explain(picture: path)
    #expect(result.status == .failure && result.output == "")
    // It is refused before any work: the file that is not an image was not opened.
    folder.write("no image", to: "light.ppm")
    #expect(explain(picture: path).errors == result.errors)
    #expect(result.errors.contains("\(path): cannot be written: there is no folder '\(folder.path)/nowhere'"))
  }

  @Test func whatIsNoImageIsNamed() {
    let path = folder.write("no image", to: "light.ppm")
    let result = explain()
    result.expect(.failure, part: path)
  }
}
