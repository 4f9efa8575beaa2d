import DermaFusion
import TestModels
import Testing

@testable import Commands

@Suite struct BatchTableTests {
  private let names = ["a.jpg", "photographs/of/a/long/path/ISIC_0024310.jpg"]

  private func result(_ logits: [Float], reasons: [AbstentionReason] = []) -> Classification {
    Classification(
      logits: ClassScores(logits), temperature: 1,
      model: ModelIdentity(name: "toy", version: "1", sha256: "00"),
      abstention: Abstention(reasons: reasons, conformalSet: nil))
  }

  private let nevus: [Float] = [0, 0, 0, 0, 0, 5, 0]
  private let doubt: [Float] = [0, 0, 0, 0, 4, 4.2, 0]

  private func table(_ width: Int?, colour: Bool = false) -> BatchTable {
    BatchTable(names: names, labels: .ham10000, width: width, usesColour: colour)
  }

  @Test func aRowAnImage() {
    let table = table(nil)
    let blanks = String(repeating: " ", count: names[1].count - 5)
    let rows =
      table.header + table.row(result(nevus), imageName: names[0])
      + table.row(result(nevus), imageName: names[1])
    #expect(
      rows == """
        Image\(blanks)  Class   Prob.  Risk      Remark
        a.jpg\(blanks)  nv      96.1%  low
        \(names[1])  nv      96.1%  low

        """, "\(rows)")
  }

  @Test func theDangerBesideTheLikeliestClassIsNamedInItsRow() {
    #expect(table(nil).row(result(doubt), imageName: "a.jpg").contains("mel cannot be excluded (43."))
  }

  @Test func anAbstainingModelHasNoClassAndNoRisk() {
    let row = table(nil).row(result(doubt, reasons: [.blurred, .outOfDistribution]), imageName: "a.jpg")
    #expect(row.contains("abstains: blurred, out of distribution"))
    #expect(!row.contains("mel") && !row.contains("nv") && !row.contains("%") && !row.contains("high"))
  }

  @Test(arguments: [40, 60, 80, 100])
  func noLineIsLongerThanTheTerminal(width: Int) {
    let table = table(width)
    for text in [
      table.header, table.row(result(nevus), imageName: names[1]),
      table.row(result(doubt), imageName: names[1]),
      table.row(result(doubt, reasons: [.blurred, .outOfDistribution]), imageName: names[1]),
      table.footer(
        BatchSummary(results: [result(nevus), result(doubt)], failedCount: 3)),
    ] {
      for line in text.split(separator: "\n") { #expect(line.count <= width, "\(width): '\(line)'") }
    }
    // The end of a path, which tells images apart, is kept.
    #expect(table.row(result(nevus), imageName: names[1]).contains("10.jpg"))
  }

  @Test func colourMarksTheRiskAndTakesNoRoom() {
    let plain = table(80).row(result(doubt), imageName: "a.jpg")
    let coloured = table(80, colour: true).row(result(doubt), imageName: "a.jpg")
    #expect(coloured.contains("\u{1B}[31mhigh"))
    var bare = coloured
    for code in ["\u{1B}[31m", "\u{1B}[0m"] {
      bare = bare.split(separator: code, omittingEmptySubsequences: false).joined()
    }
    #expect(bare == plain)
  }

  @Test func theSummaryCountsClassesRisksAbstentionsAndFailures() {
    var summary = BatchSummary(
      results: [result(nevus), result(nevus), result(doubt), result(nevus, reasons: [.blurred])],
      failedCount: 0)
    summary.addFailure()
    #expect(
      summary.sentences == [
        "4 images: 3 nv.", "Risk: 1 high, 0 moderate, 2 low.", "The model abstains from 1.", "1 failed.",
      ])
    let footer = table(nil).footer(summary)
    #expect(footer.contains("Classes: mel Melanoma, nv Melanocytic nevi."))
    #expect(footer.hasSuffix(Wording.disclaimer + "\n"))
    // A risk that is never told has a reason.
    #expect(!footer.contains("not judged"))
  }
}

extension BatchSummary {
  fileprivate init(results: [Classification], failedCount: Int) {
    self.init()
    for result in results { add(result) }
    for _ in 0..<failedCount { addFailure() }
  }
}
