/// A cell of a table that is written.
package enum CSVCell {
  /// A text as a cell by RFC 4180 that no spreadsheet takes for a formula; see ``neutralized(_:)``.
  package static func text(_ text: String) -> String { quoted(neutralized(text)) }

  /// Quoted where it holds a quote, a line break or what separates cells: a comma, and a semicolon or a tab too, which separate
  /// them for spreadsheets of other languages; and where it begins or ends with a blank, which readers may drop.
  package static func quoted(_ cell: String) -> String {
    let hasEdge = cell.utf8.first == UInt8(ascii: " ") || cell.utf8.last == UInt8(ascii: " ")
    guard hasEdge || cell.utf8.contains(where: needsQuotes) else { return cell }
    // By scalars: a quote that an accent follows is another character.
    var quoted = String.UnicodeScalarView()
    for scalar in cell.unicodeScalars { quoted += scalar == "\"" ? ["\"", "\""] : [scalar] }
    return "\"\(String(quoted))\""
  }

  private static func needsQuotes(_ byte: UInt8) -> Bool {
    [",", ";", "\t", "\"", "\n", "\r"].contains(Unicode.Scalar(byte))
  }

  /// The text with an apostrophe wherever a spreadsheet would begin a formula: at the text's start, and behind a semicolon, a tab
  /// or a line break, where a spreadsheet of another language begins a cell even inside quotes. Not quoted.
  ///
  /// A formula begins with `=`, `+`, `-`, `@`, a tab or a line break. A number is not a formula, whatever its sign. A text that
  /// begins with such an apostrophe gets a second one: different texts stay different cells.
  package static func neutralized(_ text: String) -> String {
    if !text.utf8.contains(where: beginsFormula) { return text }
    let scalars = Array(text.unicodeScalars)
    var cell = String.UnicodeScalarView()
    for (place, scalar) in scalars.enumerated() {
      if isStart(place, of: scalars), needsMark(scalars[place...], isFirst: place == 0) { cell.append("'") }
      cell.append(scalar)
    }
    return String(cell)
  }

  /// The text that ``neutralized(_:)`` made a cell of.
  package static func original(_ cell: String) -> String {
    if !cell.utf8.contains(UInt8(ascii: "'")) { return cell }
    let scalars = Array(cell.unicodeScalars)
    var text = String.UnicodeScalarView()
    for (place, scalar) in scalars.enumerated() {
      let isMark =
        scalar == "'" && isStart(place, of: scalars)
        && needsMark(scalars[(place + 1)...], isFirst: place == 0)
      if !isMark { text.append(scalar) }
    }
    return String(text)
  }

  /// True if it is the first byte of a scalar that a formula may begin with.
  private static func beginsFormula(_ byte: UInt8) -> Bool {
    ["=", "+", "-", "@", "\t", "\n", "\r", "\u{EF}"].contains(Unicode.Scalar(byte))
  }

  private static func isStart(_ place: Int, of scalars: [Unicode.Scalar]) -> Bool {
    place == 0 || separators.contains(scalars[place - 1])
  }

  /// The characters that begin a new cell, whatever the spreadsheet's language.
  private static let separators: [Unicode.Scalar] = [";", "\t", "\n", "\r"]

  /// True if a text that begins a cell is a formula, with or without apostrophes before it.
  private static func needsMark(_ text: ArraySlice<Unicode.Scalar>, isFirst: Bool) -> Bool {
    let rest = text.drop { $0 == "'" }
    guard let first = rest.first else { return false }
    switch first {
    case "+", "-":
      let word = rest.prefix { !separators.contains($0) }
      return Double(String(String.UnicodeScalarView(word))) == nil
    // The wide forms are formulas too where a spreadsheet's language has them.
    case "=", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": return true
    case "\t", "\r", "\n": return isFirst
    default: return false
    }
  }
}
