/// A name from a file, in quotes and fit for one line of an error: control characters are replaced, and of a long
/// name only the beginning is shown.
package func quoted(_ name: String) -> String {
  var shown = "\""
  for (count, scalar) in name.unicodeScalars.enumerated() {
    guard count < 120 else {
      shown += "…"
      break
    }
    let isControl = scalar.properties.generalCategory == .control
    shown.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
  }
  return shown + "\""
}
