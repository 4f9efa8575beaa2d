import Files

extension String {
  /// Escapes control characters, line separators and changes of the writing direction as Swift does (`\\n`,
  /// `\\u{1B}`). Names of files may hold them, and a terminal would obey.
  package var printable: String {
    var text = ""
    for scalar in unicodeScalars {
      if scalar.changesItsSurroundings {
        text += scalar.escaped(asASCII: true)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// Removes blanks at the end.
  package var trimmedRight: String {
    lastIndex { $0 != " " }.map { String(self[...$0]) } ?? ""
  }

  /// Filled with blanks on the right up to `width` characters.
  package func padding(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  /// Filled with blanks on the left up to `width` characters.
  package func leftPadding(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }

  /// Wraps the text in the column `column` and puts the label before it, or above it if the label is too long.
  package func labelled(_ label: String, column: Int, width: Int?) -> String {
    let text = wrapped(width: width, indent: column)
    return label.count < column ? label.padding(to: column) + text.dropFirst(column) : "\(label)\n\(text)"
  }

  /// Wraps between words at `width` (a longer word gets its own line) and indents every line. Line breaks of the
  /// text are kept. A `nil` width wraps nothing.
  package func wrapped(width: Int?, indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    guard let width else {
      return split(separator: "\n", omittingEmptySubsequences: false)
        .map { margin + $0 }.joined(separator: "\n")
    }
    var lines: [String] = []
    for paragraph in split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      for word in paragraph.split(separator: " ") {
        if line.isEmpty {
          line = margin + word
        } else if line.count + 1 + word.count <= width {
          line += " " + word
        } else {
          lines.append(line)
          line = margin + word
        }
      }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }
}

extension [String] {
  /// `a, b, c and 7 more`
  package func listed(atMost count: Int) -> String {
    prefix(count).joined(separator: ", ") + (self.count > count ? " and \(self.count - count) more" : "")
  }
}

extension CSVCell {
  /// ``text(_:)``. For a terminal, control characters and changes of the direction of writing are written as escapes, because
  /// a terminal would obey them.
  static func text(_ text: String, isForTerminal: Bool) -> String {
    isForTerminal ? quoted(neutralized(text).printable) : self.text(text)
  }
}

/// A table in text. If a line has no room for all columns, the others follow below, with the names again.
struct TextTable {
  /// One column, or several that are kept together.
  struct Column {
    let heading: String
    /// A cell for each row.
    let cells: [String]

    /// Words: as wide as the longest and `gap` blanks, at least `least`.
    static func left(_ heading: String = "", least: Int = 0, gap: Int = 1, _ cells: [String]) -> Column {
      let width = max(least, (cells + [heading]).map { $0.isEmpty ? 0 : $0.count + gap }.max() ?? 0)
      return Column(heading: heading.padding(to: width), cells: cells.map { $0.padding(to: width) })
    }

    /// Numbers, aligned at the right. A longer one shifts the rest of its row.
    static func right(_ heading: String = "", _ width: Int, _ cells: [String]) -> Column {
      Column(heading: heading.leftPadding(to: width), cells: cells.map { $0.leftPadding(to: width) })
    }

    /// Two columns that are never separated.
    static func + (left: Column, right: Column) -> Column {
      Column(heading: left.heading + right.heading, cells: zip(left.cells, right.cells).map { $0 + $1 })
    }
  }

  /// The first column of each part.
  let names: Column
  let columns: [Column]

  /// A row whose cells are blank in a part is not in that part.
  ///
  /// - Parameter width: characters a line; nil: no limit. A part has at least one column besides the names.
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

  /// Texts beside their labels, each wrapped in its own column.
  ///
  /// - Parameter column: where the texts begin.
  static func labelled(
    _ rows: [(label: String, text: String)], indent: Int = 0, column: Int, width: Int?
  ) -> [String] {
    let margin = String(repeating: " ", count: indent)
    return rows.map { $0.text.labelled(margin + $0.label, column: column, width: width) }
  }
}
