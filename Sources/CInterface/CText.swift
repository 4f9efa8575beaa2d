import SystemModule

/// Texts in memory as C programs read them.
enum CText {
  /// The text's UTF-8 and a zero byte, to be deallocated by the caller.
  static func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = Array(text.utf8)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
    copy[bytes.count] = 0
    return copy
  }

  /// The text that a C program hands over; nil where it hands over none. What is not UTF-8 is refused: put right, it would be
  /// another text, and might name another file.
  static func read(_ text: UnsafePointer<CChar>?, _ name: String) throws(DermaFusionError) -> String? {
    guard let text else { return nil }
    guard let valid = String(validatingCString: text) else {
      throw .argument("\(name) is not UTF-8", remedy: "Hand over UTF-8 text.")
    }
    return valid
  }
}
