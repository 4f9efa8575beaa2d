import Foundation
import Testing

@testable import Commands
@testable import Evaluation
@testable import ImageCodecs
@testable import ImageFiles

/// Progress and plots.
extension EvaluateCommandTests {
  @Test func progressIsForTerminalsOnly() {
    let words = fourImages().words
    let shown = runTool(words: ["evaluate"] + words, showsProgress: true)
    #expect(shown.errors.hasSuffix("\r\u{1B}[K"))
    let quiet = runEvaluate(words)
    #expect(!quiet.errors.contains("\r"))
    #expect(shown.output == quiet.output)
  }

  @Test func quietLeavesOutEveryNote() {
    let words = fourImages().words
    folder.write(
      "isic_id,lesion_id,diagnosis\ntwice,L,nevus\nbelow,L,melanoma\nother,M,scar\nlast,N,nevus\n,O,nevus\n",
      to: "labels.csv")
    let notes = runEvaluate(words).errors.split(separator: "\n")
    #expect(notes.allSatisfy { $0.hasPrefix("Note: ") })
    for part in ["1 of its 4 rows show none", "two labels", "1 row has no image", "no column for age"] {
      #expect(notes.contains { $0.contains(part) }, "\(part): \(notes)")
    }
    let quiet = runEvaluate(words + ["--quiet"])
    #expect(quiet.status == .success && quiet.errors == "", "\(quiet.errors)")
  }

  /// Every table has its rows and columns, with the figures of the same run without a width.
  @Test func noLineOfTheTextIsWiderThanTheTerminal() throws {
    var rows = "image_id,lesion_id,dx,dx_type,age,sex,localization\n"
    for seed in 0..<24 {
      folder.write(
        pnm(width: 40, height: 40, seed: seed * 7), to: "a folder of a long name/deep below/\(seed).ppm")
      rows +=
        "\(seed),L\(seed),\(["nv", "mel", "bkl"][seed % 3]),follow_up,\(seed < 21 ? 55 : 80),,"
        + "\(seed < 22 ? "lower" : "upper") extremity\n"
    }
    let labels = folder.write(rows, to: "labels.csv")
    let words = [
      "evaluate", "--labels", labels, "--images", "\(folder.path)/a folder of a long name/deep below",
    ]
    let wide = runTool(words: words).output
    func figures(_ text: String) -> [Substring] {
      text.matches(of: /\d\.\d{3,}|undefined/).map(\.output).sorted()
    }
    for width in [60, 80, 200] {
      let text = runTool(words: words, width: width).output
      let body = text.split(separator: "\n")
      for line in body { #expect(line.count <= width, "\(line.count): \(line)") }
      #expect(figures(text) == figures(wide), "\(text)")
      for name in [
        "recall", "precision", "AUROC", "moderate or high", "balanced accuracy", "macro AUROC",
        "melanoma sensitivity", "lower extremity", "upper extremity",
      ] {
        #expect(text.contains(name), "'\(name)' is not in\n\(text)")
      }
      #expect(text.contains("insufficient") && text.contains("deep below  "))
    }
  }

  @Test func aPlotReplacesNothingThatIsRead() throws {
    let (labels, folders, words) = fourImages()
    let before = FileManager.default.contents(atPath: labels)
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/plots", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/plots/roc.svg", withDestinationPath: labels)
    let plots = folder.path + "/plots"
    let result = runEvaluate(words + ["--plots", plots])
    result.expect(
      .usage, "Error: '\(plots)/roc.svg' is the table of labels, and '--plots <folder>' would replace it.\n")
    #expect(FileManager.default.contents(atPath: labels) == before)

    let image = try #require(try FolderImages(folders[0]).paths.first)
    let bytes = FileManager.default.contents(atPath: image)
    try FileManager.default.removeItem(atPath: "\(plots)/roc.svg")
    try FileManager.default.createSymbolicLink(atPath: "\(plots)/roc.svg", withDestinationPath: image)
    let again = runEvaluate(words + ["--plots", plots])
    again.expect(.usage, "Error: '\(plots)/roc.svg' is one of the images, and ")
    #expect(FileManager.default.contents(atPath: image) == bytes)
  }

  @Test func plotsNameTheModelAndTheDisclaimer() throws {
    let (labels, _, words) = fourImages()
    let plots = folder.path + "/plots"
    #expect(runEvaluate(words + ["--plots", plots]).status == .success)
    for name in ["confusion-matrix.svg", "roc.svg", "precision-recall.svg", "reliability.svg"] {
      let bytes = try #require(folder.contents(of: "plots/\(name)"), "\(name) was not written")
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\""))
      #expect(text.hasSuffix("</svg>\n"))
      #expect(text.contains("toy 0.0.1, SHA-256 0123456789abcdef: 4 images of 3 lesions<"), "\(name)")
      #expect(text.contains("NOT a medical device"), "\(name)")
      let openings = text.components(separatedBy: "<text ").count
      #expect(openings == text.components(separatedBy: "</text>").count, "\(name)")
      #expect(text.firstMatch(of: /\b(nan|inf)\b/) == nil, "\(name)")
    }
    // The figures are there even where a plot cannot be.
    let blocked = folder.path + "/blocked"
    folder.write("x", to: "blocked/roc.svg/file")
    let unwritten = runEvaluate(words + ["--plots", blocked])
    #expect(unwritten.status == .failure)
    #expect(unwritten.output == runEvaluate(words + ["--plots", plots]).output)
    #expect(unwritten.errors.hasSuffix("\nError: \(blocked)/roc.svg: is a folder, not a file\n"))
    // The plots appear together or not at all.
    #expect(try FileManager.default.contentsOfDirectory(atPath: blocked) == ["roc.svg"])
    // Again into the same folder, then into a file.
    #expect(runEvaluate(words + ["--plots", plots]).status == .success)
    let refused = runEvaluate(words + ["--plots", labels])
    #expect(refused.errors == "Error: \(labels): is a file, not a folder\n")
  }

  @Test func aCurveKeepsItsCornersOnly() {
    let point = { RankedScores.Point(falsePositiveRate: $0, truePositiveRate: $1) }
    let curve = [point(0, 0), point(0, 0.2), point(0, 0.5), point(0.1, 0.5), point(0.3, 0.5), point(1, 1)]
    #expect(
      EvaluationPlots.thinned(curve) == [point(0, 0), point(0, 0.5), point(0.3, 0.5), point(1, 1)])
    #expect(EvaluationPlots.thinned([]).isEmpty)
  }

  @Test func drawingsEscapeTheirText() {
    var canvas = PlotCanvas(width: 10, height: 20.5)
    canvas.label("<a & b>\n", x: 1.005, y: -2)
    let text = canvas.svg(title: "<t>")
    #expect(text.contains(">&lt;a &amp; b&gt;\\n</text>"))
    #expect(text.contains("<title>&lt;t&gt;</title>"))
    #expect(text.contains("viewBox=\"0 0 10 20.5\""))
  }

  @Test func plotsAsPDFHoldTheSameTexts() throws {
    let words = fourImages().words
    let plots = folder.path + "/plots"
    #expect(runEvaluate(words + ["--plots", plots]).status == .success)
    #expect(runEvaluate(words + ["--plots", plots, "--plot-format", "pdf"]).status == .success)
    for name in ["confusion-matrix", "roc", "precision-recall", "reliability"] {
      let svg = try #require(folder.text(of: "plots/\(name).svg"))
      let pdf = try #require(folder.text(of: "plots/\(name).pdf"))
      #expect(pdf.hasPrefix("%PDF-1.4\n") && pdf.hasSuffix("%%EOF\n"))
      #expect(pdf.firstMatch(of: /\b(nan|inf)\b/) == nil, "\(name)")
      #expect(
        pdf.components(separatedBy: "BT /").count == svg.components(separatedBy: "<text ").count, "\(name)")
      #expect(
        pdf.components(separatedBy: " Tj ET").count == svg.components(separatedBy: "</text>").count, "\(name)"
      )
      #expect(
        pdf.contains("NOT a medical device") && pdf.contains("(toy 0.0.1, SHA-256 0123456789abcdef:"),
        "\(name)")
    }
    // The number of a class's images stands beside it.
    for name in ["confusion-matrix", "roc"] {
      let svg = try #require(folder.text(of: "plots/\(name).svg"))
      #expect(svg.contains("n = "), "\(name)")
    }
    let alone = runEvaluate(words + ["--plot-format", "pdf"])
    #expect(alone.status == .usage && alone.errors.contains("--plots"), "\(alone.errors)")
  }

  @Test func drawingsInPDFEscapeTheirTextAndPlaceIt() {
    var canvas = PlotCanvas(width: 100, height: 40)
    canvas.label("a(b)\\\u{416}", x: 1, y: 2)
    // Ten digits of 0.556 each, in a size of 10.
    canvas.label("0123456789", x: 90, y: 5, anchor: .end, size: 10)
    canvas.label("0123456789", x: 50, y: 30, anchor: .middle, size: 10, isUpright: true)
    canvas.area([(1, 2), (3, 4), (5, 2)], colour: "#D55E00", opacity: 0.2)
    let text = String(decoding: canvas.pdf(title: "t", disclaimer: "d"), as: UTF8.self)
    #expect(text.contains(#"1 0 0 -1 1 2 Tm (a\(b\)\\\\u{416}) Tj"#), "\(text)")
    #expect(text.contains("1 0 0 -1 34.4 5 Tm"), "\(text)")
    #expect(text.contains("0 -1 -1 0 50 57.8 Tm"), "\(text)")
    #expect(text.contains("q /Opacity200 gs 0.835 0.369 0.000 rg 1 2 m 3 4 l 5 2 l h f Q"), "\(text)")
    #expect(
      text.contains("/Opacity200 << /ca 0.2 >>") && text.contains("/MediaBox [0 0 75.0 30.0]"), "\(text)")
  }
}
