import Foundation
import TestFiles
import Testing

@testable import Commands

/// The weights that the ground truth of an ISIC challenge gives its images.
@Suite struct EvaluateWeightTests {
  let folder = TemporaryFolder()

  private func evaluate(_ table: String, _ words: String...) -> ToolResult {
    for (seed, name) in ["a", "b", "c", "d", "ISIC_0035068"].enumerated() {
      folder.write(pnm(seed: seed * 5), to: "images/\(name).ppm")
    }
    let labels = folder.write(table, to: "truth.csv")
    return runTool(
      words: ["evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--quiet"] + words)
  }

  private func json(_ table: String) throws -> [String: Any] {
    let result = evaluate(table, "--format", "json")
    #expect(result.status == .success, "\(result.errors)")
    return try result.object()
  }

  private static let head = "image,MEL,NV,BCC,AKIEC,BKL,DF,VASC"

  @Test func figuresAreThoseOfAListInWhichAnImageStandsAsOftenAsItsWeightSays() throws {
    let rows = ["a,1,0,0,0,0,0,0", "b,0,1,0,0,0,0,0", "c,0,1,0,0,0,0,0", "d,0,0,0,0,1,0,0"]
    func table(_ cells: [String]) -> String {
      "\(Self.head),score_weight,validation_weight\n" + zip(rows, cells).map { "\($0),\($1)\n" }.joined()
    }
    let weighted = try json(table(["1,0", "0,0", "1.0,1", "1,1"]))
    let without = try json(Self.head + "\n" + [rows[0], rows[2], rows[3]].map { "\($0)\n" }.joined())
    for key in [
      "accuracy", "balancedAccuracy", "macroF1", "macroAveragePrecision", "negativeLogLikelihood", "n",
    ] {
      #expect(weighted[key] as? Double == without[key] as? Double, "\(key)")
    }
    #expect(weighted["listed"] as? Int == 4 && (weighted["weights"] as? [String: Int])?["zero"] == 1)
    #expect((weighted["validation"] as? [String: Any])?["n"] as? Int == 2)
    #expect(without["weights"] is NSNull && without["validation"] is NSNull)
    let text = evaluate(table(["1,0", "0,0", "1.5,1", "1,1"]))
    #expect(
      text.output.contains(
        "\nWeights          1 image of weight 0 left out; figures weigh by score_weight, counts and the confusion matrix do not\n"
      ), "\(text.output)")
    #expect(text.output.contains("\nBy validation_weight                         value     95 % interval\n"))
    #expect(
      evaluate(table(["1,0", "0,0", "1,1", "1,1"]), "--format", "csv").output.contains(
        "\nvalidation,all,,accuracy,"))
  }

  /// isic-challenge-scoring does so whatever the table says.
  @Test func theImageThatTheChallengeLeavesOutCountsInNoFigure() throws {
    let json = try json("image_id,dx\na,nv\nb,mel\nISIC_0035068,nv\n")
    #expect(json["n"] as? Int == 2 && json["listed"] as? Int == 3)
    #expect((json["weights"] as? [String: Int])?["zero"] == 1)
    let alone = evaluate("image_id,dx,score_weight\nISIC_0035068,nv,1\n")
    alone.expect(.failure, part: "truth.csv: every image that was evaluated has the score_weight 0\n")
  }

  @Test(arguments: ["-1", "", "nan", "inf", "much", "1e7"]) func aWeightThatIsNoneIsNamed(cell: String) {
    let result = evaluate("image_id,dx,score_weight\na,nv,\(cell)\nb,mel,1\n", "--format", "json")
    #expect(result.status == .failure && result.output.contains(#""n":1,"#))
    #expect(
      result.errors.contains(
        "truth.csv: line 2: column 'score_weight': the value '\(cell)' is invalid. Please provide a number from 0 to 1000000."
      ), "\(result.errors)")
  }
}
