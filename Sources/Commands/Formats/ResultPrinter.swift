import DermaFusion
import SystemModule

/// A report on one image of a batch.
protocol ImageReport: Report {
  var classification: Classification { get }
  /// As it was given.
  var imageName: String { get }
  /// What a table's row says besides the result.
  var remarks: [String] { get }
}

extension ImageReport {
  var remarks: [String] { [] }
}

/// Writes reports one by one in one format, each as soon as it is there.
struct ResultPrinter {
  let format: OutputFormat
  let output: any ByteOutput
  /// Characters a line where a person looks at the output; nil for a file or a pipe.
  let width: Int?
  /// For the text of many images; nil: each has a text of its own.
  let table: BatchTable?
  /// Whether nothing was written before.
  var isFirst = true
  /// The classes that a table's rows name.
  private(set) var labels: [LesionLabel] = []

  mutating func print(_ report: some ImageReport) throws(DermaFusionError) {
    // Each report is written at once, so that an interruption leaves at most one line unfinished.
    if let table {
      let result = report.classification
      let row = table.row(result, imageName: report.imageName, others: report.remarks)
      try write((isFirst ? table.header : "") + row)
      for label in [result.prediction, result.answer?.concern].compactMap({ $0 })
      where !labels.contains(label) {
        labels.append(label)
      }
    } else {
      try write(format.text(of: report, isFirst: isFirst, width: width))
    }
    isFirst = false
  }

  /// What a table ends with, when it has begun.
  func finish(_ summary: BatchSummary) throws(DermaFusionError) {
    guard let table, !isFirst else { return }
    try write(table.footer(summary, labels: labels.sorted { $0.index < $1.index }))
  }

  private func write(_ text: String) throws(DermaFusionError) { try output.write(Array(text.utf8)) }
}
