import DermaFusion
import Files

/// A result for a person to read.
struct ClassificationText {
  /// Characters a line; `nil` leaves sentences whole, for files and for programs that look for them.
  let width: Int?
  let usesColour: Bool
  private let language: Language
  /// The column at which the texts beside labels begin.
  private let column: Int

  init(width: Int?, usesColour: Bool, language: Language = .english) {
    self.width = width
    self.usesColour = usesColour
    self.language = language
    let labels = ["risk", "confidence", "metadata", "warning", "views", "model", "time"]
    let titles = labels.map { language["text.\($0)"] } + [Self.setTitle("90", in: language)]
    column = 4 + titles.map(\.count).max()!
  }

  private func word(_ name: String) -> String { language["text.\(name)"] }

  private static func setTitle(_ percent: String, in language: Language) -> String {
    language["reportFile.set", values: ["percent": percent]]
  }

  /// The width of the bar of a probability of 1, in characters.
  private static let barWidth = 30
  /// Narrower than this a bar says nothing.
  private static let leastBarWidth = 5
  private static let margin = 2

  /// The likeliest classes that are shown.
  private static let shownClassCount = 10

  /// The likeliest classes as bars, the risk, what was missing, the warnings, the model and the disclaimer.
  ///
  /// - Parameter imageName: the title.
  func text(_ reported: ReportedResult, imageName: String) -> String {
    let (result, timing, shares) = (reported.classification, reported.timing, reported.shares)
    var lines = [emphasised(imageName.printable), "", sentence(result.summary(in: language)), ""]
    if result.abstains {
      lines += [sentence(word("unreliable")), ""]
    }
    lines += bars(result)
    if let shares { lines += [""] + table(shares) }
    lines.append("")
    lines.append(risk(result.outcome))
    if result.isMultiLabel { lines.append(labelled(word("classes"), language["result.severalClasses"])) }
    if let confidence = Wording.sentence(for: result.confidence, in: language) {
      lines.append(labelled(word("confidence"), confidence))
    }
    // The coverage is that of validation photographs; one from which the model abstains is like few of them.
    if let set = result.answer?.conformalSet {
      let names = set.classes.prefix(Self.shownClassCount).map { language.name($0) }
        .joined(separator: ", ")
      let rest = set.classes.count - Self.shownClassCount
      let title =
        set.coverage.map { Self.setTitle("\(Int(($0 * 100).rounded()))", in: language) } ?? word("anySet")
      // Without a share the reader would take the set for one of 90 %.
      let reserve = set.coverage == nil ? word("unknownShare") : ""
      let all =
        rest > 0 ? language["text.andMore", values: ["names": names, "count": "\(rest)"]] : names
      lines.append(labelled(title, all + reserve))
    }
    lines.append(labelled(word("metadata"), result.metadata.description(in: language)))
    lines += result.warningSentences(in: language).map { labelled(word("warning"), $0) }
    if result.views != .upright { lines.append(labelled(word("views"), result.views.sentence(in: language))) }
    lines.append(labelled(word("model"), result.model.words))
    if let timing { lines.append(labelled(word("time"), timing.words(in: language))) }
    lines += [""] + language.disclaimerParagraphs.map(sentence)
    return lines.joined(separator: "\n") + "\n"
  }

  private func risk(_ outcome: Classification.Outcome) -> String {
    switch outcome {
    case .abstained: labelled(word("risk"), word("abstains"))
    case .answer(let answer):
      if let risk = answer.risk {
        labelled(word("risk"), Wording.sentence(for: risk, in: language), colour: Self.colour(for: risk))
      } else {
        labelled(word("risk"), word("unjudged"))
      }
    }
  }

  /// A row of logits for each class that is shown, a column for each set of fields.
  private func table(_ shares: MetadataShares) -> [String] {
    let labels = shares.everything.ranked.prefix(Self.shownClassCount).sorted { $0.index < $1.index }
    return TextTable(
      names: .left(
        "  \(word("logitsWith"))", least: 31, gap: 0, labels.map { "  " + language.name($0).printable }),
      columns: shares.named.map { share in
        .right(
          word("logits.\(share.key)"), 9,
          labels.map { language.number(Double(share.logits[$0]).fixed(digits: 3)) })
      }
    ).lines(width: nil)
  }

  private func nameWidth(_ labels: some Sequence<LesionLabel>) -> Int {
    max(29, labels.map { language.name($0).printable.count }.max() ?? 0)
  }

  private func bars(_ result: Classification) -> [String] {
    let ranked = result.probabilities.ranked
    let shown = ranked.prefix(Self.shownClassCount)
    let width = nameWidth(shown)
    // Beside the name, the percentage and their margins.
    let room = (self.width ?? .max) - (width + 2 * Self.margin + 7)
    let barWidth = room < Self.leastBarWidth ? 0 : min(room, Self.barWidth)
    let lines = shown.map { label in
      let probability = result.probabilities[label]
      let percentage = Wording.percentage(probability, in: language).leftPadding(to: 7)
      let line =
        "  \(language.name(label).printable.padding(to: width))\(percentage)  \(Self.bar(Double(probability), width: barWidth))"
        .trimmedRight
      return label == result.prediction ? emphasised(line) : line
    }
    let rest = ranked.dropFirst(shown.count)
    if rest.isEmpty { return lines }
    let values = rest.map { result.probabilities[$0] }
    // The sum of classes that may all be right is no probability.
    let share = result.isMultiLabel ? values[0] : values.reduce(0, +)
    let others = language[
      result.isMultiLabel ? "text.moreClassesAtMost" : "text.moreClasses", values: ["count": "\(rest.count)"]]
    return lines
      + [
        "  \(others)".padding(to: 2 + width)
          + Wording.percentage(share, in: language).leftPadding(to: 7)
      ]
  }

  /// Eighths of a character, so that small probabilities can be told apart.
  private static func bar(_ fraction: Double, width: Int) -> String {
    let eighths = Int((fraction * Double(width * 8)).rounded())
    let full = String(repeating: "█", count: eighths / 8)
    return full + ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
  }

  private func sentence(_ text: String) -> String { text.wrapped(width: width, indent: 0) }

  private func labelled(_ label: String, _ text: String, colour: String? = nil) -> String {
    let labelled = text.labelled("  " + label, column: column, width: width)
    return labelled.prefix(column) + marked(String(labelled.dropFirst(column)), with: colour)
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
  fileprivate func words(in language: Language) -> String {
    let number = { (milliseconds: Double) in language.number(milliseconds.fixed(digits: 1)) }
    return language[
      "text.times",
      values: [
        "decode": number(decodeMilliseconds), "preprocess": number(preprocessMilliseconds),
        "network": number(networkMilliseconds),
      ]]
  }
}
