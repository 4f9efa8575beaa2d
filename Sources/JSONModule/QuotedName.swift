/// A name from a file, in quotes and fit for one line of an error: control characters are replaced, and of a long
/// name only the beginning is shown.
package func quoted(_ name: String) -> String {
  var shown = "\""
  for (count, scalar) in name.unicodeScalars.enumerated() {
    guard count < 120 else {
      shown += "…"
      break
    }
    // Unicode's category Cc.
    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    shown.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
  }
  return shown + "\""
}
