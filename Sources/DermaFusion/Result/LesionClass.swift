/// The seven classes of HAM10000, in the order of the model's outputs.
public enum LesionClass: String, Sendable, CaseIterable {
  case akiec, bcc, bkl, df, mel, nv, vasc

  /// The name in words, as the result's sentence uses it.
  public var fullName: String {
    switch self {
    case .akiec: "Actinic keratoses"
    case .bcc: "Basal cell carcinoma"
    case .bkl: "Benign keratosis-like lesions"
    case .df: "Dermatofibroma"
    case .mel: "Melanoma"
    case .nv: "Melanocytic nevi"
    case .vasc: "Vascular lesions"
    }
  }

  /// Position in the model's outputs, 0...6.
  package var index: Int {
    Self.allCases.firstIndex(of: self)!
  }
}
