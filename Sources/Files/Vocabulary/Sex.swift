/// The patient's sex as the data set records it.
public enum Sex: String, Sendable, CaseIterable {
  /// As the data set records it; `unknown` where it does not.
  case male, female, unknown

  /// Position in the metadata vector and in the model's embedding table: 0, 1 or 2, in the order of declaration.
  package var index: Int { Self.allCases.firstIndex(of: self)! }

  /// Reads `male`, `female` or `unknown` in any letter case; `nil` for anything else.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// Reads a sex as tables and DICOM files write it: `init(name:)`'s names, `m`, `f` or the German `w`, in any letter case.
  package init?(word: String) {
    switch word.lowercased() {
    case "m": self = .male
    case "f", "w": self = .female
    default: self.init(name: word)
    }
  }
}

#if !hasFeature(Embedded)
  extension Sex: Codable {}
#endif
