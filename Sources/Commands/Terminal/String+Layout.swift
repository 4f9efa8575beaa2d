import Files

extension String {
  /// With control characters, line separators and changes of the writing direction as Swift writes them (`\\n`,
  /// `\\u{1B}`): names of files may hold them, and a terminal would obey.
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

  /// Without blanks at the end.
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

  /// Beside a label: ``wrapped(width:indent:)`` in the column `column`, with the label before it; below a label that is longer.
  package func labelled(_ label: String, column: Int, width: Int?) -> String {
    let text = wrapped(width: width, indent: column)
    return label.count < column ? label.padding(to: column) + text.dropFirst(column) : "\(label)\n\(text)"
  }

  /// Broken between words so that no line is longer than `width` (a longer word stands alone), every line
  /// indented. Line breaks of the text itself are kept. A `nil` width breaks nothing.
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
