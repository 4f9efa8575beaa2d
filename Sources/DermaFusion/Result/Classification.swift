/// What the model makes of one image, with everything that a reader needs to judge it.
public struct Classification: Sendable, Equatable {
  /// The network's outputs before softmax; of several views, their mean.
  public let logits: ClassScores
  /// Softmax of the logits at the model's temperature; 0...1, summing to 1.
  public let probabilities: ClassScores
  /// The metadata that went in; ``PatientMetadata/missing`` says what did not.
  public let metadata: PatientMetadata
  /// What the reader must know about the input, in the order in which it was noticed.
  public let warnings: [ClassificationWarning]
  /// SHA-256 of the encoded file, lower-case hexadecimal; `nil` when the image came in as pixels.
  public let imageSHA256: String?
  /// The model that made this.
  public let model: ModelIdentity
  /// How the network looked at the image.
  public let views: ImageViews
  /// Whether the result can be relied on, as far as the model can tell.
  public let abstention: Abstention

  package init(
    logits: ClassScores, temperature: Double, metadata: PatientMetadata,
    warnings: [ClassificationWarning], imageSHA256: String?, model: ModelIdentity,
    views: ImageViews = .upright,
    abstention: (ClassScores) -> Abstention = { _ in .none }
  ) {
    self.logits = logits
    probabilities = logits.softmax(temperature: temperature)
    self.metadata = metadata
    self.warnings = warnings
    self.imageSHA256 = imageSHA256
    self.model = model
    self.views = views
    self.abstention = abstention(probabilities)
  }

  /// Whether the model abstains: the probabilities are given, and mean little. ``abstention`` says why.
  public var abstains: Bool { !abstention.reasons.isEmpty }
  /// The class with the greatest probability.
  public var prediction: LesionClass { probabilities.highest }
  /// By the rule of ``RiskLevel/init(probabilities:)``.
  public var risk: RiskLevel { RiskLevel(probabilities: probabilities) }
  /// Low when no class stands out.
  public var confidence: ConfidenceLevel { ConfidenceLevel(probabilities: probabilities) }
  /// The result in words, hedged. Whether the model abstains is not in it: show ``reservation`` beside it.
  public var summary: String { Wording.summary(probabilities: probabilities) }
  /// That the model abstains, and why, in words; `nil` when it answers.
  public var reservation: String? { Wording.sentence(for: abstention) }
  /// ``Wording/disclaimer``. Show it wherever a result is shown.
  public var disclaimer: String { Wording.disclaimer }
}
