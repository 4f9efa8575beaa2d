import DermaFusion

extension Positional {
  /// The images of a command line.
  static let images = Positional(
    "image", isRepeated: true,
    abstract: "A file, a folder, or - for one image's bytes on standard input.")
}

extension CommandOption where Value == String {
  /// Where the images of a table are looked for.
  static let imageFolders = path(
    "images", valueName: "folder", isRequired: true, isRepeatable: true,
    abstract: "Folder with the images; give it again for more folders.")
}

extension CommandOption where Value == Int {
  /// Threads to compute with.
  static let threads = wholeNumber(
    "threads", valueName: "n", in: 1...256,
    abstract:
      "Threads to compute with, 1 to 256; without this option as many as the program has processors.")
}

extension CommandOption where Value == Precision {
  /// What the network is computed in.
  static let precision = CommandOption(
    "precision", valueName: "type",
    abstract: """
      What the network multiplies. bfloat16 is faster, needs a CPU with AVX-512 BF16, and changes probabilities by some \
      thousandths. Without this option the model's config.json decides; of the shipped model it is float32.
      """,
    allowedValues: Precision.allCases.map { $0.rawValue },
    convert: { Precision(rawValue: $0) })
}

extension Session {
  /// The model of a folder, as the options say.
  func classifier(_ folder: String, _ arguments: ParsedArguments) throws -> Classifier {
    try loadClassifier(folder, arguments[CommandOption<Int>.threads], arguments[CommandOption<Precision>.precision])
  }
}

extension ImageViews {
  /// Test-time augmentation.
  static let flag = Flag(
    "tta",
    abstract: """
      Average the logits over the eight symmetries of the square (test-time augmentation). Takes eight times as long.
      """)

  init(_ arguments: ParsedArguments) {
    self = arguments[Self.flag] ? .symmetries : .upright
  }
}

extension Flag {
  /// For scripts.
  static let quiet = Flag(
    "quiet", abstract: "Show no progress, no notes and no closing summary; failures are still named.")
}
