import Foundation
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion

/// Every number of a text output is the one that the JSON has in its place, rounded.
@Suite struct TextAndJSONTests {
  let folder = TemporaryFolder()
  private typealias Object = [String: Any]

  private static let metricKeys = [
    "Accuracy": "accuracy", "Balanced accuracy": "balancedAccuracy", "Macro F1": "macroF1",
    "Macro F1 above 0.5 (ISIC's dice)": "macroF1AboveHalf", "Macro AUROC": "macroAUROC",
    "Macro average precision": "macroAveragePrecision",
    "Melanoma sensitivity at 90 % specificity": "melanomaSensitivityAt90Specificity",
    "Malignant AUROC (akiec, bcc, mel)": "malignantAUROC", "Expected calibration error": "ece",
    "Negative log-likelihood": "negativeLogLikelihood",
  ]

  /// 44 photographs of 22 patients, coarse enough to be told apart; the labels have nothing to do with them.
  private func list() -> [String] {
    let ids = Labels.ham10000.ids
    var generator = SplitMix64(seed: 62)
    var rows = "image_id,lesion_id,patient_id,dx,sex,score_weight,validation_weight\n"
    for index in 0..<44 {
      let colours = (0..<64).map { _ in (0..<3).map { _ in UInt8(generator.index(below: 256)) } }
      var bytes = Array("P6\n64 64\n255\n".utf8)
      for pixel in 0..<4096 { bytes += colours[pixel / 512 * 8 + pixel % 64 / 8] }
      folder.write(bytes, to: "images/p\(index).ppm")
      rows +=
        "p\(index),L\(index / 2),P\(index / 4),\(ids[generator.index(below: 7)]),\(index % 2 == 0 ? "male" : "female"),"
        + "\([1, 0.5, 2, 1][index % 4]),\(index % 3 == 0 ? 0 : 1)\n"
    }
    return ["--labels", folder.write(rows, to: "labels.csv"), "--quiet"]
  }

  /// The text's blocks of lines, and the JSON, of the same command.
  private func outputs(_ words: [String]) throws -> (blocks: [[Substring]], json: Object) {
    func run(_ format: String) -> String {
      let result = runTool(words: words + ["--format", format], environment: [:], loading: loadingFolders)
      #expect(result.status == .success, "\(result.errors)")
      return result.output
    }
    let json = try #require(JSONSerialization.jsonObject(with: Data(run("json").utf8)) as? Object)
    let blocks = run("text").components(separatedBy: "\n\n").map { $0[...].split(separator: "\n") }
    return (blocks, json)
  }

  /// The cells of a line: at least two blanks part them.
  private func cells(_ line: Substring) -> [String] {
    line.split(separator: /\ {2,}/).map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// A cell is a value of JSON, with so many digits after the point.
  private func expect(_ cell: String, _ value: Any?, digits: Int, _ place: String) {
    func isRounded(_ text: Substring, _ value: Double) -> Bool {
      let decimals = text.split(separator: ".").dropFirst().first?.count ?? 0
      return decimals == digits && abs((Double(text) ?? .nan) - value) <= 0.5 / pow(10, Double(digits)) + 1e-9
    }
    switch value {
    case let value as Double: #expect(isRounded(cell[...], value), "\(place): \(cell), in JSON \(value)")
    case let ends as [Double]:
      let found = cell.split(separator: " to ")
      #expect(
        found.count == 2 && ends.count == 2 && zip(found, ends).allSatisfy(isRounded),
        "\(place): \(cell), in JSON \(ends)")
    case is NSNull: #expect(cell == "undefined" || cell == "-", "\(place): \(cell), in JSON null")
    default: Issue.record("\(place): the JSON has no value for \(cell)")
    }
  }

  /// Rows of a metric with its value and interval.
  private func expectMetrics(_ lines: [Substring], _ object: Object) {
    #expect(lines.count == Self.metricKeys.count + 1, "\(lines)")
    for line in lines.dropFirst() {
      let cells = cells(line)
      guard cells.count == 3, let key = Self.metricKeys[cells[0]] else {
        Issue.record("'\(line)' is no metric")
        continue
      }
      expect(cells[1], object[key], digits: 4, key)
      expect(cells[2], object["\(key)CI"], digits: 3, "\(key)CI")
    }
  }

  /// A table whose columns are values with their intervals.
  ///
  /// - Parameters:
  ///   - start: the first column with a value.
  ///   - value: of a row's name and a column's heading.
  private func expectTable(
    _ lines: [Substring], start: Int = 1, _ value: (_ row: String, _ column: String, _ suffix: String) -> Any?
  ) {
    let headings = cells(lines[0])
    for line in lines.dropFirst() {
      let cells = cells(line)
      #expect(cells.count == headings.count, "\(line)")
      for column in start..<min(headings.count, cells.count) {
        let isInterval = headings[column] == "95 % interval"
        expect(
          cells[column], value(cells[0], headings[isInterval ? column - 1 : column], isInterval ? "CI" : ""),
          digits: isInterval ? 3 : 4, "\(cells[0]), \(headings[column])")
      }
    }
  }

  @Test func evaluate() throws {
    let model = try SmallModel.write(to: "\(folder.path)/model", size: 64, distance: 200)
    let (blocks, json) = try outputs(
      ["evaluate"] + list() + ["--images", "\(folder.path)/images", "--model", model])
    try #require(blocks.count == 9, "\(blocks)")
    #expect(
      blocks[0].contains(
        "Images           \(json["n"]!) of \(json["listed"]!) evaluated, of \(json["lesions"]!) lesions"))
    #expect(blocks[0].contains { $0.contains("by resampling patients;") })
    expectMetrics(blocks[1], json)
    expectMetrics(blocks[2], try #require(json["validation"] as? Object))

    let abstention = try #require(json["abstention"] as? Object)
    #expect(abstention["balancedAccuracyAnswered"] is Double)
    for (line, key) in zip(
      blocks[3], ["abstained", "balancedAccuracyAnswered", "foundCoverage", "meanSetSize"])
    {
      expect(cells(line)[1], abstention[key], digits: 4, key)
    }
    #expect(blocks[3].count == 4 && blocks[3][2].hasPrefix("Coverage of the 90 % sets"))

    let classes = try #require(json["perClass"] as? [String: Object])
    let keys = [
      "recall": "recall", "precision": "precision", "F1": "f1", "AUROC": "auroc",
      "average precision": "averagePrecision",
    ]
    let head = cells(blocks[4][0])
    #expect(
      head[0...2] == ["class", "n", "expected"] && Set(head[3...]) == Set(keys.keys).union(["95 % interval"]))
    expectTable(blocks[4], start: 3) { classes[$0]?[(keys[$1] ?? "") + $2] }
    for line in blocks[4].dropFirst() {
      let cells = cells(line)
      let share = try #require(classes[cells[0]]?["meanProbability"] as? Double)
      expect(cells[1], classes[cells[0]]?["n"], digits: 0, "n")
      expect(cells[2], share * Double(json["n"] as? Int ?? 0), digits: 1, "expected")
    }

    let risk = try #require(json["risk"] as? [String: Object])
    let groups = ["akiec, bcc, mel": "malignant", "the others": "benign"]
    expectTable(blocks[5]) { risk[$1 == "high" ? "high" : "moderate"]?[(groups[$0] ?? $0) + $2] }
    #expect(cells(blocks[5][0])[1...] == ["moderate or high", "95 % interval", "high", "95 % interval"])
    #expect(
      blocks[5].count == 10
        && NSDictionary(dictionary: risk["high"]!) != NSDictionary(dictionary: risk["moderate"]!))

    try expectMatrix(blocks[6], json)
    try expectSubgroups(blocks[7], json)
  }

  private func expectMatrix(_ lines: [Substring], _ json: Object) throws {
    let matrix = try #require((json["confusionMatrix"] as? Object)?["rowsAreLabels"] as? [[Int]])
    #expect(lines[0] == "Confusion matrix: labels down, predictions across")
    #expect(cells(lines[1]) == Labels.ham10000.ids)
    for (row, line) in lines.dropFirst(2).enumerated() {
      #expect(cells(line) == [Labels.ham10000.ids[row]] + matrix[row].map(String.init))
    }
    let transposed = matrix.indices.map { column in matrix.map { $0[column] } }
    #expect(matrix.count == 7 && matrix != transposed, "a symmetric matrix tells nothing")
  }

  private func expectSubgroups(_ lines: [Substring], _ json: Object) throws {
    let subgroups = try #require(json["subgroups"] as? [String: [Object]])
    let subgroupKeys = ["balancedAccuracy", "macroAUROC", "melanomaSensitivityAt90Specificity"]
    #expect(lines.count == 2 + subgroups.values.reduce(0) { $0 + $1.count })
    for line in lines.dropFirst(2) {
      let cells = cells(line)
      let name = cells[1]
      let group = try #require(subgroups[cells[0]]?.first { $0["name"] as? String == name }, "\(line)")
      expect(cells[2], group["n"], digits: 0, name)
      guard group["status"] as? String == "sufficient" else {
        #expect(cells[3] == "insufficient" && cells.count == 4)
        continue
      }
      let labels = try #require(group["labels"] as? [String: Int])
      #expect(cells[3] == "\(labels.values.count { $0 > 0 })")
      for (place, key) in subgroupKeys.enumerated() {
        expect(cells[4 + 2 * place], group[key], digits: 4, "\(name) \(key)")
        expect(cells[5 + 2 * place], group["\(key)CI"], digits: 3, "\(name) \(key)CI")
      }
    }
  }

  @Test func compare() throws {
    let models = try [64, 96].map {
      try SmallModel.write(to: "\(folder.path)/m\($0)", size: $0, distance: 200)
    }
    let words = ["compare", "--model", models[0], "--against", models[1], "\(folder.path)/images"] + list()
    let (blocks, json) = try outputs(words)
    try #require(blocks.count == 4, "\(blocks)")
    let agreement = try #require(json["agreement"] as? Object)
    let abstained = try #require(json["abstained"] as? [String: Int])
    func count(_ key: String) -> Int { agreement[key] as? Int ?? -1 }
    let notes = Dictionary(
      blocks[0].map { ($0.prefix(17).trimmingCharacters(in: .whitespaces), $0.dropFirst(17)) },
      uniquingKeysWith: { first, _ in first })
    #expect(notes["Images"] == "\(json["n"]!) of \(json["listed"]!) compared")
    let same = try #require(
      notes["Same class"]?.firstMatch(
        of: /^(\d+) of (\d+) \(([\d.]+) %\); of those that both answer (\d+) of (\d+)/))
    #expect(
      Int(same.1) == count("n") && Int(same.4) == count("answeredAgreeing")
        && Int(same.5) == count("answered"))
    expect(String(same.3), (agreement["share"] as? Double).map { $0 * 100 }, digits: 1, "share")
    #expect(
      notes["Abstained from"]
        == "\(abstained["model"]!) by A, \(abstained["against"]!) by B, \(abstained["both"]!) by both")

    let changes = try #require(json["greatestChanges"] as? [String: Object])
    #expect(cells(blocks[1][0]) == ["class", "greatest change", "A", "B", "image"] && blocks[1].count == 8)
    for line in blocks[1].dropFirst() {
      let cells = cells(line)
      let change = try #require(changes[cells[0]])
      for (cell, key) in zip(cells[1...3], ["change", "model", "against"]) {
        expect(cell, change[key], digits: 4, "\(cells[0]) \(key)")
      }
      #expect(cells[4] == change["image"] as? String)
    }

    let labelled = try #require(json["labelled"] as? Object)
    #expect(notes["Labels"] == "\(labelled["n"]!) images of \(labelled["lesions"]!) lesions")
    #expect(
      cells(blocks[2][0]) == ["A", "B", "B - A", "95 % interval"]
        && blocks[2].count == 1 + Self.metricKeys.count)
    var differing = 0
    for line in blocks[2].dropFirst() {
      let cells = cells(line)
      let metric = try #require(labelled[Self.metricKeys[cells[0]] ?? ""] as? Object, "\(line)")
      for (cell, key) in zip(cells[1...], ["model", "against", "difference", "differenceCI"]) {
        expect(cell, metric[key], digits: 4, "\(cells[0]) \(key)")
      }
      if metric["model"] as? Double != metric["against"] as? Double { differing += 1 }
    }
    #expect(differing > 3 && count("answered") > 0, "models that answer alike tell nothing")
  }
}
