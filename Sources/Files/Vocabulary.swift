/// The region of the body on which the lesion lies, in the data set's fifteen names.
///
/// The raw value is the name that people and files use (`lower extremity`, with a space).
public enum BodySite: String, Sendable, CaseIterable {
  /// A region by its English name; `acral` is skin of palms and soles and under nails.
  case abdomen, acral, back, chest, ear, face, foot, genital, hand
  /// A leg without the foot.
  case lowerExtremity = "lower extremity"
  /// A region by its English name; `trunk` is chest, abdomen or back, `unknown` is no region.
  case neck, scalp, trunk, unknown
  /// An arm without the hand.
  case upperExtremity = "upper extremity"

  /// The twelve regions that a person picks from, from head to foot. `acral` and `trunk` overlap others and occur in the data
  /// set only; `unknown` is what a region is when nobody picked one.
  public static let pickerSites: [BodySite] = [
    .scalp, .face, .ear, .neck, .chest, .abdomen, .back, .genital, .upperExtremity, .hand, .lowerExtremity,
    .foot,
  ]

  /// Position in the metadata vector and in the model's embedding table, 0...14 in alphabetical order.
  package var index: Int {
    // The order of declaration is the order in which models encode the sites.
    Self.allCases.firstIndex(of: self)!
  }

  /// Reads one of the fifteen names in any letter case; `nil` for anything else.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }
}

#if !hasFeature(Embedded)
  extension BodySite: Codable {}
#endif

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
}

#if !hasFeature(Embedded)
  extension Sex: Codable {}
#endif

/// What a lesion of a class is. Risk follows from it.
public enum Malignancy: String, Sendable, CaseIterable {
  /// Cancer.
  case malignant
  /// It may become cancer.
  case preMalignant = "pre-malignant"
  /// Neither.
  case benign
}

#if !hasFeature(Embedded)
  extension Malignancy: Codable {}
#endif
