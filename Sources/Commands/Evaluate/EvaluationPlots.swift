import DermaFusion
import Evaluation
import Files

/// The plots of an evaluation. Each names the model, the number of images, known overlaps with the training data and the
/// disclaimer, so no plot is shown without them.
struct EvaluationPlots {
  enum Format: String, CaseIterable, Sendable {
    case svg, pdf
  }

  static func fileNames(_ format: Format) -> [String] {
    ["confusion-matrix", "roc", "precision-recall", "reliability"].map { "\($0).\(format)" }
  }

  /// Okabe and Ito's colours, which colour-blind people can tell apart, black in the place of their yellow, which
  /// is too light for lines on white. The dashes tell them apart in print.
  private static let styles: [(colour: String, dashes: String)] = [
    ("#E69F00", ""), ("#56B4E9", ""), ("#009E73", ""), ("#CC79A7", "7 3"), ("#D55E00", ""),
    ("#0072B2", ""), ("#000000", "2 3"),
  ]
  /// As many curves as the legend has room for.
  private static let curveCount = 18
  private static let grid = "#DDDDDD"
  private static let muted = "#555555"
  private static let width = 800.0
  private static let side = 480.0
  private static let left = 80.0
  private static let top = 88.0

  let output: EvaluationOutput

  init(_ output: EvaluationOutput) { self.output = output }

  /// The files of ``fileNames(_:)``.
  func files(_ format: Format) -> [[UInt8]] {
    [confusionMatrix(), rocCurves(), precisionRecall(), reliability()].map { title, canvas in
      switch format {
      case .svg: Array(canvas.svg(title: title).utf8)
      case .pdf: canvas.pdf(title: title, disclaimer: Wording.disclaimer)
      }
    }
  }

  private typealias Plot = (title: String, canvas: PlotCanvas)

  private func confusionMatrix() -> Plot {
    let title = "Confusion matrix"
    var canvas = Self.canvas()
    let names = output.report.labels.ids
    let cell = Self.side / Double(names.count)
    // Smaller cells have no room for numbers, and their rows none for names.
    let (holdsNumbers, holdsNames) = (cell >= 34, cell >= 12)
    for (row, counts) in output.report.set.confusionMatrix().enumerated() {
      let total = counts.reduce(0, +)
      for (column, count) in counts.enumerated() {
        let share = total == 0 ? 0 : Double(count) / Double(total)
        let x = Self.left + Double(column) * cell
        let y = Self.top + Double(row) * cell
        canvas.rectangle(
          x: x, y: y, width: cell, height: cell, fill: Self.shade(share), stroke: Self.grid)
        guard holdsNumbers else { continue }
        // Whichever has the greater contrast with the shade: at least 4.58 to 1.
        let colour = share > Self.whiteTextShare ? "#FFFFFF" : "#000000"
        canvas.label(
          String(count), x: x + cell / 2, y: y + cell / 2, anchor: .middle, size: 15, colour: colour)
        let percent = total == 0 ? "-" : "\(Int((share * 100).rounded())) %"
        canvas.label(
          percent, x: x + cell / 2, y: y + cell / 2 + 17, anchor: .middle, size: 11, colour: colour)
      }
    }
    for (index, name) in names.enumerated() where holdsNames {
      let middle = (Double(index) + 0.5) * cell
      canvas.label(name, x: Self.left + middle, y: Self.top + Self.side + 20, anchor: .middle)
      canvas.label(name, x: Self.left - 8, y: Self.top + middle + 4, anchor: .end)
      if holdsNumbers {
        canvas.label(
          "n = \(output.report.imageCount(output.report.labels[index]))", x: Self.left - 8,
          y: Self.top + middle + 19, anchor: .end, size: 11, colour: Self.muted)
      }
    }
    Self.nameAxes(&canvas, x: "Prediction", y: "Label (percent of its images)")
    return finished(canvas, title: title)
  }

  private func rocCurves() -> Plot {
    var canvas = Self.canvas()
    Self.drawAxes(&canvas)
    Self.nameAxes(&canvas, x: "False positive rate (1 - specificity)", y: "True positive rate (sensitivity)")
    canvas.line([Self.place(0, 0), Self.place(1, 1)], colour: Self.muted, dashes: "4 4")
    canvas.line([Self.place(0.1, 0), Self.place(0.1, 1)], colour: Self.muted, dashes: "1 3")
    canvas.label(
      "90 % specificity", x: Self.place(0.1, 0).x, y: Self.top - 6, anchor: .middle, size: 11,
      colour: Self.muted)
    let legend = Self.left + Self.side + 15
    canvas.label("One against the rest", x: legend, y: Self.top + 12, size: 12, isBold: true)
    canvas.label("and its AUROC", x: legend, y: Self.top + 28, size: 12, isBold: true)
    let labels = output.report.labels
    // The legend may have no room for all.
    let shown = output.largestClasses(Self.curveCount)
    for (index, label) in shown.enumerated() {
      let style = Self.styles[index % Self.styles.count]
      let curve = Self.thinned(output.report.set.curve(of: label))
      if !curve.isEmpty {
        canvas.line(
          curve.map { Self.place($0.falsePositiveRate, $0.truePositiveRate) }, colour: style.colour, width: 2,
          dashes: style.dashes)
      }
      let y = Self.top + 52 + Double(index) * 22
      canvas.line(
        [(legend, y - 4), (legend + 26, y - 4)], colour: style.colour, width: 3, dashes: style.dashes)
      let area = output.report.overall[.auroc(label.index)].text
      canvas.label(
        "\(label.id) \(area) (n = \(output.report.imageCount(label)))", x: legend + 32, y: y, size: 12)
    }
    if shown.count < labels.count {
      canvas.label(
        "\(labels.count - shown.count) classes left out", x: legend,
        y: Self.top + 52 + Double(shown.count) * 22, size: 12)
    }
    return finished(canvas, title: "ROC curves")
  }

  /// The questions that matter most, each with the band of its 95 % intervals and the precision of guessing.
  private func precisionRecall() -> Plot {
    var canvas = Self.canvas()
    Self.drawAxes(&canvas)
    Self.nameAxes(&canvas, x: "Recall (sensitivity)", y: "Precision (share of the found that are right)")
    let set = output.report.set
    var questions: [(name: String, question: EvaluationSet.Question, colour: String)] = []
    if let melanoma = set.labels.melanoma {
      questions.append(("\(melanoma.name) or not", .label(melanoma), "#D55E00"))
    }
    if set.labels.tellMalignancy { questions.append(("(pre-)malignant or not", .malignant, "#0072B2")) }
    if questions.isEmpty {
      let most = set.labels.max {
        (output.report.imageCount($0), -$0.index) < (output.report.imageCount($1), -$1.index)
      }
      if let most { questions.append(("\(most.name) or not", .label(most), "#D55E00")) }
    }
    let legend = Self.left + Self.side + 15
    for (index, (name, question, colour)) in questions.enumerated() {
      let curve = set.precisionCurve(of: question)
      let banded = curve.recalls.indices.filter { curve.intervals[$0] != nil }
      canvas.area(
        banded.map { Self.place(curve.recalls[$0], curve.intervals[$0]!.upperBound) }
          + banded.reversed().map { Self.place(curve.recalls[$0], curve.intervals[$0]!.lowerBound) },
        colour: colour, opacity: 0.2)
      canvas.line(
        [Self.place(0, curve.prevalence), Self.place(1, curve.prevalence)], colour: colour, dashes: "2 4")
      canvas.line(
        curve.recalls.indices.compactMap { place in
          curve.precisions[place].map { Self.place(curve.recalls[place], $0) }
        }, colour: colour, width: 2)
      let y = Self.top + 12 + Double(index) * 62
      canvas.line([(legend, y - 4), (legend + 26, y - 4)], colour: colour, width: 3)
      canvas.label(name, x: legend + 32, y: y, size: 12)
      canvas.label(
        "guessing: \(curve.prevalence.fixed(digits: 2)) (dots)", x: legend + 32, y: y + 17, size: 12,
        colour: Self.muted)
    }
    let y = Self.top + 12 + Double(questions.count) * 62
    canvas.label("Bands: 95 % intervals", x: legend, y: y, size: 12, colour: Self.muted)
    canvas.label(
      "by \(ChanceUnit.drawn(set.units).singular), for each recall", x: legend, y: y + 16, size: 12,
      colour: Self.muted)
    return finished(canvas, title: "Precision and recall")
  }

  private func reliability() -> Plot {
    var canvas = Self.canvas()
    Self.drawAxes(&canvas)
    Self.nameAxes(&canvas, x: "Greatest probability", y: "Accuracy")
    let bins = output.report.set.calibrationBins()
    let intervals = output.report.set.calibrationIntervals()
    let binWidth = Self.side / Double(bins.count)
    for (index, bin) in bins.enumerated() {
      guard let accuracy = bin.accuracy else { continue }
      let corner = Self.place(Double(index) / Double(bins.count), accuracy)
      canvas.rectangle(
        x: corner.x, y: corner.y, width: binWidth, height: accuracy * Self.side, fill: "#C6E2F3",
        stroke: "#0072B2")
      // Above the axes, where nothing else is drawn.
      canvas.label(
        String(bin.imageCount), x: corner.x + binWidth / 2, y: Self.top - 6, anchor: .middle, size: 10)
    }
    canvas.label("images", x: Self.left + Self.side + 8, y: Self.top - 6, size: 10)
    canvas.line([Self.place(0, 0), Self.place(1, 1)], colour: Self.muted, dashes: "4 4")
    for (bin, interval) in zip(bins, intervals) {
      guard let accuracy = bin.accuracy else { continue }
      let confidence = bin.confidence
      if let interval {
        let (upper, lower) = (
          Self.place(confidence, interval.upperBound), Self.place(confidence, interval.lowerBound)
        )
        canvas.line([upper, lower], colour: "#8C3A00", width: 2)
        for end in [upper, lower] {
          canvas.line([(end.x - 4, end.y), (end.x + 4, end.y)], colour: "#8C3A00", width: 2)
        }
      }
      let place = Self.place(confidence, accuracy)
      canvas.circle(x: place.x, y: place.y, radius: 4, fill: "#D55E00")
    }
    let legend = Self.left + Self.side + 15
    canvas.circle(x: legend + 4, y: Self.top + 8, radius: 4, fill: "#D55E00")
    canvas.label("at its mean", x: legend + 14, y: Self.top + 12, size: 12)
    canvas.label("probability, with", x: legend + 14, y: Self.top + 28, size: 12)
    canvas.label("95 % interval", x: legend + 14, y: Self.top + 44, size: 12)
    let drawn = ChanceUnit.drawn(output.report.set.units).singular
    canvas.label("by \(drawn)", x: legend + 14, y: Self.top + 60, size: 12)
    canvas.line(
      [(legend - 3, Self.top + 80), (legend + 11, Self.top + 80)], colour: Self.muted, dashes: "4 4")
    canvas.label("well calibrated", x: legend + 14, y: Self.top + 84, size: 12)
    let error = output.report.overall[.expectedCalibrationError].text
    canvas.label("ECE \(error)", x: legend, y: Self.top + 112, size: 13, isBold: true)
    return finished(canvas, title: "Reliability")
  }

  // MARK: What the plots share

  private static func canvas() -> PlotCanvas { PlotCanvas(width: width, height: top + side + 130) }

  private func finished(_ canvas: PlotCanvas, title: String) -> Plot {
    var canvas = canvas
    let overall = output.report.overall
    canvas.label(title, x: Self.left, y: 28, size: 18, isBold: true)
    canvas.label(
      "\(output.model.words): \(overall.imageCount) images of \(overall.lesionCount) lesions", x: Self.left,
      y: 50, size: 12, colour: Self.muted)
    canvas.label(
      output.reservations.joined(separator: "; "), x: Self.left, y: 67, size: 12, colour: Self.muted)
    let lines = Wording.disclaimer.wrapped(width: 112, indent: 0).split(separator: "\n")
    for (index, line) in lines.enumerated() {
      canvas.label(
        String(line), x: 20, y: Self.top + Self.side + 75 + Double(index) * 15, size: 11, colour: Self.muted)
    }
    return (title, canvas)
  }

  /// The place on the plot of a point of the unit square.
  private static func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (left + x * side, top + (1 - y) * side)
  }

  private static func drawAxes(_ canvas: inout PlotCanvas) {
    for tick in 0...5 {
      let value = Double(tick) / 5
      let text = value.fixed(digits: 1)
      canvas.line([place(value, 0), place(value, 1)], colour: grid)
      canvas.line([place(0, value), place(1, value)], colour: grid)
      canvas.label(text, x: place(value, 0).x, y: top + side + 20, anchor: .middle)
      canvas.label(text, x: left - 8, y: place(0, value).y + 4, anchor: .end)
    }
    canvas.line([place(0, 1), place(0, 0), place(1, 0)], colour: "#111111")
  }

  private static func nameAxes(_ canvas: inout PlotCanvas, x: String, y: String) {
    canvas.label(x, x: left + side / 2, y: top + side + 44, anchor: .middle)
    canvas.label(y, x: 24, y: top + side / 2, anchor: .middle, isUpright: true)
  }

  /// From here on white text stands out from a shade more than black does.
  private static let whiteTextShare = 0.931

  /// White to Okabe and Ito's blue.
  private static func shade(_ share: Double) -> String {
    let blue: [Double] = [0, 114, 178]
    return "#"
      + blue.map { end in
        let level = Int((255 + (end - 255) * share).rounded())
        return (level < 16 ? "0" : "") + String(level, radix: 16, uppercase: true)
      }.joined()
  }

  /// The corners only: points between two others on a level or upright stretch do not show.
  static func thinned(_ curve: [RankedScores.Point]) -> [RankedScores.Point] {
    var kept: [RankedScores.Point] = []
    for point in curve {
      if kept.count >= 2 {
        let (first, middle) = (kept[kept.count - 2], kept[kept.count - 1])
        let isLevel =
          first.truePositiveRate == middle.truePositiveRate
          && middle.truePositiveRate == point.truePositiveRate
        let isUpright =
          first.falsePositiveRate == middle.falsePositiveRate
          && middle.falsePositiveRate == point.falsePositiveRate
        if isLevel || isUpright { kept.removeLast() }
      }
      kept.append(point)
    }
    return kept
  }
}
