/// A table in text. Where a line has no room for all columns, those that are left follow below, with the names again.
struct TextTable {
  /// One column, or several that stand together.
  struct Column {
    let heading: String
    /// One for each row, all as wide as the heading; shorter where nothing follows in the row.
    let cells: [String]
  }

  /// The first column of each part.
  let names: Column
  let columns: [Column]

  /// A row without a cell in a part is not in that part.
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
      for row in names.cells.indices where part.contains(where: { !$0.cells[row].isEmpty }) {
        lines.append((names.cells[row] + part.map { $0.cells[row] }.joined()).trimmedRight)
      }
    } while !rest.isEmpty
    return lines
  }
}
