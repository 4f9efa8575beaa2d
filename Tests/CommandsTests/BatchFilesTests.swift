import DermaFusion
import Files
import Foundation
import TestFiles
import Testing

@testable import Commands

/// Batches whose results go to files.
@Suite struct BatchFilesTests {
  let folder = TemporaryFolder()
  let images: [String]

  init() {
    let folder = folder
    // A quote, a comma and a line break in names make fields of tables that are quoted.
    images = ["a.ppm", "b \"2\", c.ppm", "d\ne.ppm", "f.ppm"].enumerated().map { seed, name in
      folder.write(pnm(width: 60, height: 50, seed: seed * 9), to: "images/\(name)")
    }
  }

  private func classify(_ options: [String]) -> ToolResult {
    runTool(words: ["classify"] + images + options)
  }

  @Test(arguments: ["text", "json", "csv"]) func aFileHoldsWhatStandardOutputWouldGet(format: String) {
    let printed = classify(["--format", format])
    let path = folder.path + "/results"
    let written = classify(["--format", format, "--output", path])
    #expect(written.status == .success && written.output == "" && written.errors == "", "\(written.errors)")
    #expect(folder.contents(of: "results") == printed.outputBytes)
  }

  @Test func aBatchThatFailsAsAWholeLeavesTheFileAsItWas() throws {
    let path = folder.write("before", to: "results.json")
    let result = classify(["--format", "json", "--output", path, "--model", "missing"])
    #expect(result.status == .failure)
    #expect(folder.contents(of: "results.json") == Array("before".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["images", "results.json"])
  }

  @Test func anImageThatIsNamedTwiceHasTwoLines() throws {
    let path = folder.path + "/results"
    let words = ["classify", images[0], images[3], images[0], "--format", "json", "--output", path]
    #expect(runTool(words: words).status == .success)
    let whole = try #require(folder.contents(of: "results"))
    let firstEnd = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
    folder.write(Array(whole[...firstEnd]), to: "results")
    #expect(runTool(words: words + ["--resume"]).status == .success)
    #expect(folder.contents(of: "results") == whole)
  }

  @Test func aTableOfOtherColumnsIsNotGoneOnWith() throws {
    let words = ["--format", "csv", "--output", folder.path + "/results"]
    #expect(classify(words).status == .success)
    let result = classify(words + ["--timing", "--resume"])
    #expect(result.errors.contains("line 1 has other columns than this batch"), "\(result.errors)")
  }

  /// Earlier results must have been made as this batch makes them.
  @Test(arguments: ["json", "csv"]) func aFileOfOtherMetadataIsNotGoneOnWith(format: String) throws {
    let path = folder.path + "/results"
    let made = ["--age", "50.5", "--site", "back"]
    #expect(classify(["--format", format, "--output", path] + made).status == .success)
    let whole = try #require(folder.contents(of: "results"))
    // The last line was not finished.
    let before = Array(whole.dropLast(30))
    folder.write(before, to: "results")
    let line = format == "json" ? 1 : 2
    for (options, words) in [
      (["--age", "50", "--site", "back"], "age 50, sex missing, back"),
      (["--age", "50.5"], "age 50.5, sex missing, site missing"),
      (made + ["--sex", "male"], "age 50.5, male, back"), ([], "age missing, sex missing, site missing"),
    ] {
      let result = classify(["--format", format, "--output", path, "--resume"] + options)
      #expect(result.status == .failure)
      #expect(
        result.errors == """
          Error: \(path): line \(line) was made with age 50.5, sex missing, back, and now \(images[0]) has \(words); \
          choose another file, or leave out --resume

          """, "\(options): \(result.errors)")
      #expect(folder.contents(of: "results") == before, "\(options)")
    }
    // A table that says the same of every image is as good as the options.
    let rows = ["a", "\"b \"\"2\"\", c\"", "\"d\ne\"", "f"].map { "\($0),50.5,back" }
    let table = folder.write(
      "image_id,age,localization\n" + rows.joined(separator: "\n") + "\n", to: "table.csv")
    let result = classify(["--format", format, "--output", path, "--resume", "--metadata", table])
    #expect(result.status == .success, "\(result.errors)")
    #expect(folder.contents(of: "results") == whole)
  }

  @Test(arguments: ["--tta", "--timing"])
  func aFileOfOtherOptionsIsNotGoneOnWith(option: String) throws {
    let path = folder.path + "/results"
    let words = ["classify", images[0], "--format", "json", "--output", path]
    for (first, second, verb) in [([option], [], "a"), ([], [option], "no")] {
      #expect(runTool(words: words + first).status == .success)
      let before = folder.contents(of: "results")
      let result = runTool(words: words + ["--resume"] + second)
      #expect(result.status == .failure)
      #expect(result.errors.contains("line 1 has \(verb) '"), "\(result.errors)")
      #expect(folder.contents(of: "results") == before)
      #expect(runTool(words: words + ["--resume"] + first).status == .success)
    }
  }

  /// JSON has the image's hash; CSV has none.
  @Test(arguments: ["json", "csv"]) func aFileOfAChangedImageIsNotGoneOnWith(format: String) throws {
    let path = folder.path + "/results"
    let words = ["--format", format, "--output", path]
    #expect(classify(words).status == .success)
    let whole = try #require(folder.contents(of: "results"))
    let before = Array(whole.dropLast(30))
    folder.write(before, to: "results")
    folder.write(pnm(width: 60, height: 50, seed: 77), to: "images/b \"2\", c.ppm")
    let result = classify(words + ["--resume"])
    if format == "csv" {
      #expect(result.status == .success && folder.contents(of: "results") == whole)
      return
    }
    #expect(result.status == .failure)
    #expect(
      result.errors == """
        Error: \(path): line 2 was made from another image than \(images[1]) is now (imageSHA256); choose another file, \
        or leave out --resume

        """, "\(result.errors)")
    #expect(folder.contents(of: "results") == before)
    // One that is gone keeps its result, as it would have without an interruption.
    try FileManager.default.removeItem(atPath: images[1])
    #expect(classify(words + ["--resume"]).status == .success)
    #expect(folder.contents(of: "results") == whole)
  }

  @Test func resumingTakesAFileOfLines() {
    // Standard output is no file either.
    for words in [["--resume", "--format", "json"], ["--resume", "--format", "json", "--output", "-"]] {
      let alone = classify(words)
      alone.expect(.usage, "Error: '--resume' has no effect without '--output <file>'.\n")
    }
    let text = classify(["--resume", "--output", folder.path + "/x"])
    #expect(text.status == .usage && text.errors.contains("Please provide 'json' or 'csv' with --resume."))
  }

  @Test func anOutputThatIsAnImageIsRefused() {
    let result = classify(["--output", images[0]])
    #expect(result.status == .usage && result.errors.contains("is one of the images"), "\(result.errors)")
  }

  @Test func predictionsHaveARowAnImage() throws {
    let labels = folder.write(
      "image_id,dx\na,nv\n\"b \"\"2\"\", c\",mel\nf,bkl\n", to: "labels.csv")
    let path = folder.path + "/predictions.csv"
    let result = runTool(
      "evaluate", "--labels", labels, "--images", folder.path + "/images", "--predictions", path)
    #expect(result.status == .success, "\(result.errors)")
    let table = try CSVTable(try #require(folder.contents(of: "predictions.csv")), path: path)
    #expect(table.header == ["image_id", "label"] + Labels.ham10000.ids + ["abstain"])
    #expect(table.rows.map { $0.fields[1] } == ["nv", "mel", "bkl"])
    #expect(table.rows.map { $0.fields[0] } == ["a", "b \"2\", c", "f"])
    for row in table.rows {
      let sum = row.fields[2..<9].reduce(0) { $0 + (Double($1) ?? .nan) }
      #expect(abs(sum - 1) < 1e-5, "\(row.fields)")
      #expect(row.fields[9] == "false")
    }
  }

  @Test func severalImagesGetAPictureEach() throws {
    let other = folder.write(pnm(seed: 3), to: "other/a.ppm")
    let broken = folder.write("no image", to: "other/broken.ppm")
    let pictures = folder.path + "/pictures"
    let tests = ModelLabelsTests()
    // A slash behind the folder is not doubled.
    let words = ["gradcam", images[0], other, broken, images[3], "--output", pictures + "/"]
    let result = tests.run(words: words + ["--format", "json"], loading: GradCAMCommandTests.classifier)
    #expect(result.status == .failure, "one of them is no image")
    #expect(result.errors.hasPrefix("Error: \(broken): ") && result.errors.split(separator: "\n").count == 1)
    let names = ["a-2-gradcam.png", "a-gradcam.png", "f-gradcam.png"]
    #expect(try FileManager.default.contentsOfDirectory(atPath: pictures).sorted() == names)
    let lines = result.output.split(separator: "\n")
    let outputs = try lines.map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return [object?["image"] as? String, object?["output"] as? String]
    }
    #expect(
      outputs == [
        [images[0], "\(pictures)/a-gradcam.png"], [other, "\(pictures)/a-2-gradcam.png"],
        [images[3], "\(pictures)/f-gradcam.png"],
      ])
    let text = tests.run(words: words, loading: GradCAMCommandTests.classifier)
    let heading = try #require(text.output.split(separator: "\n").first)
    #expect(heading.hasPrefix("Image") && heading.contains("Remark"), "a table with a row for each image")
    let dense = text.output.filter { !$0.isWhitespace }  // lines are wrapped
    for name in names { #expect(dense.contains("picture\(pictures)/\(name)")) }
    #expect(dense.contains("3images:") && dense.contains("1failed."))
    let disclaimer = Wording.disclaimer.filter { !$0.isWhitespace }
    #expect(dense.components(separatedBy: disclaimer).count == 2, "one disclaimer")
    let file = tests.run(
      words: Array(words.dropLast()) + [folder.path + "/pictures.jpg"],
      loading: GradCAMCommandTests.classifier)
    #expect(file.status == .usage && file.errors.contains("please provide a name that does not end in .jpg"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/pictures.jpg"))
    let raw = tests.run(words: words + ["--raw", "m.npy"], loading: GradCAMCommandTests.classifier)
    #expect(raw.status == .usage && raw.errors.contains("Please name a single image with it."))
  }
}
