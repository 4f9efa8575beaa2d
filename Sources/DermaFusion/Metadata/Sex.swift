/// The patient's sex as the data set records it.
public enum Sex: String, Sendable, CaseIterable {
  case male, female, unknown

  /// Position in the metadata vector and in the model's embedding table: 0, 1 or 2.
  package var index: Int {
    switch self {
    case .male: 0
    case .female: 1
    case .unknown: 2
    }
  }

  /// Reads `male`, `female` or `unknown` in any letter case; `nil` for anything else.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }
}

#if !hasFeature(Embedded)
  extension Sex: Codable {}
#endif
