extension Option where Value == Int {
  /// Threads to compute with.
  static let threads = Option(
    "threads", valueName: "n",
    abstract:
      "Threads to compute with, 1 to 256; as many as there are processors for the program when left out.",
    expectation: "Please provide a whole number from 1 to 256.",
    convert: { wholeNumber($0, in: 1...256) })

  /// Digits and nothing else; `Int`'s own reader also takes a sign.
  static func wholeNumber(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int(text).flatMap { range.contains($0) ? $0 : nil }
  }
}
