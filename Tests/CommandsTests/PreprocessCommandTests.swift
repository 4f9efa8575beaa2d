import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion

@Suite struct PreprocessCommandTests {
  let folder = TemporaryFolder()
  let model: String

  init() {
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    model = folder.path + "/model"
  }

  func run(_ image: String, _ stage: String, input: [UInt8] = []) -> (ToolResult, [UInt8]?) {
    let result = runTool(
      "preprocess", image, "--stage", stage, "--output", "\(folder.path)/out.npy", "--model", model,
      input: input)
    return (result, folder.contents(of: "out.npy"))
  }

  @Test(arguments: [
    ("decoded", "'|u1'", "(100, 120, 3)", 100 * 120 * 3),
    ("cropped", "'|u1'", "(100, 100, 3)", 100 * 100 * 3),
    ("resized", "'|u1'", "(48, 48, 3)", 48 * 48 * 3), ("constancy", "'|u1'", "(48, 48, 3)", 48 * 48 * 3),
    ("normalized", "'<f4'", "(3, 48, 48)", 48 * 48 * 12),
  ])
  func everyStageHasTheShapeOfTheContract(stage: String, type: String, shape: String, count: Int) throws {
    let image = folder.write(pnm(), to: "a.ppm")
    let (result, file) = run(image, stage)
    #expect(result.status == .success)
    #expect(result.output == "" && result.errors == "")
    let bytes = try #require(file)
    let header = String(decoding: bytes[10..<128], as: UTF8.self)
    #expect(header.hasPrefix("{'descr': \(type), 'fortran_order': False, 'shape': \(shape), }"))
    #expect(bytes.count == 128 + count)
  }

  @Test func decodedIsTheImagesOwnPixels() {
    let bytes = pnm()
    let (_, file) = run("-", "decoded", input: bytes)
    #expect(file?.dropFirst(128).elementsEqual(bytes.suffix(120 * 100 * 3)) == true)
  }

  @Test func normalizedIsChannelsFirst() throws {
    let grey = Array("P5\n64 64\n255\n".utf8) + [UInt8](repeating: 128, count: 64 * 64)
    let (result, file) = run("-", "normalized", input: grey)
    #expect(
      result.errors == "Warning: -: \(ClassificationWarning.smallImage.sentence)\n"
        + "Warning: -: \(ClassificationWarning.solidColor.sentence)\n")
    let data = try #require(file).dropFirst(128)
    for (channel, (mean, deviation)) in [(0.485, 0.229), (0.456, 0.224), (0.406, 0.225)].enumerated() {
      let start = data.startIndex + channel * 48 * 48 * 4
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(data[start + $1]) << (8 * $1) }
      #expect(Float(bitPattern: bits) == Float((128.0 / 255 - mean) / deviation))
    }
  }

  @Test func anImageTooSmallToClassifyCanStillBeDecoded() {
    let tiny = pnm(width: 5, height: 4)
    #expect(run("-", "decoded", input: tiny).0.status == .success)
    let (result, _) = run("-", "cropped", input: tiny)
    #expect(result.status == .failure)
    #expect(result.errors == "Error: -: the image is too small: 5x4 is under 32x32\n")
  }

  @Test func whatCannotBeDoneIsNamedAndWritesNothing() {
    let (result, file) = run(folder.write("hello", to: "a.png"), "resized")
    #expect(result.status == .failure)
    #expect(result.errors.hasPrefix("Error: \(folder.path)/a.png: not a PNG"))
    #expect(file == nil)
    let stage = runTool("preprocess", "a.png", "--stage", "blurred", "--output", "x.npy")
    stage.expect(
      .usage,
      "Error: The value 'blurred' is invalid for '--stage <stage>'. Please provide one of 'decoded', "
        + "'cropped', 'resized', 'constancy' or 'normalized'.\n")
    #expect(
      runTool("preprocess", "a.png", "--stage", "resized").errors
        .hasPrefix("Error: Missing expected option '--output <file.npy>'\n"))
  }

  @Test func theImageIsNeverOverwritten() {
    let image = folder.write(pnm(), to: "out.npy")
    let (result, file) = run(
      "\(folder.path)/../" + image.split(separator: "/").suffix(2).joined(separator: "/"), "resized")
    result.expect(
      .usage, "Error: '\(image)' is the image itself, and '--output <file.npy>' would replace it.\n")
    #expect(file == pnm())
  }

  @Test func theModelIsNeverOverwritten() throws {
    let image = folder.write(pnm(), to: "a.ppm")
    let model = TemporaryFolder()
    let configuration = model.write("{}", to: "config.json")
    for (name, noun) in [("README.md", "the model's card"), ("training/split.csv", "the model's data list")] {
      let path = model.write("x", to: name)
      let result = runTool(
        "preprocess", image, "--stage", "decoded", "--output", path, "--model", model.path)
      result.expect(.usage, "Error: '\(path)' is \(noun), and ")
      #expect(model.contents(of: name) == Array("x".utf8))
    }
    let result = runTool(
      "preprocess", image, "--stage", "decoded", "--output", configuration, "--model", model.path)
    result.expect(
      .usage,
      "Error: '\(configuration)' is a file of the model, and '--output <file.npy>' would replace it.\n")
    #expect(model.contents(of: "config.json") == Array("{}".utf8))
  }

  @Test func aConfigurationThatIsWrongIsNamed() {
    let bad = TemporaryFolder()
    bad.write("{}", to: "config.json")
    let result = runTool(
      "preprocess", "-", "--stage", "decoded", "--output", "\(bad.path)/o.npy", "--model", bad.path,
      input: pnm())
    #expect(result.status == .failure)
    #expect(result.errors.hasPrefix("Error: \(bad.path)/config.json: "))
  }
}
