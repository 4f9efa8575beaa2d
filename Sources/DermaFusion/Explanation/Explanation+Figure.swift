import ExplanationModule
import FigureModule
import ImagePipeline

extension Explanation {
  /// The maps over the photograph, with a colour bar and a caption that says which class, how probable, by what method,
  /// whether the model abstains, what the checks of a map found, and the disclaimer: one map at the photograph's own
  /// resolution, or several as a contact sheet beside the photograph.
  ///
  /// - Parameter trusts: of each map, in their order, or none where nothing was checked.
  public func figure(_ style: FigureStyle = FigureStyle(), trusts: [MapTrust] = []) -> PixelImage {
    precondition(
      trusts.isEmpty || trusts.count == maps.count, "\(trusts.count) checks of \(maps.count) maps")
    return MapFigure(
      photograph: cropped,
      maps: maps.enumerated().map { index, map in
        MapFigure.Map(
          lines: [shortTitle(map), label(of: map).name] + (map.status.sentence.map { [$0] } ?? [])
            + (trusts.isEmpty ? [] : [trusts[index].verdict]),
          values: { map.status == .ok ? map.values(side: $0) : nil })
      },
      caption: caption(style, trusts: trusts), style: style
    ).image
  }

  /// Why no class is suggested; nil where one is.
  private var reservation: String? {
    if case .abstained(let reasons) = classification.outcome { Wording.abstention(reasons) } else { nil }
  }

  private func caption(_ style: FigureStyle, trusts: [MapTrust]) -> [MapFigure.Paragraph] {
    let isSingle = maps.count == 1
    var caption: [MapFigure.Paragraph] = []
    if isSingle { caption.append(.init(title(maps[0]), isLarge: true)) }
    // Before what speaks for the map: a map of noise can pass every check.
    if let reservation { caption.append(.init(reservation, isLarge: true)) }
    if isSingle {
      if let sentence = maps[0].status.sentence { caption.append(.init(sentence, isLarge: true)) }
      if let trust = trusts.first { caption.append(.init(trust.verdict, isLarge: !trust.passes)) }
    }
    return caption + [.init(provenance(style)), .init(classification.disclaimer)]
  }

  /// What a file with the figure should say in words: the title, what is shown and how, the disclaimer and the program.
  ///
  /// - Returns: keywords and texts of ASCII.
  package func captions(_ style: FigureStyle, trusts: [MapTrust]) -> [(keyword: String, text: String)] {
    let verdicts = zip(maps, trusts).map { map, trust in
      maps.count == 1 ? trust.verdict : "\(label(of: map).id): \(trust.verdict)"
    }
    let description = [reservation].compactMap { $0 } + verdicts + [provenance(style)]
    return [
      ("Title", MapFigure.drawable(maps.map { title($0) }.joined(separator: "; "))),
      ("Description", MapFigure.drawable(description.joined(separator: " "))),
      ("Disclaimer", classification.disclaimer),
      ("Software", "DermaFusion \(DermaFusionVersion.current)"),
    ]
  }

  /// `Melanoma (mel): probability 12.3%`
  func title(_ map: ActivationMap) -> String {
    "\(label(of: map).name) (\(label(of: map).id)): probability \(percentage(label(of: map)))"
  }

  /// `mel 12.3%`
  func shortTitle(_ map: ActivationMap) -> String {
    "\(label(of: map).id) \(percentage(label(of: map)))"
  }

  private func percentage(_ label: LesionLabel) -> String {
    Wording.percentage(classification.probabilities[label])
  }

  /// How the map was made, and how to read it.
  func provenance(_ style: FigureStyle = FigureStyle()) -> String {
    let model = "\(classification.model.name) \(classification.model.version)"
    let meaning =
      switch (maps[0].method.usesGradient, maps.count) {
      case (false, _): "Scale: how strongly the features respond, from 0 to 1; the same for every class."
      case (true, 1): "Scale: 0 is no support for the class, 1 the strongest in this image."
      case (true, _):
        "Each map has its own scale: 0 is no support for its class, 1 the strongest in this image."
      }
    // Half of inferno's black over bright skin would else be taken for something dark in the skin.
    let cover = "Colours of \(Int((style.alpha * 100).rounded()))% opacity lie over the whole photograph."
    return "\(maps[0].method.displayName) at \(maps[0].layer), model \(model). \(meaning) \(cover)"
  }
}

extension ActivationMap.Status {
  /// What a person should know of a map that has nothing to show; nil when it has.
  public var sentence: String? {
    switch self {
    case .ok: nil
    case .allNegative: "Nothing to show: no place supports this class at this layer (all_negative)."
    case .flat: "Nothing to show: every place counts the same (flat)."
    }
  }
}
