import DermaFusion

extension ImageViews {
  /// Test-time augmentation.
  static let flag = Flag(
    "tta",
    abstract: """
      Look at each image in the eight symmetries of the square and average the logits (test-time augmentation). Takes \
      eight times as long.
      """)

  init(_ arguments: ParsedArguments) {
    self = arguments[Self.flag] ? .symmetries : .upright
  }

  /// What a reader is told.
  var sentence: String { "mean logits of \(count) views, turned and mirrored" }
}
