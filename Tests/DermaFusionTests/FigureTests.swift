import ImageFiles
import ImagePipeline
import TestModels
import Testing

@testable import DermaFusion
@testable import Figures

/// The text in a picture. That it can be read there is FiguresTests' to hold.
@Suite struct FigureTests {
  static let classifier = try! LightDetector.classifier()

  private func explanation(
    _ labels: [LesionLabel], width: Int = 130, height: Int = 130, method: ActivationMapMethod = .gradcam
  ) throws -> Explanation {
    try Self.classifier.explain(
      ActivationMapPlacementTests.image(corner: (1, 0), width: width, height: height), labels: labels,
      method: method)
  }

  private func texts(
    _ explanation: Explanation, _ style: FigureStyle = FigureStyle(), trusts: [MapTrust] = [],
    imageName: String? = nil
  ) -> String {
    let figure = explanation.mapFigure(style, trusts: trusts, imageName: imageName)
    return FigureLayout(figure).canvas.texts.map { $0.text }.joined(separator: " ")
  }

  @Test(arguments: [(36, 40), (97, 64), (300, 451), (700, 720)])
  func aPictureSaysClassProbabilityRiskImagePatientModelMethodAndDisclaimer(width: Int, height: Int) throws {
    for (label, isSideBySide) in [(LesionLabel.bkl, false), (.nv, true), (.mel, true)] {
      let explanation = try explanation([label], width: width, height: height)
      let result = explanation.classification
      let answer = try #require(result.answer)
      let text = texts(explanation, FigureStyle(isSideBySide: isSideBySide), imageName: "mole.png")
      let percent = Wording.percentage(result.probabilities[label])
      for part in [
        "\(label.name) (\(label.id)): probability \(percent)",
        Wording.sentence(for: try #require(answer.risk)),
        "mole.png \u{00B7} age missing, sex missing, site missing \u{00B7} \(result.model.name) \(result.model.version)",
        "GradCAM at conv_head.", Wording.disclaimer,
      ] {
        #expect(text.contains(part), "\(label.id), \(width)x\(height): no '\(part)' in '\(text)'")
      }
      // For another class than the likeliest, and beside one that must be named with it, the suggestion stands there, too.
      let needsSuggestion = label != answer.prediction || answer.concern != nil
      #expect(text.contains(Wording.suggestion(answer)) == needsSuggestion, "\(text)")
      if let sentence = explanation.maps[0].status.sentence { #expect(text.contains(sentence)) }
    }
  }

  @Test func aContactSheetIsInTheOrderOfProbabilityAndSaysHowFarEachMapReaches() throws {
    let explanation = try explanation(Array(Labels.ham10000))
    let result = explanation.classification
    let text = texts(explanation, FigureStyle(scale: .shared))
    var rest = text[...]
    for label in result.probabilities.ranked {
      let title = "\(label.id) \(Wording.percentage(result.probabilities[label]))"
      let place = try #require(rest.firstRange(of: title), "\(title) is not where it belongs in \(text)")
      rest = rest[place.upperBound...]
    }
    #expect(text.contains("Strongest place: 1.00"))
    #expect(text.hasPrefix(Wording.suggestion(try #require(result.answer))))
    // Each map has its own scale where none is asked for, and the probabilities stay.
    let own = texts(explanation)
    #expect(!own.contains("Strongest place") && own.contains("Each map has its own scale"))
    for label in result.probabilities.labels {
      #expect(own.contains("\(label.id) \(Wording.percentage(result.probabilities[label]))"))
    }
    #expect(texts(explanation, FigureStyle(.classic)).contains("Colours of 50% opacity"))
  }

  @Test(arguments: [1, 7])
  func aPictureOfAnAbstainingModelHasNeitherRiskNorProbability(count: Int) throws {
    let answered = try explanation(Array(Labels.ham10000.prefix(count)))
    let result = answered.classification
    let abstained = Explanation(
      classification: Classification(
        logits: result.logits, temperature: 1, model: result.model,
        abstention: Abstention(reasons: [.blurred, .outOfDistribution], conformalSet: nil)),
      maps: answered.maps, cropped: answered.cropped)
    let reservation = Wording.abstention([.blurred, .outOfDistribution])
    let text = texts(abstained)
    #expect(text.hasPrefix(reservation), "\(text)")
    #expect(!text.contains("%"), "\(text)")
    for risk in RiskLevel.allCases { #expect(!text.contains(Wording.sentence(for: risk)), "\(text)") }
    #expect(!texts(answered).contains(reservation))
    let file = String(decoding: try abstained.png(), as: UTF8.self)
    #expect(file.contains("Description\0\(reservation) "))
  }

  @Test(arguments: [[LesionLabel.nv], Array(Labels.ham10000)])
  func aPictureSaysWhatItsChecksFound(labels: [LesionLabel]) throws {
    let explanation = try explanation(labels)
    func trust(passes: Bool) -> MapTrust {
      MapTrust(
        deletionAUC: passes ? 0.1 : 0.9, insertionAUC: 0.8, randomDeletionAUC: 0.5, randomInsertionAUC: 0.5,
        shuffledHeadCorrelation: 0)
    }
    // The last map alone does not pass.
    let trusts = labels.indices.map { trust(passes: $0 < labels.count - 1) }
    for (trusts, isSaid) in [([], false), (trusts, true)] {
      #expect(texts(explanation, trusts: trusts).contains(trust(passes: false).verdict) == isSaid)
      let file = String(decoding: try explanation.png(trusts: trusts), as: UTF8.self)
      #expect(file.contains(trust(passes: false).verdict) == isSaid)
    }
  }

  @Test func oneScaleMakesMapsComparable() throws {
    let explanation = try explanation([.nv])
    let map = explanation.maps[0]
    // The same map at a quarter of its strength.
    let weak = try ActivationMap(
      classIndex: LesionLabel.mel.index, method: .gradcam, layer: map.layer, height: map.height,
      width: map.width,
      signedValues: map.signedValues.map { $0 / 4 }, size: map.size)
    let strong = try ActivationMap(
      classIndex: LesionLabel.nv.index, method: .gradcam, layer: map.layer, height: map.height,
      width: map.width,
      signedValues: map.signedValues, size: map.size)
    let pair = Explanation(
      classification: explanation.classification, maps: [strong, weak], cropped: explanation.cropped)
    let shared = FigureStyle(scale: .shared)
    #expect(texts(pair, shared).contains("Strongest place: 0.25"))
    #expect(pair.figure(shared) != pair.figure(FigureStyle(scale: .each)))
    // Its lines lie where those of the strong map lie.
    let peaks = pair.mapFigure(shared, trusts: []).maps.map { $0.peak }
    #expect(peaks.sorted() == [0.25, 1])
    #expect(texts(pair, shared).contains("Lines at a quarter, half and three quarters of each map's own"))
    #expect(texts(explanation).contains("Lines at 0.25, 0.5 and 0.75."))
  }
}
