/// What data on standard output looks like.
package enum OutputFormat: String, Sendable {
  case text, json, csv

  /// `--format`, text unless it is given.
  static func option(of formats: [OutputFormat]) -> Option<OutputFormat> {
    .choice("format", of: formats, initial: .text, abstract: "Form of the output.")
  }
}

extension Option where Value == Int {
  /// Threads to compute with.
  static let threads = Option(
    "threads", valueName: "n",
    abstract: "Threads to compute with, 1 to 256; as many as there are processors when left out.",
    expectation: "Please provide a whole number from 1 to 256.",
    convert: { text in
      guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
      guard let count = Int(text), (1...256).contains(count) else { return nil }
      return count
    })
}
