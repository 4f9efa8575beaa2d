import Files
import ImagePipeline
import NetworkModule

/// The one change that would make a camera's frame a better photograph, the first to make first.
package enum FrameAdvice: String, CaseIterable, Sendable {
  case moreLight = "more_light"
  case lessLight = "less_light"
  /// Nothing stands out that could be a lesion.
  case findLesion = "find_lesion"
  case useDermatoscope = "use_dermatoscope"
  case centre
  case holdStill = "hold_still"
  /// Last, because blur takes colours too.
  case whiteLight = "white_light"

  /// Further than this from the middle, as a share of the side, the dark part lies aside. It does in 7 of 100 photographs of the
  /// training.
  static let farthest = 0.3

  private init?(_ reason: AbstentionReason) {
    switch reason {
    case .underexposed: self = .moreLight
    case .overexposed: self = .lessLight
    case .solidColor, .lowContrast, .noLesion: self = .findLesion
    case .unlikeSkin, .notDermoscopic, .outOfDistribution: self = .useDermatoscope
    case .unusualColor: self = .whiteLight
    case .blurred: self = .holdStill
    case .damagedImage: return nil
    }
  }

  /// - Parameter distance: of the dark part from the middle; nil if there is none.
  init?(_ reasons: [AbstentionReason], distance: Double?) {
    let all = reasons.compactMap { FrameAdvice($0) } + ((distance ?? 0) > Self.farthest ? [.centre] : [])
    guard let first = Self.allCases.first(where: { all.contains($0) }) else { return nil }
    self = first
  }
}

/// A camera's frame as the person who holds the camera needs it judged.
package struct FrameJudgement: Sendable, Equatable {
  /// Nil if nothing has to change.
  package let advice: FrameAdvice?
  /// True if the network found that no dermatoscope took the frame, or something unlike its training.
  package let isUnfamiliar: Bool

  package var json: JSONValue {
    .object([
      "advice": advice.map { .string($0.rawValue) } ?? .null, "isUnfamiliar": .bool(isUnfamiliar),
    ])
  }
}

extension Classifier {
  /// Judges a frame of a camera by the rules that a result abstains by, and by the place of the lesion.
  ///
  /// - Parameter wasUnfamiliar: the network's judgement of an earlier frame, which costs no run of the network; nil: of this one.
  package func judge(
    frame: PixelImage, wasUnfamiliar: Bool?
  ) throws(DermaFusionError) -> FrameJudgement {
    let input = try preprocessor(DecodedImage(frame))
    let output =
      wasUnfamiliar == nil
      ? try self.output(of: input, metadata: PatientMetadata.unknown.encoded(), views: .upright) : nil
    var reasons = Abstention.reasons(for: input, judges: judges(of: output))
    let ofNetwork: [AbstentionReason] = [.notDermoscopic, .outOfDistribution]
    if wasUnfamiliar == true { reasons += ofNetwork }
    return FrameJudgement(
      advice: FrameAdvice(reasons, distance: input.resized.darkPartDistance),
      isUnfamiliar: reasons.contains { ofNetwork.contains($0) })
  }

  /// The rules of the model, or of an ensemble's members, that were fitted; those of the features need the network's
  /// output.
  func judges(of output: NetworkOutput?) -> [Abstention.Judge] {
    let outputs = output.map { ensemble == nil ? [$0] : $0.members }
    return models.enumerated().compactMap { $1.judge(outputs?[$0]) }
  }
}
