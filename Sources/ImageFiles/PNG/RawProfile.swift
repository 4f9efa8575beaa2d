import ImagePipeline

/// ImageMagick's way to put binary metadata into PNG text: three lines of heading, then hexadecimal digits.
enum RawProfile {
  static func bytes(_ text: [UInt8]) -> [UInt8]? {
    let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    guard lines.count == 4 else { return nil }
    var result: [UInt8] = []
    var high: UInt8?
    for character in lines[3] where !character.isASCIIWhitespace {
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      if let first = high {
        result.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    return high == nil ? result : nil
  }
}
