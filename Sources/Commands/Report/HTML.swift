/// Text for a document in HTML or SVG.
enum HTML {
  /// With the characters replaced that would end a text or an attribute's value, and those that would not be seen. By
  /// scalars: a bracket that an accent follows is another character.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.printable.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `data:image/jpeg;base64,...`
  static func jpegAddress(_ bytes: [UInt8]) -> String { "data:image/jpeg;base64,\(base64(bytes))" }

  /// RFC 4648, with padding.
  static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var group = 0
      for offset in 0..<3 { group = group << 8 | (offset < count ? Int(bytes[index + offset]) : 0) }
      for place in 0..<4 {
        text.append(place <= count ? digits[group >> ((3 - place) * 6) & 63] : UInt8(ascii: "="))
      }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
