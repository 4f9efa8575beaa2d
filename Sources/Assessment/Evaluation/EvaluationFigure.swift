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
  /// Area under the ROC curve of the summed probabilities of the malignant and pre-malignant classes
  /// (``LesionClass/malignantClasses``) against the other images.
  case malignantAUROC
  /// Expected calibration error: the gap between the mean greatest probability and the accuracy, averaged over
  /// 15 bins of equal width of the greatest probability, weighted by the images in each.
  case expectedCalibrationError
  /// Mean of -ln(p + 1e-12), p the probability of the label: at least 0, lower is better. Unlike the others it looks at
  /// all of a probability.
  case negativeLogLikelihood
  /// Mean probability of the class over all images. Where the probabilities are calibrated it is the share of images with
  /// this label.
  case meanProbability(LesionClass)
  /// Images with this label that were predicted so.
  case recall(LesionClass)
  /// Images predicted so that have this label.
  case precision(LesionClass)
  /// Area under the ROC curve of the class's probability, its images against the rest.
  case auroc(LesionClass)
  /// Images with one of these labels whose ``RiskLevel`` is this one or a higher one.
  case risk(RiskLevel, of: Set<LesionClass>)

  /// The figures over all classes.
  package static let overall: [EvaluationFigure] = [
    .accuracy, .balancedAccuracy, .macroAUROC, .melanomaSensitivityAt90Specificity, .malignantAUROC,
    .expectedCalibrationError, .negativeLogLikelihood,
  ]
  /// Those over all classes, those of each class, then those of the risk.
  package static let all =
    overall
    + LesionClass.allCases.flatMap {
      [.meanProbability($0), .recall($0), .precision($0), .auroc($0)]
    }
    + riskLevels.flatMap { level in riskGroups.map { .risk(level, of: $0) } }

  /// The levels that images reach; all reach the lowest.
  package static let riskLevels: [RiskLevel] = [.moderate, .high]
  /// The malignant classes, the others, and each class alone.
  package static let riskGroups: [Set<LesionClass>] =
    [LesionClass.malignantClasses, LesionClass.benignClasses] + LesionClass.allCases.map { [$0] }
}

/// The figures of one set of images; those that are undefined are missing.
package typealias EvaluationFigures = [EvaluationFigure: Double]

extension LesionClass {
  /// Melanoma, basal cell carcinoma and the pre-malignant actinic keratoses.
  package static let malignantClasses: Set<LesionClass> = [.akiec, .bcc, .mel]
  /// The others.
  package static let benignClasses = Set(allCases).subtracting(malignantClasses)
}
