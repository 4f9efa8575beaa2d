import DermaFusion

/// What a person picks images of a report by.
enum ReportSelection: String, CaseIterable {
  case low, moderate, high
  /// The model suggests no class.
  case abstained
  /// The model does not say which of its classes are malignant.
  case unjudged

  init(_ result: Classification) {
    switch result.answer?.risk {
    case .high: self = .high
    case .moderate: self = .moderate
    case .low: self = .low
    case nil: self = result.abstains ? .abstained : .unjudged
    }
  }

  /// In an index, the images that a person should look at come first.
  var place: Int {
    switch self {
    case .high: 0
    case .moderate: 1
    case .abstained: 2
    case .unjudged: 3
    case .low: 4
    }
  }
}
