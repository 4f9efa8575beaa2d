import DermaFusion

/// Prints results of many images: a row for each image, and shared remarks once.
struct BatchTable {
  private let width: Int?
  private let usesColour: Bool
  private let nameWidth: Int
  private let classWidth: Int
  private let language: Language

  private static let gap = "  "
  private let percentageWidth: Int
  private static let riskWidth = 8
  /// Remarks with less room than this get a line of their own.
  private static let leastRemarkWidth = 24

  /// - Parameters:
  ///   - names: of all images. The widths of the columns are then known before the first result.
  ///   - width: characters a line; nil: no limit.
  init(
    names: [String], labels: Labels, width: Int?, usesColour: Bool, language: Language = .english
  ) {
    self.width = width
    self.language = language
    percentageWidth = Wording.percentage(1, in: language).count
    self.usesColour = usesColour
    classWidth = max(language["table.class"].count, min(labels.ids.map { $0.printable.count }.max() ?? 0, 20))
    let longest = max(language["table.image"].count, names.map { $0.printable.count }.max() ?? 0)
    let others = classWidth + percentageWidth + Self.riskWidth + 4 * Self.gap.count
    // A remark goes beside the row if there is room. Otherwise the name takes the whole line.
    nameWidth =
      width.map { width in
        let room = width - others - Self.leastRemarkWidth
        return min(longest, room >= min(longest, 16) ? room : max(width - others + Self.gap.count, 8))
      } ?? longest
  }

  var header: String {
    let remark = word("remark")
    let line = cells(word("image"), word("class"), word("probability"), word("risk")) + Self.gap + remark
    return emphasised(
      remarkWidth == nil || remarkWidth! >= Self.leastRemarkWidth
        ? line : String(line.dropLast(remark.count)).trimmedRight) + "\n"
  }

  /// - Parameter others: remarks that follow the result's own.
  func row(_ result: Classification, imageName: String, others: [String] = []) -> String {
    let name = shortened(imageName.printable)
    guard let answer = result.answer else {
      let reasons = result.abstention.reasons.map { word("reasons.\($0.rawValue)") }.joined(separator: ", ")
      let remark = language["table.abstains", values: ["reasons": reasons]]
      return line(cells(name, "-", "-", "-"), remarks: [remark] + others)
    }
    var remarks = result.warnings.map { word("warnings.\($0.rawValue)") }
    if let concern = answer.concern, let probability = answer.concernProbability {
      let percent = Wording.percentage(probability, in: language)
      remarks.insert(
        language["reportFile.cannotExclude", values: ["name": concern.id.printable, "percent": percent]],
        at: 0)
    }
    if result.confidence == .low { remarks.append(word("lowConfidence")) }
    let risk = answer.risk.map { word("risks.\($0.rawValue)") } ?? "-"
    let plain = cells(
      name, answer.prediction.id.printable, Wording.percentage(answer.probability, in: language), risk)
    return line(coloured(plain, answer.risk), remarks: remarks + others)
  }

  /// The classes that occur, by their names, the summary and the disclaimer.
  func footer(_ summary: BatchSummary) -> String {
    let names = summary.namedLabels.filter { $0.name != $0.id }
      .map { "\($0.id) \(language.name($0))".printable }
      .joined(separator: ", ")
    let paragraphs =
      [
        names.isEmpty ? "" : language["table.classes", values: ["names": names]],
        summary.sentences(in: language).joined(separator: " "), word("notDiagnosis"),
      ] + language.disclaimerParagraphs
    return paragraphs.filter { !$0.isEmpty }.map { "\n" + $0.wrapped(width: width, indent: 0) + "\n" }
      .joined()
  }

  // MARK: - Parts

  private func word(_ name: String) -> String { language["table.\(name)"] }

  private var remarkColumn: Int {
    nameWidth + classWidth + percentageWidth + Self.riskWidth + 4 * Self.gap.count
  }
  /// nil: no limit.
  private var remarkWidth: Int? { width.map { $0 - remarkColumn } }

  private func cells(_ name: String, _ label: String, _ percentage: String, _ risk: String) -> String {
    [
      name.padding(to: nameWidth), label.padding(to: classWidth),
      percentage.leftPadding(to: percentageWidth), risk.padding(to: Self.riskWidth),
    ].joined(separator: Self.gap)
  }

  private func line(_ cells: String, remarks: [String]) -> String {
    if remarks.isEmpty { return cells.trimmedRight + "\n" }
    let text = remarks.joined(separator: "; ")
    guard let width, let remarkWidth else { return cells + Self.gap + text + "\n" }
    if remarkWidth >= Self.leastRemarkWidth {
      return cells + Self.gap + text.wrapped(width: width, indent: remarkColumn).dropFirst(remarkColumn)
        + "\n"
    }
    return cells.trimmedRight + "\n" + text.wrapped(width: width, indent: 4) + "\n"
  }

  /// Keeps the end of a path, which is more telling than its beginning.
  private func shortened(_ name: String) -> String {
    name.count <= nameWidth ? name : "\u{2026}" + name.suffix(nameWidth - 1)
  }

  private func emphasised(_ text: String) -> String { usesColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  private func coloured(_ text: String, _ risk: RiskLevel?) -> String {
    guard usesColour, let risk, risk > .low else { return text }
    let cell = word("risks.\(risk.rawValue)").padding(to: Self.riskWidth)
    return text.dropLast(Self.riskWidth) + "\u{1B}[\(risk == .high ? 31 : 33)m\(cell)\u{1B}[0m"
  }
}

/// Counts the results of several images or lesions.
struct BatchSummary {
  /// The name of what has a result.
  var unit = "image"
  /// Images with a result.
  private(set) var count = 0
  /// Images without a result, whatever ``unit`` is.
  var failedCount = 0
  private(set) var abstainedCount = 0
  /// Counts, by the index of a class in ``labels``.
  private var classCounts: [Int] = []
  private var labels: [LesionLabel] = []
  private(set) var riskCounts: [RiskLevel: Int] = [:]
  /// Indices of the classes that the rows name.
  private var namedPlaces: Set<Int> = []

  mutating func add(_ result: Classification) {
    count += 1
    if labels.isEmpty {
      labels = Array(result.probabilities.labels)
      classCounts = [Int](repeating: 0, count: labels.count)
    }
    guard let answer = result.answer else {
      abstainedCount += 1
      return
    }
    classCounts[answer.prediction.index] += 1
    namedPlaces.formUnion([answer.prediction.index, answer.concern?.index ?? answer.prediction.index])
    if let risk = answer.risk { riskCounts[risk, default: 0] += 1 }
  }

  /// The likeliest classes and those that cannot be excluded, in the order of the classes.
  var namedLabels: [LesionLabel] { labels.filter { namedPlaces.contains($0.index) } }

  mutating func addFailure() { failedCount += 1 }

  /// `12 images: 7 nv, 3 mel, 1 bkl.` and `Risk: 3 high, 1 moderate, 7 low. The model abstains from 1. 2 failed.`
  var sentences: [String] { sentences(in: .english) }

  /// ``sentences`` in a language.
  func sentences(in language: Language) -> [String] {
    let classes = labels.filter { classCounts[$0.index] > 0 }
      .sorted { (classCounts[$0.index], $1.index) > (classCounts[$1.index], $0.index) }
      .map { "\(classCounts[$0.index]) \($0.id)" }
    let images =
      unit == "image"
      ? language["reportFile.images", count: Double(count)] : "\(count) \(unit)\(count == 1 ? "" : "s")"
    var sentences = [
      "\(([images] + (classes.isEmpty ? [] : [classes.joined(separator: ", ")])).joined(separator: language["table.colon"]))."
    ]
    if !riskCounts.isEmpty {
      let count = { (risk: RiskLevel) in "\(riskCounts[risk, default: 0])" }
      sentences.append(
        language[
          "reportFile.risks",
          values: ["high": count(.high), "moderate": count(.moderate), "low": count(.low)]])
    } else if count > abstainedCount {
      sentences.append(language["table.unjudged"])
    }
    if abstainedCount > 0 {
      sentences.append(language["reportFile.abstained", count: Double(abstainedCount)])
    }
    if failedCount > 0 {
      sentences.append(
        unit == "image"
          ? language["reportFile.failed", count: Double(failedCount)]
          : "\(failedCount) image\(failedCount == 1 ? "" : "s") failed.")
    }
    return sentences
  }
}
