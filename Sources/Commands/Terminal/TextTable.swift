/// A table in text. Where a line has no room for all columns, those that are left follow below, with the names again.
struct TextTable {
  /// One column, or several that stand together.
  struct Column {
    let heading: String
    /// One for each row.
    let cells: [String]

    /// Words: as wide as the longest and `gap` blanks, at least `least`.
    static func left(_ heading: String = "", least: Int = 0, gap: Int = 1, _ cells: [String]) -> Column {
      let width = max(least, (cells + [heading]).map { $0.isEmpty ? 0 : $0.count + gap }.max() ?? 0)
      return Column(heading: heading.padding(to: width), cells: cells.map { $0.padding(to: width) })
    }

    /// Numbers, which end below each other. A longer one pushes what follows in its row.
    static func right(_ heading: String = "", _ width: Int, _ cells: [String]) -> Column {
      Column(heading: heading.leftPadding(to: width), cells: cells.map { $0.leftPadding(to: width) })
    }

    /// Two columns that are never parted.
    static func + (left: Column, right: Column) -> Column {
      Column(heading: left.heading + right.heading, cells: zip(left.cells, right.cells).map { $0 + $1 })
    }
  }

  /// The first column of each part.
  let names: Column
  let columns: [Column]

  /// A row whose cells are blank in a part is not in that part.
  ///
  /// - Parameter width: characters a line; nil: as many as it takes. A part has at least one column besides the names.
  func lines(width: Int?) -> [String] {
    var lines: [String] = []
    var rest = columns[...]
    repeat {
      var part = [rest.removeFirst()]
      var used = names.heading.count + part[0].heading.count
      while let next = rest.first, width.map({ used + next.heading.count <= $0 }) ?? true {
        part.append(rest.removeFirst())
        used += next.heading.count
      }
      if !lines.isEmpty { lines.append("") }
      lines.append((names.heading + part.map(\.heading).joined()).trimmedRight)
      for row in names.cells.indices {
        let cells = part.map { $0.cells[row] }.joined().trimmedRight
        if !cells.isEmpty { lines.append(names.cells[row] + cells) }
      }
    } while !rest.isEmpty
    return lines
  }

  /// Texts beside their labels: each is broken in its own column.
  ///
  /// - Parameters:
  ///   - indent: blanks before the labels.
  ///   - column: where the texts begin.
  static func labelled(
    _ rows: [(label: String, text: String)], indent: Int = 0, column: Int, width: Int?
  ) -> [String] {
    let margin = String(repeating: " ", count: indent)
    return rows.map { $0.text.labelled(margin + $0.label, column: column, width: width) }
  }
}
