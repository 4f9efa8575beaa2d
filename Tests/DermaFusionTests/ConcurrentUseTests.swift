import Dispatch
import SystemModule
import TestModels
import Testing

@testable import DermaFusion

@Suite struct ConcurrentUseTests {
  private static let callerCount = 6

  /// An image of its own for each caller.
  private func image(_ caller: Int) -> PixelImage {
    let values = FormulaNetwork.uniform("caller \(caller)", count: 90 * 110 * 3)
    return PixelImage(width: 90, height: 110, pixels: values.map { UInt8(($0 + 1) * 127) })
  }

  /// The network's threads serve one caller at a time. Others compute alone, in memory of their own.
  @Test(arguments: [1, 3])
  func callersAtOnceGetTheAnswersThatTheyWouldGetAlone(threadCount: Int) throws {
    for (formula, configuration) in try FormulaNetwork.all() {
      let classifier = try Classifier(
        configuration: configuration, weights: formula.weights(), threadCount: threadCount)
      let metadata = try PatientMetadata(ageInYears: 41, sex: .female)
      let answer = { @Sendable (caller: Int) in
        let explanation = try classifier.explain(self.image(caller), metadata: metadata)
        return (
          try classifier.classify(self.image(caller), metadata: metadata).logits,
          explanation.maps.map(\.signedValues)
        )
      }
      let alone = try (0..<Self.callerCount).map(answer)
      let together = Locked([(caller: Int, answer: (ClassScores, [[Float]]))]())
      DispatchQueue.concurrentPerform(iterations: Self.callerCount) { caller in
        for _ in 0..<2 {
          guard let found = try? answer(caller) else { continue }
          together.withLock { $0.append((caller, found)) }
        }
      }
      together.withLock { together in
        #expect(together.count == 2 * Self.callerCount, "\(formula.name): calls that threw are missing")
        for (caller, answer) in together {
          #expect(answer.0 == alone[caller].0, "\(formula.name), caller \(caller)")
          #expect(answer.1 == alone[caller].1, "\(formula.name), caller \(caller)")
        }
      }
    }
  }
}
