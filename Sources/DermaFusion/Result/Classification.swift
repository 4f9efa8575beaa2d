import Files
import ImagePipeline
import SystemModule

/// The result of classifying one image, with everything that a reader needs to judge it.
public struct Classification: Sendable, Equatable {
  /// The answer, or the reasons to abstain.
  public enum Outcome: Sendable, Equatable {
    /// The model answers.
    case answer(Answer)
    /// The model abstains, for at least one reason: no class is suggested, and there is no risk level.
    case abstained([AbstentionReason])
  }

  /// The prediction and the risk.
  public struct Answer: Sendable, Equatable {
    /// The class with the greatest probability.
    public let prediction: LesionLabel
    /// The probability of ``prediction``, 0...1.
    public let probability: Float
    /// By the thresholds of ``RiskLevel``; `nil` for a model that does not say which classes are malignant.
    public let risk: RiskLevel?
    /// The class that raised the risk to moderate or high, if it is not ``prediction``. Name it wherever you name the
    /// prediction.
    public let concern: LesionLabel?
    /// The probability of ``concern``.
    public let concernProbability: Float?
    /// True if an urgent consultation is advised: melanoma's probability is above ``Wording/urgentThreshold``.
    public let isUrgent: Bool
    /// Classes among which the right one is with a stated probability; `nil` for a model that was not fitted for it, for
    /// ensembles, for more views than one and where several classes may be right.
    public let conformalSet: Abstention.ConformalSet?
  }

  /// The answer, or why there is none.
  public let outcome: Outcome
  /// The network's outputs before softmax or sigmoid; of several views, their mean.
  public let logits: ClassScores
  /// Softmax of the logits at the model's temperature; 0...1, summing to 1 unless ``isMultiLabel``. Where the model abstains they
  /// mean little.
  public let probabilities: ClassScores
  /// True if several classes may be right at once: each class then has a probability of its own, the sigmoid of its logit.
  public let isMultiLabel: Bool
  /// The metadata that was given, whether the model uses it or not; ``PatientMetadata/missing`` lists what was not given.
  public let metadata: PatientMetadata
  /// Remarks on the input, in the order in which they were noticed.
  public let warnings: [ClassificationWarning]
  /// Details of some of ``warnings``, of this image: how many pictures its file holds, and the name of its colour profile.
  public let warningDetails: [ClassificationWarning: String]
  /// SHA-256 of the encoded file, lower-case hexadecimal; `nil` when the image came in as pixels.
  public let imageSHA256: String?
  /// The model that made this.
  public let model: ModelIdentity
  /// Instruction set and precision, which the result's bits depend on.
  public let computation: Computation
  /// The views in which the network looked at the image.
  public let views: ImageViews
  /// The model's own word on whether the result can be relied on.
  public let abstention: Abstention

  package init(
    logits: ClassScores, probabilities: ClassScores, isMultiLabel: Bool = false, metadata: PatientMetadata,
    warnings: [ClassificationWarning], warningDetails: [ClassificationWarning: String] = [:],
    imageSHA256: String?, model: ModelIdentity, computation: Computation = .unknown,
    views: ImageViews = .upright, abstention: Abstention = .none
  ) {
    self.logits = logits
    self.probabilities = probabilities
    self.isMultiLabel = isMultiLabel
    self.metadata = metadata
    self.warnings = warnings
    self.warningDetails = warningDetails
    self.imageSHA256 = imageSHA256
    self.model = model
    self.computation = computation
    self.views = views
    self.abstention = abstention
    outcome =
      abstention.reasons.isEmpty
      ? .answer(Answer(probabilities, conformalSet: abstention.conformalSet))
      : .abstained(abstention.reasons)
  }

  /// The answer; `nil` where the model abstains.
  public var answer: Answer? { if case .answer(let answer) = outcome { answer } else { nil } }
  /// True if the model abstains; ``abstention`` says why.
  public var abstains: Bool { answer == nil }
  /// The class with the greatest probability; `nil` where the model abstains.
  public var prediction: LesionLabel? { answer?.prediction }
  /// `nil` where the model abstains, and for a model that does not say which classes are malignant.
  public var risk: RiskLevel? { answer?.risk }
  /// True if an urgent consultation is advised; see ``Answer/isUrgent``.
  public var isUrgent: Bool { answer?.isUrgent ?? false }
  /// Low when no class stands out.
  public var confidence: ConfidenceLevel { ConfidenceLevel(probabilities: probabilities) }
}

extension Classification.Answer {
  init(_ probabilities: ClassScores, conformalSet: Abstention.ConformalSet? = nil) {
    self.conformalSet = conformalSet
    prediction = probabilities.highest
    probability = probabilities[prediction]
    risk = RiskLevel(probabilities: probabilities)
    let cause = RiskLevel.cause(in: probabilities)
    concern = cause == prediction ? nil : cause
    concernProbability = concern.map { probabilities[$0] }
    // A melanoma this likely is the prediction, unless several classes may be right.
    isUrgent = probabilities.labels.contains {
      $0.isMelanoma && probabilities[$0] > Wording.urgentThreshold
    }
  }
}

extension Classification: CustomStringConvertible {
  /// ``summary``
  public var description: String { summary }
}

#if !hasFeature(Embedded)
  extension Computation: Codable {}
  extension ModelIdentity: Codable {}

  /// For an app's own storage; ``json(imageName:)`` is the layout for others. What follows from the probabilities is worked
  /// out again when a result is read.
  extension Classification: Codable {
    private enum CodingKeys: String, CodingKey {
      case logits, probabilities, isMultiLabel, metadata, warnings, warningDetails, imageSHA256, model,
        computation, views,
        abstention
    }

    /// Values that break a rule of this type are an error.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let logits = try container.decode(ClassScores.self, forKey: .logits)
      let probabilities = try container.decode(ClassScores.self, forKey: .probabilities)
      let abstention = try container.decode(Abstention.self, forKey: .abstention)
      let isMultiLabel = try container.decodeIfPresent(Bool.self, forKey: .isMultiLabel) ?? false
      if let fault = Self.fault(
        logits: logits, probabilities: probabilities, isMultiLabel: isMultiLabel, abstention: abstention)
      {
        throw DecodingError.dataCorruptedError(
          forKey: .probabilities, in: container, debugDescription: fault.description)
      }
      self.init(
        logits: logits, probabilities: probabilities, isMultiLabel: isMultiLabel,
        metadata: try container.decode(PatientMetadata.self, forKey: .metadata),
        warnings: try container.decode([ClassificationWarning].self, forKey: .warnings),
        warningDetails: try container.decodeIfPresent(
          [ClassificationWarning: String].self, forKey: .warningDetails) ?? [:],
        imageSHA256: try container.decodeIfPresent(String.self, forKey: .imageSHA256),
        model: try container.decode(ModelIdentity.self, forKey: .model),
        computation: try container.decodeIfPresent(Computation.self, forKey: .computation) ?? .unknown,
        views: try container.decode(ImageViews.self, forKey: .views),
        abstention: abstention)
    }
  }
#endif

extension Classification {
  /// A rounded sum of probabilities may differ from 1 by so much, and a logit from one that is as high.
  private static let tolerance: Float = 1e-3

  /// The rule that the values of a stored result break, as a sentence about the result; nil for values that a model may have
  /// given.
  static func fault(
    logits: ClassScores, probabilities: ClassScores, isMultiLabel: Bool, abstention: Abstention
  ) -> Sentence? {
    let labels = probabilities.labels
    if logits.labels != labels { return "its logits are of other classes than its probabilities" }
    if let outside = labels.first(where: { !(0...1).contains(probabilities[$0]) }) {
      return "its probability of \(quoted(outside.id)) is \(probabilities[outside]), and must be in 0...1"
    }
    let sum = probabilities.values.reduce(0, +)
    if !isMultiLabel, abs(sum - 1) > tolerance {
      return "its probabilities add up to \(sum), and must add up to 1"
    }
    if logits[probabilities.highest] < logits[logits.highest] - tolerance {
      return
        "\(quoted(probabilities.highest.id)) has the highest probability, and \(quoted(logits.highest.id)) the highest logit"
    }
    if Set(abstention.reasons).count != abstention.reasons.count { return "it has a reason to abstain twice" }
    guard let set = abstention.conformalSet else { return nil }
    if isMultiLabel { return "it has a \"conformalSet\", which results with \"multiLabel\" have not" }
    let isMadeOfClasses = set.classes.allSatisfy { labels[$0.id] == $0 }
    if set.classes.isEmpty || !isMadeOfClasses || Set(set.classes).count != set.classes.count {
      return "\"conformalSet\" is not made of its classes, each at most once"
    }
    if let coverage = set.coverage, !(0...1).contains(coverage) {
      return "\"conformalCoverage\" is \(coverage), and must be in 0...1"
    }
    return nil
  }
}

/// The computation of a result, as far as its bits depend on it.
public struct Computation: Sendable, Equatable {
  /// The kernels' instruction set, such as `avx2`; `nil` for models in 8 bits, whose results are the same on each, and where it
  /// is not known.
  public let instructionSet: String?
  /// `float32`, `bfloat16` or `int8`; `nil` where it is not known.
  public let precision: String?

  /// The computation of a result that was stored before it was told.
  static let unknown = Computation(instructionSet: nil, precision: nil)

  package init(instructionSet: String?, precision: String?) {
    self.instructionSet = instructionSet
    self.precision = precision
  }
}

extension Computation: CustomStringConvertible {
  /// `float32 on avx2`, `int8`
  public var description: String {
    (precision ?? "an unknown precision") + (instructionSet.map { " on \($0)" } ?? "")
  }
}

/// Which model made a result.
public struct ModelIdentity: Sendable, Equatable {
  /// As its configuration names it.
  public let name: String
  /// The model's own version.
  public let version: String
  /// SHA-256 of `config.json` followed by `model.safetensors`, lower-case hexadecimal: weights,
  /// architecture and every preprocessing constant at once. An ensemble's is of its `config.json` followed by both files of
  /// each member in order.
  public let sha256: String

  package init(name: String, version: String, sha256: String) {
    self.name = name
    self.version = version
    self.sha256 = sha256
  }
}

extension ModelIdentity: CustomStringConvertible {
  /// `dermafusion-lite2 1.6.0`
  public var description: String { "\(name) \(version)" }
}
