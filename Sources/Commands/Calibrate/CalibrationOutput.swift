import DermaFusion
import Evaluation
import Files

/// What the command says when the model is written.
struct CalibrationOutput: PlainReport {
  let report: CalibrationReport
  /// The new model.
  let model: ModelIdentity
  /// Where it lies.
  let folder: String

  var members: [(key: String, value: JSONValue)] {
    [
      ("model", model.json), ("folder", .string(folder)), ("listed", .integer(report.listedCount)),
    ] + report.members + [("notes", .strings(report.notes))]
  }

  func lines(width: Int?) -> [String] {
    let head =
      [
        ("Model", report.origin.words), ("Written", "\(model.words), in \(folder.printable)"),
        ("Images", "\(report.imageCount) of \(report.listedCount), of \(report.lesionCount) lesions"),
        ("Temperature", "\(report.fitted.fit.temperature) instead of \(report.present.fit.temperature)"),
        (
          "Bias",
          zip(report.labels.ids, report.fitted.fit.bias)
            .map { "\($0.printable) \($1 < 0 ? "" : "+")\($1.fixed(digits: 3))" }.joined(separator: ", ")
        ),
      ] + report.notes.map { ("Note", $0) }
    var lines = head.map { $0.1.labelled($0.0, column: 13, width: width) }
    lines += [""] + table.lines(width: width)
    lines += [
      "",
      "The figures after are cross-fitted; in brackets 95 % intervals by lesion. The model that was written is fitted to all images."
        .wrapped(width: width, indent: 0),
    ]
    return lines
  }

  private var table: TextTable {
    let rows = report.comparison.rows
    func column(
      _ heading: String, _ value: (CalibrationComparison.Row) -> CalibrationComparison.Value
    ) -> TextTable.Column {
      let width = 28
      return TextTable.Column(
        heading: heading.padding(to: width), cells: rows.map { value($0).words.padding(to: width) })
    }
    return TextTable(
      names: TextTable.Column(
        heading: "".padding(to: 28), cells: rows.map { $0.figure.title.padding(to: 28) }),
      columns: [
        column("before", \.before), column("after", \.after), column("difference", \.difference),
      ])
  }
}
