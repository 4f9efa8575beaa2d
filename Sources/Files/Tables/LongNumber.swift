import SystemModule

/// A name that is a number of more digits than a spreadsheet keeps: it shows 12 and more as `3.91E+16`, and writes zeros behind
/// the fifteenth.
package struct LongNumber: Hashable, Sendable {
  /// For a person whose names have become such numbers.
  package static let hint: Sentence =
    "A spreadsheet may have rounded long numbers, whose last digits are then lost: please import the column as text, and save the table again"

  private static let shownDigits = 12
  private static let keptDigits = 14

  /// All of its digits, and the first of them that a spreadsheet keeps; none for `3.91E+16`.
  private let digitCount: Int
  private let start: [UInt8]

  /// - Returns: nil for any other name.
  package init?(_ name: ArraySlice<UInt8>) {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    if name.allSatisfy(isDigit) {
      guard name.count > Self.shownDigits - 1 else { return nil }
      digitCount = name.count
      start = Array(name.prefix(Self.keptDigits))
      return
    }
    // One digit, a point or a comma with more of them, E, + and the exponent.
    let parts = name.split(whereSeparator: { $0 | 0x20 == UInt8(ascii: "e") })
    guard name.count < 40, parts.count == 2, let first = parts[0].first, isDigit(first),
      parts[1].first == UInt8(ascii: "+"),
      parts[0].dropFirst().first.map({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }) ?? true,
      parts[0].dropFirst(2).allSatisfy(isDigit),
      let exponent = Int(String(decoding: parts[1].dropFirst(), as: UTF8.self)),
      (Self.shownDigits - 1..<1000).contains(exponent)
    else { return nil }
    digitCount = exponent + 1
    start = []
  }

  /// The number as `3.91E+16`, which may stand for it.
  package var shown: LongNumber { LongNumber(digitCount: digitCount, start: []) }

  private init(digitCount: Int, start: [UInt8]) {
    self.digitCount = digitCount
    self.start = start
  }
}
