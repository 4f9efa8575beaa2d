/// A cell of a table that is written.
package enum CSVCell {
  /// A text as a cell by RFC 4180: quoted where it holds a comma, a quote or a line break.
  ///
  /// A spreadsheet takes a cell for a formula, and runs it, when it begins with `=`, `+`, `-`, `@`, a tab or a carriage return.
  /// Such a text gets an apostrophe before it, which a spreadsheet shows as the mark of text; it is a text for every other reader
  /// too. A number is none, whatever its sign.
  ///
  /// - Parameter isForTerminal: control characters and changes of the direction of writing, which a terminal would obey, are then
  ///   written as escapes.
  package static func text(_ text: String, isForTerminal: Bool = false) -> String {
    let cell = isForTerminal ? (isFormula(text) ? "'" : "") + text.printable : neutralized(text)
    guard cell.unicodeScalars.contains(where: { [",", "\"", "\n", "\r"].contains($0) }) else { return cell }
    // By scalars: a quote that an accent follows is another character.
    var quoted = String.UnicodeScalarView()
    for scalar in cell.unicodeScalars { quoted += scalar == "\"" ? ["\"", "\""] : [scalar] }
    return "\"\(String(quoted))\""
  }

  /// The text with an apostrophe before it where it would be a formula, not quoted.
  package static func neutralized(_ text: String) -> String { isFormula(text) ? "'" + text : text }

  private static func isFormula(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first else { return false }
    switch first {
    case "+", "-": return Double(text) == nil
    // The wide forms are formulas too where a spreadsheet's language has them.
    case "=", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}": return true
    default: return false
    }
  }
}
