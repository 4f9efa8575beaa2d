import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

@Suite struct AbstentionFiguresTests {
  @Test func evaluationCountsWhatWasAnsweredAndWhatTheSetsHold() {
    func image(_ label: LesionLabel, _ set: [LesionLabel], _ reasons: [AbstentionReason] = [])
      -> EvaluatedImage
    {
      EvaluatedImage(
        lesion: "l", label: label, probabilities: ClassScores([0, 0, 0, 0, 0, 1, 0]), metadata: .unknown,
        source: "s",
        abstention: Abstention(
          reasons: reasons, conformalSet: Abstention.ConformalSet(classes: set, coverage: 0.9)))
    }
    let figures = AbstentionFigures([
      image(.nv, [.nv]), image(.mel, [.nv, .mel, .bkl]), image(.bcc, [.nv, .mel], [.blurred]),
      image(.nv, [.nv, .mel]),
    ])
    #expect(figures.abstainedShare == 0.25)
    #expect(figures.answeredBalancedAccuracy == 0.5)
    #expect(figures.sets == AbstentionFigures.Sets(statedCoverage: 0.9, coverage: 0.75, meanSize: 2))
    let alone = EvaluatedImage(
      lesion: "l", label: .nv, probabilities: ClassScores([0, 0, 0, 0, 0, 1, 0]), metadata: .unknown,
      source: "s")
    #expect(AbstentionFigures([alone]).sets == nil)
  }
}
