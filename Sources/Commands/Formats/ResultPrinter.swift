import SystemModule
import CommandLineSupport
import DermaFusion
import JSONModule

/// Writes results one by one in one format, each as soon as it is there.
struct ResultPrinter {
  let format: OutputFormat
  let showsTiming: Bool
  let output: any ByteOutput
  /// How text is laid out.
  let text: ClassificationText
  /// For the text of many images; nil: each has a text of its own.
  let table: BatchTable?
  /// Whether nothing was written before.
  var isFirst = true
  /// The classes that a table's rows name.
  private var labels: [LesionLabel] = []

  init(
    format: OutputFormat, showsTiming: Bool, output: any ByteOutput, text: ClassificationText,
    table: BatchTable? = nil, isFirst: Bool = true
  ) {
    self.format = format
    self.showsTiming = showsTiming
    self.output = output
    self.text = text
    self.table = table
    self.isFirst = isFirst
  }

  /// A table on a terminal's standard output.
  static func table(of names: [String], labels: Labels, terminal: Terminal) -> ResultPrinter {
    ResultPrinter(
      format: .text, showsTiming: false, output: terminal.output,
      text: ClassificationText(width: terminal.width, usesColour: terminal.usesColour),
      table: BatchTable(
        names: names, labels: labels, width: terminal.width, usesColour: terminal.usesColour))
  }

  /// - Parameter remarks: what a table's row says besides the result.
  mutating func print(
    _ result: Classification, timing: ClassificationTiming = ClassificationTiming(),
    shares: MetadataShares? = nil,
    imageName: String, remarks: [String] = []
  ) throws(OutputError) {
    let timing = showsTiming ? timing : nil
    // Each result is written at once, so that an interruption leaves at most one line unfinished.
    switch format {
    case .text where table != nil:
      try write((isFirst ? table!.header : "") + table!.row(result, imageName: imageName, others: remarks))
      for label in [result.prediction, result.answer?.concern].compactMap({ $0 })
      where !labels.contains(label) {
        labels.append(label)
      }
    case .text:
      try write(
        (isFirst ? "" : "\n") + text.text(result, imageName: imageName, timing: timing, shares: shares))
    case .json:
      try write(result.orderedJSON(imageName: imageName, shares: shares, timing: timing).text + "\n")
    case .csv:
      let header = ClassificationCSV.header(
        labels: result.probabilities.labels, showsTiming: timing != nil, views: result.views)
      let row = ClassificationCSV.row(
        result, imageName: imageName, timing: timing, isForTerminal: text.width != nil)
      try write((isFirst ? header : "") + row)
    }
    isFirst = false
  }

  /// What a table ends with, when it has begun.
  func finish(_ summary: BatchSummary) throws(OutputError) {
    guard let table, !isFirst else { return }
    try write(table.footer(summary, labels: labels.sorted { $0.index < $1.index }))
  }

  private func write(_ text: String) throws(OutputError) { try output.write(Array(text.utf8)) }
}

extension ClassificationTiming {
  var totalMilliseconds: Double { decodeMilliseconds + preprocessMilliseconds + networkMilliseconds }

  var words: String {
    let parts = [
      ("decode", decodeMilliseconds), ("preprocess", preprocessMilliseconds),
      ("network", networkMilliseconds),
    ]
    return parts.map { "\($0.0) \($0.1.fixed(digits: 1)) ms" }.joined(separator: ", ")
  }
}
