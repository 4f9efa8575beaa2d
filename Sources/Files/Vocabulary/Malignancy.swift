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
