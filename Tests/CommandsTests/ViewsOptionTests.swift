import Files
import ImageFiles
import TestFiles
import Testing

@testable import Commands
@testable import DermaFusion

@Suite struct ViewsOptionTests {
  let folder = TemporaryFolder()

  @Test func resultsSayThatThereWereEightViews() throws {
    let bytes = pnm()
    let path = folder.write(bytes, to: "lesion.ppm")
    let json = runTool("classify", path, "--tta", "--format", "json")
    let expected = try toyClassifier(threadCount: 1, usesMetadata: true)
      .classify(encodedImage: bytes, views: .symmetries)
    #expect(json.output == expected.json(imageName: path) + "\n")
    #expect(json.output.contains("\"warnings\":[],\"views\":8,"))
    #expect(
      runTool("classify", path, "--tta").output
        .contains("\n  Views       mean logits of 8 views, turned and mirrored\n"))
    let table = try CSVTable(Array(runTool("classify", path, "--tta", "--format=csv").output.utf8), path: "t")
    let column = try #require(table.header.firstIndex(of: "views"))
    #expect(table.rows.map { $0.fields[column] } == ["8"])
  }

  @Test(arguments: ["text", "json", "csv"]) func resultsSayNothingOfViewsWithoutTheFlag(format: String) {
    let path = folder.write(pnm(), to: "lesion.ppm")
    let output = runTool("classify", path, "--format", format).output
    #expect(output.contains(Wording.disclaimer))
    #expect(!output.lowercased().contains("views"))
  }

  @Test func anEvaluationSaysIt() {
    folder.write(pnm(), to: "images/a.ppm")
    let labels = folder.write(EvaluateCommandTests.header + "a,L1,nv,,,\n", to: "labels.csv")
    let words = ["evaluate", "--labels", labels, "--images", "\(folder.path)/images"]
    #expect(runTool(words: words + ["--tta", "--format", "json"]).output.contains(",\"views\":8,\"n\":1,"))
    #expect(
      runTool(words: words + ["--tta"]).output
        .contains("\nViews            mean logits of 8 views, turned and mirrored\n"))
    #expect(!runTool(words: words + ["--format", "json"]).output.contains("views"))
  }

  @Test func sharesOfTheMetadataAreOfOneView() {
    let path = folder.write(pnm(), to: "lesion.ppm")
    let result = runTool("classify", path, "--tta", "--explain-metadata")
    result.expect(.usage, part: "'--tta' and '--explain-metadata' cannot be given together.")
    #expect(runTool("gradcam", path, "--tta").errors.contains("Unknown option '--tta'."))
  }

  @Test(arguments: ["classify", "evaluate"]) func helpNamesTheFlag(command: String) {
    let help = runTool(command, "--help").output
    #expect(help.contains("[--tta]"), "\(help)")
    #expect(help.contains("  --tta                   Average the logits over the eight"), "\(help)")
  }
}
