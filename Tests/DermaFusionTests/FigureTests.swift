import ImageFiles
import ImagePipeline
import TestModels
import Testing

@testable import DermaFusion
@testable import ExplanationModule

/// What stands in a picture is read back from its pixels.
@Suite struct FigureTests {
  static let classifier = try! LightDetector.classifier()

  private func explanation(
    _ classes: [LesionLabel], width: Int, height: Int, method: ActivationMapMethod = .gradcam
  ) throws -> Explanation {
    try Self.classifier.explain(
      ActivationMapPlacementTests.image(corner: (1, 0), width: width, height: height), labels: classes,
      method: method)
  }

  /// Pixels for each of the small typeface's, for a photograph of that side.
  private func unit(_ side: Int) -> Int { max(1, (side + 225) / 450) }

  @Test(arguments: [(33, 700), (64, 64), (97, 64), (120, 121), (150, 130), (300, 451), (700, 720)])
  func captionSaysClassProbabilityMethodAndDisclaimer(width: Int, height: Int) throws {
    for (lesionClass, isSideBySide) in [(LesionLabel.bkl, false), (.nv, true), (.mel, true)] {
      let explanation = try explanation([lesionClass], width: width, height: height)
      let picture = explanation.figure(FigureStyle(isSideBySide: isSideBySide))
      let factor = (120 + min(width, height) - 1) / min(width, height)
      let side = min(width, height) * max(factor, 1)
      let unit = unit(side)
      let margin = 8 * unit
      let place = "\(lesionClass), \(width)x\(height)"

      let reader = FigureTextReader(picture: picture)
      let lines = reader.lines(x: margin, from: margin + side, width: picture.width - 2 * margin)
      let status = explanation.maps[0].status.sentence
      let percent = explanation.classification.probabilities[lesionClass] * 100
      let title = "\(lesionClass.name) (\(lesionClass.id)): probability "
      let text = lines.map(\.text).joined(separator: " ")
      #expect(text.hasPrefix(title), "\(place): \(text)")
      let said = text.dropFirst(title.count).prefix { $0 != "%" }
      #expect(abs((Float(said) ?? -1) - percent) <= 0.051, "\(place): \(said) for \(percent)")
      let rest = text.dropFirst(title.count + said.count + 1)
      #expect(
        rest
          == [status, explanation.provenance(), Wording.disclaimer].compactMap { $0 }.map { " " + $0 }
          .joined(),
        "\(place)")
      #expect(lines.first?.scale == 2 * unit && lines.last?.scale == unit, "\(place)")
      #expect(
        reader.isWhite(columns: picture.width - margin..<picture.width, rows: margin + side..<picture.height),
        "\(place): the right margin")
      #expect(
        reader.isWhite(columns: 0..<picture.width, rows: picture.height - margin / 4..<picture.height),
        "\(place): the lower margin")
    }
  }

  @Test(arguments: [40, 64, 130, 300, 460])
  func aContactSheetNamesEachMapUnderIt(side: Int) throws {
    let explanation = try explanation(Array(Labels.ham10000), width: side, height: side)
    let picture = explanation.figure()
    let factor = (120 + side - 1) / side
    let shown = min(side * max(factor, 1), 450)
    let margin = 8 * unit(shown)
    let reader = FigureTextReader(picture: picture)
    // The lines of the two rows of panels, one after the other, and the caption under the first column.
    let columns = (0..<4).map { column in
      reader.lines(
        x: margin + column * (shown + margin), from: margin + shown, width: shown
      ).map(\.text)
    }
    let text = columns.map { $0.joined(separator: " ") }
    #expect(text[0].hasPrefix("Photograph df "), "\(text[0])")
    for (column, pair) in [("akiec", "mel"), ("bcc", "nv"), ("bkl", "vasc")].enumerated() {
      for name in [pair.0, pair.1] {
        let lesionClass = try #require(Labels.ham10000[name])
        #expect(text[column + 1].contains("\(name) "), "\(side): \(text[column + 1])")
        #expect(text[column + 1].contains(lesionClass.name), "\(side): \(text[column + 1])")
      }
    }
    let caption = reader.lines(x: margin, from: margin + shown, width: picture.width - 2 * margin)
      .map(\.text).joined(separator: " ")
    #expect(caption.hasSuffix("\(explanation.provenance()) \(Wording.disclaimer)"), "\(side): \(caption)")
  }

  @Test(arguments: [[LesionLabel.nv], Array(Labels.ham10000)])
  func aPictureSaysThatTheModelAbstains(classes: [LesionLabel]) throws {
    let answered = try explanation(classes, width: 130, height: 130)
    let result = answered.classification
    let abstained = Explanation(
      classification: Classification(
        logits: result.logits, probabilities: result.probabilities, metadata: result.metadata, warnings: [],
        imageSHA256: nil, model: result.model,
        abstention: Abstention(reasons: [.blurred, .outOfDistribution], conformalSet: nil)),
      maps: answered.maps, cropped: answered.cropped)
    let reservation =
      "No classification is suggested: the model abstains. The image is badly blurred. "
      + "The image is unlike those that the model was trained on."
    for (explanation, isSaid) in [(answered, false), (abstained, true)] {
      let picture = explanation.figure()
      let lines = FigureTextReader(picture: picture).lines(
        x: 8, from: 8 + 130, width: picture.width - 16)
      let text = lines.map(\.text).joined(separator: " ")
      #expect(text.contains("\(reservation) \(explanation.provenance()) ") == isSaid, "\(text)")
      let file = String(decoding: try explanation.png(), as: UTF8.self)
      #expect(file.contains("Description\0\(reservation) \(explanation.provenance())") == isSaid)
    }
    // Ahead of what speaks for the map: one of noise can pass every check.
    if classes.count > 1 { return }
    let passed = MapTrust(
      deletionAUC: 0.1, insertionAUC: 0.8, randomDeletionAUC: 0.5, randomInsertionAUC: 0.5,
      shuffledHeadCorrelation: 0)
    let picture = abstained.figure(trusts: [passed])
    let text = FigureTextReader(picture: picture).lines(x: 8, from: 8 + 130, width: picture.width - 16)
      .map(\.text).joined(separator: " ")
    #expect(text.contains("\(reservation) \(passed.verdict)"), "\(text)")
  }

  @Test(arguments: [[LesionLabel.nv], Array(Labels.ham10000)])
  func aPictureSaysWhatItsChecksFound(classes: [LesionLabel]) throws {
    let explanation = try explanation(classes, width: 130, height: 130)
    func trust(passes: Bool) -> MapTrust {
      MapTrust(
        deletionAUC: passes ? 0.1 : 0.9, insertionAUC: 0.8, randomDeletionAUC: 0.5, randomInsertionAUC: 0.5,
        shuffledHeadCorrelation: 0)
    }
    // The last map alone does not pass.
    let trusts = classes.indices.map { trust(passes: $0 < classes.count - 1) }
    for (trusts, isSaid) in [([], false), (trusts, true)] {
      let picture = explanation.figure(trusts: trusts)
      let x = classes.count == 1 ? 8 : 8 + 3 * (130 + 8)
      let lines = FigureTextReader(picture: picture).lines(
        x: x, from: 8 + 130, width: classes.count == 1 ? picture.width - 16 : 130)
      let text = lines.map(\.text).joined(separator: " ")
      #expect(text.contains(trust(passes: false).verdict) == isSaid, "\(text)")
      let file = String(decoding: try explanation.png(trusts: trusts), as: UTF8.self)
      #expect(file.contains("\(trust(passes: false).verdict) \(explanation.provenance())") == isSaid)
    }
  }

  @Test func aSmallPhotographIsShownLargerPixelByPixel() throws {
    let explanation = try explanation([.nv], width: 50, height: 70)
    let picture = explanation.figure(FigureStyle(isSideBySide: true))
    for (x, y) in [(0, 0), (49, 0), (12, 37), (49, 49)] {
      let original = (y * 50 + x) * 3
      for place in 0..<9 {
        let shown = ((8 + y * 3 + place / 3) * picture.width + 8 + x * 3 + place % 3) * 3
        #expect(
          picture.pixels[shown..<shown + 3].elementsEqual(
            explanation.cropped.pixels[original..<original + 3]),
          "pixel \(x), \(y)")
      }
    }
  }
}
