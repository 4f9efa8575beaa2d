import DermaFusion
import Files

/// A result for a person to read.
struct ClassificationText {
  /// Where the texts beside labels begin.
  private static let column = 14

  /// Characters a line; `nil` leaves sentences whole, for files and for programs that look for them.
  let width: Int?
  let usesColour: Bool

  /// Of a probability of 1, in characters.
  private static let barWidth = 30
  /// Narrower than this a bar says nothing.
  private static let leastBarWidth = 5
  private static let margin = 2

  /// The likeliest classes that are shown.
  private static let shownClassCount = 10

  /// The likeliest classes as bars, the risk, what was missing, the warnings, the model and the disclaimer.
  ///
  /// - Parameters:
  ///   - timing: nil: not told.
  ///   - shares: nil: not told.
  func text(
    _ result: Classification, imageName: String, timing: ClassificationTiming? = nil,
    shares: MetadataShares? = nil
  ) -> String {
    var lines = [emphasised(imageName.printable), "", sentence(result.summary), ""]
    if result.abstains {
      lines += [sentence("The probabilities, which mean little for this image:"), ""]
    }
    lines += bars(result)
    if let shares { lines += [""] + Self.table(shares) }
    lines.append("")
    lines.append(risk(result.outcome))
    if result.isMultiLabel { lines.append(labelled("Classes", Wording.severalClasses)) }
    if let confidence = Wording.sentence(for: result.confidence) {
      lines.append(labelled("Confidence", confidence))
    }
    // The coverage is that of validation photographs; one from which the model abstains is like few of them.
    if let set = result.answer?.conformalSet {
      let names = set.classes.prefix(Self.shownClassCount).map(\.name).joined(separator: ", ")
      let rest = set.classes.count - Self.shownClassCount
      let title = set.coverage.map { "\(Int(($0 * 100).rounded())) % set" } ?? "Set"
      // Without a share the reader would take the set for one of 90 %.
      let reserve = set.coverage == nil ? "; how often it holds the right class is not known" : ""
      lines.append(labelled(title, (rest > 0 ? "\(names) and \(rest) more" : names) + reserve))
    }
    lines.append(labelled("Metadata", result.metadata.description))
    lines += result.warningSentences.map { labelled("Warning", $0) }
    if result.views != .upright { lines.append(labelled("Views", result.views.sentence)) }
    lines.append(labelled("Model", result.model.words))
    if let timing { lines.append(labelled("Time", timing.words)) }
    lines += ["", sentence(result.disclaimer)]
    return lines.joined(separator: "\n") + "\n"
  }

  private func risk(_ outcome: Classification.Outcome) -> String {
    switch outcome {
    case .abstained: labelled("Risk", "not judged, since the model abstains")
    case .answer(let answer):
      if let risk = answer.risk {
        labelled("Risk", Wording.sentence(for: risk), colour: Self.colour(for: risk))
      } else {
        labelled("Risk", "not judged, since the model does not say which of its classes are malignant")
      }
    }
  }

  /// A row of logits for each class that is shown, a column for each set of fields.
  private static func table(_ shares: MetadataShares) -> [String] {
    let labels = shares.everything.ranked.prefix(shownClassCount).sorted { $0.index < $1.index }
    return TextTable(
      names: .left("  Logits with", least: 31, gap: 0, labels.map { "  " + $0.name.printable }),
      columns: shares.named.map { share in
        .right(share.heading, 9, labels.map { Double(share.logits[$0]).fixed(digits: 3) })
      }
    ).lines(width: nil)
  }

  private static func nameWidth(_ labels: some Sequence<LesionLabel>) -> Int {
    max(29, labels.map(\.name.printable.count).max() ?? 0)
  }

  private func bars(_ result: Classification) -> [String] {
    let ranked = result.probabilities.ranked
    let shown = ranked.prefix(Self.shownClassCount)
    let width = Self.nameWidth(shown)
    // Beside the name, the percentage and their margins.
    let room = (self.width ?? .max) - (width + 2 * Self.margin + 7)
    let barWidth = room < Self.leastBarWidth ? 0 : min(room, Self.barWidth)
    let lines = shown.map { label in
      let probability = result.probabilities[label]
      let percentage = Wording.percentage(probability).leftPadding(to: 7)
      let line =
        "  \(label.name.printable.padding(to: width))\(percentage)  \(Self.bar(Double(probability), width: barWidth))"
        .trimmedRight
      return label == result.prediction ? emphasised(line) : line
    }
    let rest = ranked.dropFirst(shown.count)
    if rest.isEmpty { return lines }
    let values = rest.map { result.probabilities[$0] }
    // Of classes that may all be right, the sum is no probability.
    let share = result.isMultiLabel ? values[0] : values.reduce(0, +)
    let title = "  \(rest.count) more classes" + (result.isMultiLabel ? ", each at most" : "")
    return lines + [title.padding(to: 2 + width) + Wording.percentage(share).leftPadding(to: 7)]
  }

  /// Eighths of a character, so that small probabilities can be told apart.
  private static func bar(_ fraction: Double, width: Int) -> String {
    let eighths = Int((fraction * Double(width * 8)).rounded())
    let full = String(repeating: "█", count: eighths / 8)
    return full + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
  }

  private func sentence(_ text: String) -> String { text.wrapped(width: width, indent: 0) }

  private func labelled(_ label: String, _ text: String, colour: String? = nil) -> String {
    let labelled = text.labelled("  " + label, column: Self.column, width: width)
    return labelled.prefix(Self.column) + marked(String(labelled.dropFirst(Self.column)), with: colour)
  }

  private func emphasised(_ text: String) -> String { marked(text, with: "1") }

  /// Marked last, when the text is wrapped: the marks take no room on the terminal.
  private func marked(_ text: String, with code: String?) -> String {
    guard usesColour, let code else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  private static func colour(for risk: RiskLevel) -> String? {
    switch risk {
    case .low: nil
    case .moderate: "33"
    case .high: "31"
    }
  }
}

extension ClassificationTiming {
  fileprivate var words: String {
    [
      ("decode", decodeMilliseconds), ("preprocess", preprocessMilliseconds),
      ("network", networkMilliseconds),
    ].map { "\($0.0) \($0.1.fixed(digits: 1)) ms" }.joined(separator: ", ")
  }
}
