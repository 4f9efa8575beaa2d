/// A name from a file, in quotes and fit for one line of an error: characters that are unfit for names are replaced, and of
/// a long name only the beginning is shown.
package func quoted(_ name: String) -> String { "\"\(shortened(name, to: 120))\"" }

/// A text from a file, fit for one line of an error; see ``quoted(_:)``.
///
/// - Parameter limit: characters of it that are shown.
package func shortened(_ text: String, to limit: Int) -> String {
  var shown = ""
  for (count, scalar) in text.unicodeScalars.enumerated() {
    guard count < limit else { return shown + "…" }
    shown.unicodeScalars.append(scalar.isUnfitForNames ? "\u{FFFD}" : scalar)
  }
  return shown
}

extension Unicode.Scalar {
  /// Whether it ends a line for some reader, or changes the direction of writing, which lets a text show another one than
  /// it is: controls, separators and marks of direction.
  package var changesItsSurroundings: Bool {
    switch value {
    case ..<0x20, 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether no name should have it: one that changes its surroundings, or one of the 66 code points that are no
  /// characters, which an XML document may not hold.
  package var isUnfitForNames: Bool {
    changesItsSurroundings || (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE
  }
}

extension [String] {
  /// `'a', 'b'`, at most eight of them.
  package var quotedList: String {
    prefix(8).map { "'\($0)'" }.joined(separator: ", ") + (count > 8 ? ", ..." : "")
  }

  /// `'a', 'b' or 'c'`
  package var quotedAlternatives: String {
    let quoted = map { "'\($0)'" }
    guard quoted.count > 1 else { return quoted.joined() }
    return quoted.dropLast().joined(separator: ", ") + " or " + quoted.last!
  }
}
