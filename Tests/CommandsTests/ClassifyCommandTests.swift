import Files
import Foundation
import ImageCodecs
import ImageFiles
import TestFiles
import Testing

@testable import Commands
@testable import DermaFusion

@Suite struct ClassifyCommandTests {
  let folder = TemporaryFolder()

  /// The `image` of every JSON line.
  func images(_ result: ToolResult) -> [String] {
    result.output.split(separator: "\n").map { line in
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["image"] as? String ?? "not JSON: \(line)"
    }
  }

  @Test func aFileWithoutAResultReplacesNone() {
    let old = folder.write("old\n", to: "old.csv")
    let missing = "\(folder.path)/none.png"
    let result = runTool("classify", missing, missing, "--format", "csv", "--output", old)
    #expect(result.status == .failure)
    #expect(folder.contents(of: "old.csv") == Array("old\n".utf8))
    let new = runTool("classify", missing, "--format", "csv", "--output", "\(folder.path)/new.csv")
    #expect(new.status == .failure)
    #expect(folder.contents(of: "new.csv") == nil)
  }

  @Test func jsonIsOneObjectPerLineInTheOrderGiven() throws {
    let b = folder.write(pnm(), to: "b.ppm")
    let a = folder.write(pnm(seed: 3), to: "a.ppm")
    folder.write(pnm(seed: 9), to: "sub/z.ppm")
    folder.write(pnm(seed: 7), to: "sub/deep/y.ppm")
    let result = runTool("classify", b, "\(folder.path)/sub", a, "--format", "json")
    #expect(result.status == .success)
    #expect(result.errors == "")
    #expect(images(result) == [b, "\(folder.path)/sub/deep/y.ppm", "\(folder.path)/sub/z.ppm", a])
  }

  @Test func jsonHoldsWhatTheLibraryGives() throws {
    let bytes = pnm()
    let path = folder.write(bytes, to: "lesion.ppm")
    let result = runTool(
      "classify", "--age", "55", path, "--format=json", "--sex", "male", "--site", "back", "--threads", "1")
    let metadata = try PatientMetadata(ageInYears: 55, sex: .male, site: .back)
    let expected = try toyClassifier(threadCount: 1, usesMetadata: true)
      .classify(encodedImage: bytes, metadata: metadata)
    #expect(result.output == expected.json(imageName: path) + "\n")
    #expect(expected.imageSHA256 == SHA256.hexDigest(bytes))
    #expect(expected.model.name == "toy")
  }

  @Test func aBadImageIsNamedAndTheOthersGetTheirResults() {
    let good = folder.write(pnm(), to: "good.ppm")
    let text = folder.write("hello", to: "text.png")
    let empty = folder.write("", to: "empty.png")
    let tiny = folder.write(pnm(width: 31, height: 200), to: "tiny.ppm")
    let truncated = folder.write(Array(pnm().dropLast(10)), to: "cut.ppm")
    let missing = folder.path + "/none.png"
    folder.write("x", to: "docs/readme.md")
    let result = runTool(
      "classify", text, empty, missing, tiny, truncated, "\(folder.path)/docs", good, "--format", "json")
    #expect(result.status == .failure)
    #expect(images(result) == [good])
    let lines = result.errors.split(separator: "\n").map(String.init)
    #expect(lines.count == 6, "\(result.errors)")
    #expect(
      lines[0].hasPrefix("Error: \(text): not a PNG, JPEG, PNM, BMP, DICOM, WebP, TIFF, HEIC or AVIF image"))
    #expect(lines[1] == "Error: \(empty): the file is empty")
    #expect(lines[2] == "Error: \(missing): no such file or folder")
    #expect(lines[3] == "Error: \(tiny): the image is too small: 31x200 is under 32x32")
    #expect(lines[4].hasPrefix("Error: \(truncated): the PNM is truncated"))
    #expect(
      lines[5]
        == "Error: \(folder.path)/docs: the folder holds no image "
        + "(\(ImageDecoder.readableEndings.joined(separator: ", ")))")
  }

  @Test func anEmptyWordIsNoImage() {
    let image = folder.write(pnm(), to: "A.ppm")
    let result = runTool("classify", image, "")
    result.expect(.usage, "Error: The value '' is invalid for '<image>'. Please provide a path.\n")
  }

  @Test func standardInputIsOneImage() {
    let result = runTool("classify", "-", "--format", "json", input: pnm())
    #expect(result.status == .success)
    #expect(images(result) == ["-"])
    #expect(runTool("classify", "-").errors == "Error: standard input: the file is empty\n")
    let twice = runTool("classify", "-", "-", input: pnm())
    twice.expect(.usage, "Error: '-' was given more than once, but standard input holds one image.\n")
  }

  @Test func rowsThatDoNotGoOneToOneAreNamed() {
    let first = folder.write(pnm(), to: "one/img.ppm")
    let second = folder.write(pnm(), to: "two/img.ppm")
    let table = folder.write(
      "image_id,age,sex,localization\nimg,55,male,back\nx.ppm,1,male,ear\n", to: "p.csv")
    #expect(
      runTool("classify", first, second, "--metadata", table).errors
        == [first, second].map {
          "Error: \($0): \(table): the row 'img' could be that of \(first) and of \(second)\n"
        }.joined())
    // The same photograph twice is no mistake.
    #expect(runTool("classify", first, first, "--metadata", table).errors == "")
    let whole = folder.write(pnm(), to: "x.ppm")
    #expect(
      runTool("classify", whole, "--metadata", table).errors
        == "Note: in \(table), 1 image was found by the name with the ending: \(whole) by 'x.ppm'.\n")
  }

  @Test func aTableGivesEachImageItsMetadataAndOptionsWin() throws {
    let a = folder.write(pnm(), to: "A.ppm")
    let b = folder.write(pnm(), to: "B.ppm")
    let c = folder.write(pnm(), to: "C.ppm")
    let table = folder.write(
      "image_id,age,sex,localization\nA,55.0,male,back\nB,,female,\n", to: "patients.csv")
    let result = runTool("classify", a, b, c, "--metadata", table, "--site", "ear", "--format", "json")
    #expect(result.status == .success)
    #expect(result.errors == "Note: \(table) has no row for 1 of 3 images, the first of them \(c).\n")
    let lines = result.output.split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].contains(#""metadata":{"age":55,"sex":"male","site":"ear","missing":[]}"#))
    #expect(lines[1].contains(#""metadata":{"age":null,"sex":"female","site":"ear","missing":["age"]}"#))
    #expect(
      lines[2].contains(#""metadata":{"age":null,"sex":"unknown","site":"ear","missing":["age","sex"]}"#))
  }

  @Test func aBadCellFailsItsImageAndAMissingTableTheRun() {
    let image = folder.write(pnm(), to: "A.ppm")
    let table = folder.write("image_id,age,sex,localization\nA,400,male,back\n", to: "p.csv")
    let result = runTool("classify", image, "--metadata", table)
    result.expect(
      .failure,
      whole: "Error: \(image): \(table): line 2: column 'age': the value '400' is invalid. "
        + "Please provide a number of years from 0 to 130.\n")
    #expect(
      runTool("classify", image, "--metadata", "none.csv").errors
        == "Error: none.csv: no such file or folder\n")
  }

  @Test func metadataThatTheModelCannotUseIsSaidToBeUnused() {
    let image = folder.write(pnm(width: 60, height: 60), to: "A.ppm")
    let unused = runTool("classify", image, "--age", "5", "--format", "json", usesMetadata: false)
    #expect(unused.output.contains(#""warnings":["small_image","metadata_unused"]"#))
    let none = runTool("classify", image, "--sex", "unknown", "--format", "json", usesMetadata: false)
    #expect(none.output.contains(#""warnings":["small_image"]"#))
  }

  @Test func aModelThatCannotBeLoadedIsNamedOnce() {
    let image = folder.write(pnm(), to: "A.ppm")
    let result = runTool("classify", image, image, "--model", "/missing")
    result.expect(.failure, whole: "Error: /missing: there is no such model folder\n")
  }

  @Test(arguments: ["0", "257", "-1", "two", "1.5", "", "+2", "99999999999999999999"])
  func threadsAreAWholeNumberFrom1To256(threads: String) {
    let result = runTool("classify", "a.png", "--threads", threads)
    result.expect(
      .usage,
      "Error: The value '\(threads)' is invalid for '--threads <n>'. "
        + "Please provide a whole number from 1 to 256.\n")
  }

  @Test func threadsDoNotChangeTheBytes() {
    let image = folder.write(pnm(), to: "A.ppm")
    #expect(
      runTool("classify", image, "--format", "json", "--threads", "1").output
        == runTool("classify", image, "--format", "json", "--threads", "256").output)
  }

  /// Large images first, so that later ones are done before them; bad ones among them.
  @Test func manyImagesGiveTheSameBytesInTheirOrderForAnyNumberOfThreads() {
    let words = (0..<13).map { index in
      index % 5 == 3
        ? "\(folder.path)/none\(index).ppm"
        : folder.write(pnm(width: 40 + 30 * (12 - index), height: 64, seed: index), to: "\(index).ppm")
    }
    let expected = runTool(words: ["classify", "--format", "csv", "--threads", "1"] + words)
    #expect(expected.status == .failure)
    #expect(expected.output.split(separator: "\n").count == 1 + 11)
    #expect(
      expected.errors
        == [3, 8].map { "Error: \(folder.path)/none\($0).ppm: no such file or folder\n" }.joined())
    for threads in ["2", "3", "5", "12"] {
      let result = runTool(words: ["classify", "--format", "csv", "--threads", threads] + words)
      #expect(result.output == expected.output, "\(threads) threads")
      #expect(result.errors == expected.errors, "\(threads) threads")
    }
  }

  @Test func aModelThatIsNotFittedToAbstainIsSaidOnce() {
    let image = folder.write(pnm(), to: "A.ppm")
    let note =
      "Note: toy has no limits of its own: it abstains only from damaged pictures and from those of one colour, "
      + "black, white or without contrast, and answers pictures that show no skin and those without a dermatoscope too."
    let words = ["classify", image, image, "--format", "csv"]
    #expect(runTool(words: words, showsProgress: true).modelNotes == [note])
    #expect(runTool(words: words).modelNotes == [note])
    #expect(runTool(words: words + ["--quiet"], showsProgress: true).modelNotes == [])
  }

  @Test func timesAppearOnlyWhenAskedFor() {
    let image = folder.write(pnm(), to: "A.ppm")
    for (format, mark) in [
      ("json", "\"timing\":{\"decodeMs\":"), ("text", "  Time "), ("csv", ",milliseconds,"),
    ] {
      #expect(!runTool("classify", image, "--format", format).output.contains(mark))
      #expect(runTool("classify", image, "--format", format, "--timing").output.contains(mark))
    }
  }

  @Test func resultsStopWhenTheyCannotBeWritten() {
    let image = folder.write(pnm(), to: "A.ppm")
    let output = MemoryOutput(failure: .closed, capacity: 2000)
    let result = runTool("classify", image, image, image, image, "--format", "json", output: output)
    #expect(result.status == .success)
    #expect(result.errors == "")
    #expect(result.output.split(separator: "\n").count < 4)
  }
}
