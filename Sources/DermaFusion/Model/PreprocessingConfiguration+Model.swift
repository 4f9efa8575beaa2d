import ImagePipeline
import ModelFiles

extension PreprocessingConfiguration {
  /// The constants that travel with a model, for the image pipeline.
  package init(_ preprocessing: ModelConfiguration.Preprocessing) {
    let constancy: ColorConstancy =
      switch preprocessing.colorConstancy {
      case nil: .none
      case .some(let method): .shadesOfGray(p: method.p, rounding: Rounding(method.rounding))
      }
    self.init(
      size: preprocessing.size, colorConstancy: constancy, mean: preprocessing.mean,
      standardDeviation: preprocessing.standardDeviation)
  }
}

extension PreprocessingConfiguration.Rounding {
  fileprivate init(_ rounding: ModelConfiguration.Rounding) {
    switch rounding {
    case .round: self = .round
    case .truncate: self = .truncate
    case .none: self = .none
    }
  }
}
