import Files
import Foundation
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import ImageCodecs

/// Formats beside PNG, JPEG and PNM, through whole commands.
@Suite struct FormatCommandTests {
  private let folder = TemporaryFolder()

  private func copy(_ name: String, to other: String? = nil) throws -> String {
    folder.write(try Fixtures.read("formats/\(name)"), to: other ?? name)
  }

  @Test func infoListsTheFormats() throws {
    let result = runTool("info", "--format", "json")
    #expect(result.output.contains(#""formats":["png","jpeg","pnm","bmp","dicom""#), "\(result.output)")
    #expect(runTool("info").output.contains("png, jpeg, pnm, bmp, dicom"))
  }

  @Test func aDICOMFileTellsOfThePatientAndTheResultSaysSo() throws {
    let path = try copy("dicom_patient.dcm")
    let result = runTool("classify", path, "--format", "json")
    #expect(
      result.output.contains(#""metadata":{"age":45,"sex":"female","site":"back","missing":[]}"#),
      "\(result.output)")
    #expect(result.output.contains(#""warnings":["small_image","metadata_from_file"]"#), "\(result.output)")
    // What a person says counts.
    let given = runTool("classify", path, "--age", "50", "--site", "ear", "--format", "json")
    #expect(given.output.contains(#""metadata":{"age":50,"sex":"female","site":"ear","missing":[]}"#))
    let all = runTool(
      "classify", path, "--age", "50", "--sex", "male", "--site", "ear", "--format", "json")
    #expect(!all.output.contains("metadata_from_file"))
  }

  /// Subgroups are by what the network was given: the file's age and sex, and the row's site in the place of the file's.
  @Test func evaluateCountsWhatADICOMFileTells() throws {
    _ = try copy("dicom_patient.dcm")
    let labels = folder.write("image_id,dx,age,sex,localization\ndicom_patient,nv,,,ear\n", to: "labels.csv")
    let result = runTool("evaluate", "--labels", labels, "--images", folder.path, "--format", "json")
    for group in [#""age":[{"name":"30 to 49""#, #""sex":[{"name":"female""#, #""site":[{"name":"ear""#] {
      #expect(result.output.contains(group), "\(group): \(result.output) \(result.errors)")
    }
    #expect(result.output.contains(#""metadata_from_file":1"#), "\(result.output)")
  }

  /// A fit of the last layer takes what the network was given: the file's age, not only the row's.
  @Test func theLastLayersInputsAreThoseOfTheFilesMetadata() throws {
    _ = try copy("dicom_patient.dcm")
    let models = TemporaryFolder()
    let classifier = try Classifier(
      modelDirectory: SmallModel.write(to: "\(models.path)/small", size: 32), threadCount: 1)
    func inputs(_ cells: String) throws -> [Double] {
      let table = folder.write(
        "image_id,dx,age,sex,localization\ndicom_patient,nv,\(cells)\n", to: "labels.csv")
      let arguments = try parsedArguments(
        ["--labels", table, "--images", folder.path], options: EvaluateCommand.options)
      let index = try ImageIndex(folders: [folder.path])
      var run = EvaluationRun(arguments, classifier: classifier, index: index, terminal: memoryTerminal())
      run.keepsFeatures = true
      try run.evaluate(
        TestList(
          try #require(folder.contents(of: "labels.csv")), path: table, labels: classifier.labels,
          images: index.sources))
      return try #require(run.outputs.first?.features)
    }
    let fromFile = try inputs(",,")
    #expect(try fromFile == inputs("45,female,back"))
    #expect(try fromFile != inputs("80,male,ear"))
  }

  /// The results hold the file's metadata, which the command line does not give.
  @Test(arguments: ["json", "csv"]) func aBatchOfDICOMFilesGoesOn(format: String) throws {
    let images = [try copy("dicom_patient.dcm"), try copy("dicom_part.dcm")]
    let path = folder.path + "/results"
    let words = ["classify"] + images + ["--format", format, "--output", path]
    #expect(runTool(words: words).status == .success)
    let whole = try #require(folder.contents(of: "results"))
    folder.write(Array(whole.dropLast(20)), to: "results")
    let result = runTool(words: words + ["--resume"])
    #expect(result.status == .success, "\(result.errors)")
    #expect(folder.contents(of: "results") == whole)
  }

  @Test func filesInFoldersAreFoundByTheirEndingsAndTheirContent() throws {
    _ = try copy("bmp_24.bmp")
    _ = try copy("dicom_explicit.dcm")
    _ = try copy("dicom_implicit.dcm", to: "scan.DICOM")
    let nameless = try copy("dicom_planar.dcm", to: "IM000001")
    let result = runTool("classify", folder.path, "--format", "csv", "--quiet")
    #expect(result.status == .success, "\(result.errors)")
    #expect(result.output.split(separator: "\n").count == 5, "\(result.output)")
    #expect(runTool("classify", nameless).status == .success)
  }

  private static let hasLibraries =
    ProcessInfo.processInfo.environment["DERMAFUSION_REQUIRE"] != nil
    || [SystemLibrary.webp, .tiff, .jpeg2000].allSatisfy { $0.missing() == nil }

  /// Decoded by another run of the program.
  @Test(
    .enabled(if: hasLibraries, "libwebp, libtiff or libopenjp2 is not there"),
    arguments: [
      "webp_lossy.webp", "tiff_planar_tiles_deflate.tif", "tiff_orientation6.tif", "j2k_rct_tagged_full.dcm",
    ])
  func theProgramDecodesAsTheTestsDo(name: String) throws {
    let root = Fixtures.root.path
    let program = ProgramTests()
    let result = try program.shell(
      "$dermafusion preprocess \(root)/ParityFixtures/formats/\(name) --stage decoded --output decoded.npy "
        + "--model \(root)/Weights")
    #expect(result.status == 0, "\(result.errors)")
    let image = try ImageDecoder.decode(Fixtures.read("formats/\(name)"))
    let array = try #require(program.folder.contents(of: "decoded.npy"))
    #expect(Array(array.suffix(image.pixels.count)) == image.pixels)
  }

  @Test func aDamagedFileIsOneLine() throws {
    let path = try copy("tiff_rgb_tiff_lzw.tif")
    let whole = try #require(folder.contents(of: "tiff_rgb_tiff_lzw.tif"))
    folder.write(Array(whole.prefix(whole.count / 2)), to: "tiff_rgb_tiff_lzw.tif")
    let result = runTool("classify", path)
    #expect(result.status == .failure)
    #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    #expect(result.errors.hasPrefix("Error: \(path): "), "\(result.errors)")
  }
}
