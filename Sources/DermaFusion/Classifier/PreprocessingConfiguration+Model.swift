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

extension ClassificationWarning {
  /// The pipeline's warning among those of results.
  package init(_ warning: ImageWarning) {
    switch warning {
    case .solidColor: self = .solidColor
    case .nearBlack: self = .nearBlack
    case .smallImage: self = .smallImage
    }
  }
}
