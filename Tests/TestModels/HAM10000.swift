import DermaFusion

/// The labels of the shipped model by their ids.
extension LesionLabel {
  package static let akiec = Labels.ham10000[0]
  package static let bcc = Labels.ham10000[1]
  package static let bkl = Labels.ham10000[2]
  package static let df = Labels.ham10000[3]
  package static let mel = Labels.ham10000[4]
  package static let nv = Labels.ham10000[5]
  package static let vasc = Labels.ham10000[6]
}

extension ClassScores {
  /// - Parameter values: seven, in the order of HAM10000's classes.
  package init(_ values: [Float]) { self.init(values, labels: .ham10000) }
}

extension Classification {
  /// A result of these logits at the temperature.
  package init(
    logits: ClassScores, temperature: Double, metadata: PatientMetadata = .unknown,
    warnings: [ClassificationWarning] = [], imageSHA256: String? = "ab12", model: ModelIdentity,
    abstention: Abstention = .none
  ) {
    self.init(
      logits: logits, probabilities: logits.softmax(temperature: temperature), metadata: metadata,
      warnings: warnings, imageSHA256: imageSHA256, model: model, abstention: abstention)
  }
}
