import DermaFusion

/// What a model is measured by. Each figure but the log-likelihood is from 0 to 1; a figure that the images cannot tell
/// (the recall of a class that does not occur) is undefined rather than 0.
package enum EvaluationFigure: Sendable, Hashable {
  /// Images whose most probable class is their label.
  case accuracy
  /// Mean recall over the classes that occur.
  case balancedAccuracy
  /// Mean over the classes that occur of the area under the ROC curve of one class against the rest.
  case macroAUROC
  /// The greatest share of melanomas found by any threshold on their probability that lets at least 90 % of the
  /// other images pass. The threshold is read off the same images.
  case melanomaSensitivityAt90Specificity
  /// Area under the ROC curve of the summed probabilities of the malignant and pre-malignant classes against the other
  /// images.
  case malignantAUROC
  /// Expected calibration error: the gap between the mean greatest probability and the accuracy, averaged over
  /// 15 bins of equal width of the greatest probability, weighted by the images in each.
  case expectedCalibrationError
  /// Mean of -ln(p + 1e-12), p the probability of the label: at least 0, lower is better. Unlike the others it looks at
  /// all of a probability.
  case negativeLogLikelihood
  /// Mean probability of the class with this index over all images. Where the probabilities are calibrated it is the share of images with
  /// this label.
  case meanProbability(Int)
  /// Images with this label that were predicted so.
  case recall(Int)
  /// Images predicted so that have this label.
  case precision(Int)
  /// Area under the ROC curve of the class's probability, its images against the rest.
  case auroc(Int)
  /// Images of the group whose ``RiskLevel`` is this one or a higher one.
  case risk(RiskLevel, of: RiskGroup)

  /// Images by their labels.
  package enum RiskGroup: Sendable, Hashable {
    /// With a malignant or pre-malignant label.
    case malignant
    /// With a benign one.
    case benign
    /// With the label of this index.
    case label(Int)

    func holds(_ label: LesionLabel) -> Bool {
      switch self {
      case .malignant: label.malignancy.map { $0 != .benign } ?? false
      case .benign: label.malignancy == .benign
      case .label(let index): label.index == index
      }
    }
  }

  /// The figures over all classes that a model of these labels has: those of melanoma where it is one of them, those of
  /// malignancy where it is told.
  package static func overall(_ labels: Labels) -> [EvaluationFigure] {
    [.accuracy, .balancedAccuracy, .macroAUROC]
      + (labels.melanoma == nil ? [] : [.melanomaSensitivityAt90Specificity])
      + (labels.tellMalignancy ? [.malignantAUROC] : [])
      + [.expectedCalibrationError, .negativeLogLikelihood]
  }

  /// Those over all classes, those of each class, then those of the risk.
  package static func all(_ labels: Labels) -> [EvaluationFigure] {
    overall(labels)
      + labels.indices.flatMap { [.meanProbability($0), .recall($0), .precision($0), .auroc($0)] }
      + riskLevels.flatMap { level in riskGroups(labels).map { .risk(level, of: $0) } }
  }

  /// The levels that images reach; all reach the lowest.
  package static let riskLevels: [RiskLevel] = [.moderate, .high]

  /// The malignant classes, the others, and each class alone; none where malignancy is not told.
  package static func riskGroups(_ labels: Labels) -> [RiskGroup] {
    labels.tellMalignancy ? [.malignant, .benign] + labels.indices.map { .label($0) } : []
  }
}

/// The figures of one set of images; those that are undefined are missing.
package typealias EvaluationFigures = [EvaluationFigure: Double]
