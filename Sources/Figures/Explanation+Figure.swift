import DermaFusion
import Files
import ImagePipeline

extension Explanation {
  /// The maps over the photograph, with a colour bar and a caption. One map has the photograph's own resolution; several
  /// are a contact sheet beside the photograph.
  ///
  /// The caption names class, probability and risk; image, patient and model; and the method. It says whether the model
  /// abstains and what the checks of a map found, and ends with the disclaimer.
  ///
  /// A contact sheet shows the maps in the order of probability and frames the likeliest class's; where the model abstains, in
  /// the order of ``maps``, without probabilities and without a frame.
  ///
  /// - Parameters:
  ///   - style: how the maps are drawn.
  ///   - trusts: the checks of each map, in the maps' order; empty if nothing was checked.
  ///   - imageName: the image's name in the caption.
  /// - Returns: 8-bit RGB. Its size follows from the photograph's, the number of maps and the length of the caption.
  /// - Precondition: `trusts` is empty or as long as ``maps``.
  public func figure(
    _ style: FigureStyle = FigureStyle(), trusts: [MapTrust] = [], imageName: String? = nil
  ) -> PixelImage {
    mapFigure(style, trusts: trusts, imageName: imageName).image
  }

  package func mapFigure(_ style: FigureStyle, trusts: [MapTrust], imageName: String? = nil) -> MapFigure {
    precondition(
      trusts.isEmpty || trusts.count == maps.count, "\(trusts.count) checks of \(maps.count) maps")
    let shared = hasSharedScale(style) ? SharedScale(maps) : nil
    return MapFigure(
      photograph: cropped,
      maps: order.map { index in
        let map = maps[index]
        return MapFigure.Map(
          title: shortTitle(map, in: style.language),
          lines: [style.language.name(label(of: map))]
            + (shared?.strength(ofMap: index, map, in: style.language) ?? [])
            + (map.status.sentence(in: style.language).map { [$0] } ?? [])
            + (trusts.isEmpty ? [] : [trusts[index].verdict(in: style.language)]),
          isFramed: label(of: map) == classification.prediction,
          peak: shared?.share(ofMap: index) ?? 1,
          values: { values(of: map, side: $0, greatest: shared?.greatest, style) })
      },
      heading: heading(style.language), caption: caption(style, trusts: trusts, imageName: imageName),
      scaleLabel: style.language[maps[0].method.usesGradient ? "figure.scale" : "figure.responseScale"],
      style: style)
  }

  /// The maps' places in the order in which they are shown.
  private var order: [Int] {
    if classification.abstains { return Array(maps.indices) }
    let probability = { (index: Int) in classification.probabilities[label(of: maps[index])] }
    return maps.indices.sorted { (probability($0), $1) > (probability($1), $0) }
  }
}

// MARK: - Values

/// The scale that the maps of a contact sheet share.
private struct SharedScale {
  private let peaks: [Float]
  let greatest: Float

  init(_ maps: [ActivationMap]) {
    peaks = maps.map { $0.status == .ok ? $0.placedSupport(side: $0.size).max() ?? 0 : 0 }
    greatest = peaks.max() ?? 0
  }

  /// A map's greatest support on the scale, above 0...1; nil where it has nothing to show.
  func share(ofMap index: Int) -> Float? { peaks[index] > 0 ? peaks[index] / greatest : nil }

  /// A map's greatest value on the scale: one that is far below the others looks empty.
  func strength(ofMap index: Int, _ map: ActivationMap, in language: Language) -> [String] {
    guard map.method.usesGradient, let share = share(ofMap: index) else { return [] }
    let value = language.number(Double(share).fixed(digits: 2))
    return [language["figure.strongest", values: ["value": value]]]
  }
}

extension Explanation {
  private func hasSharedScale(_ style: FigureStyle) -> Bool { maps.count > 1 && style.scale == .shared }

  /// `[side, side]`, 0...1; nil where there is nothing to show.
  ///
  /// - Parameter greatest: The value that 1 stands for; nil: the map's own greatest support.
  private func values(of map: ActivationMap, side: Int, greatest: Float?, _ style: FigureStyle) -> [Float]? {
    guard map.status == .ok else { return nil }
    if style.form == .classic { return map.values(side: side) }
    let support = map.placedSupport(side: side)
    let greatest = greatest ?? support.max() ?? 0
    return greatest > 0 ? support.map { min($0 / greatest, 1) } : nil
  }
}

// MARK: - Text

extension Explanation {
  /// Why no class is suggested; nil where one is.
  private func reservation(in language: Language) -> String? {
    guard case .abstained(let reasons) = classification.outcome else { return nil }
    return Wording.abstention(reasons, in: language)
  }

  private func heading(_ language: Language) -> [FigureParagraph] {
    let title = maps.count == 1 ? title(maps[0], in: language) : nil
    guard let answer = classification.answer else {
      return [.init(reservation(in: language) ?? "", .strong, sign: RiskSign.none)]
        + (title.map { [.init($0, .strong)] } ?? [])
    }
    let suggestion = Wording.suggestion(answer, in: language)
    var heading: [FigureParagraph] = [.init(title ?? suggestion, .heading)]
    if let risk = answer.risk {
      heading.append(.init(Wording.sentence(for: risk, in: language), .strong, sign: risk.sign))
    }
    // A map of another class than the suggested one, or of one beside which another must be named.
    if title != nil, answer.concern != nil || label(of: maps[0]) != answer.prediction {
      heading.append(.init(suggestion))
    }
    return heading
  }

  private func caption(
    _ style: FigureStyle, trusts: [MapTrust], imageName: String?
  ) -> [FigureParagraph] {
    var caption: [FigureParagraph] = []
    if maps.count == 1 {
      if let sentence = maps[0].status.sentence(in: style.language) {
        caption.append(.init(sentence, .strong))
      }
      if let trust = trusts.first {
        caption.append(.init(trust.verdict(in: style.language), trust.passes ? .body : .strong))
      }
    }
    return caption + [
      .init(origin(imageName, in: style.language)), .init(provenance(style), .small),
      .init(style.language.disclaimer, .small),
    ]
  }

  /// More than a file system allows for a name.
  private static let nameLimit = 255

  /// Which image, whose, and by which model: `lesion.jpg · age 55, male, back · dermafusion-lite2 1.6.0`.
  func origin(_ imageName: String?, in language: Language = .english) -> String {
    let model = "\(classification.model.name) \(classification.model.version)"
    // A name of any length would make a picture of any height.
    let name = imageName.map { shortened($0, to: Self.nameLimit) }
    let parts = [name, classification.metadata.description(in: language), model].compactMap { $0 }
    return parts.joined(separator: " \u{00B7} ")
  }

  /// The words of a file with the figure, in ASCII and therefore in English: the title, what is shown and how, the disclaimer.
  package func captions(
    _ style: FigureStyle, trusts: [MapTrust], imageName: String? = nil
  ) -> [(keyword: String, text: String)] {
    var style = style
    style.language = .english
    let verdicts = zip(maps, trusts).map { map, trust in
      maps.count == 1 ? trust.verdict : "\(label(of: map).id): \(trust.verdict)"
    }
    let description =
      [reservation(in: .english)].compactMap { $0 } + verdicts + [
        "\(origin(imageName)). \(provenance(style))"
      ]
    // A PNG file's texts hold ASCII only; images and models may be named in any script.
    func ascii(_ text: String) -> String {
      String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "·" ? "-" : $0 })).inASCII
    }
    return [
      ("Title", ascii(order.map { title(maps[$0]) }.joined(separator: "; "))),
      ("Description", ascii(description.joined(separator: " "))),
      ("Disclaimer", classification.disclaimer),
      ("Software", "DermaFusion \(DermaFusionVersion.current)"),
    ]
  }

  /// `Melanoma (mel): probability 12.3%`; without the probability where the model abstains.
  func title(_ map: ActivationMap, in language: Language = .english) -> String {
    let label = label(of: map)
    return language[
      classification.abstains ? "figure.mapOf" : "figure.probability",
      values: ["label": language.description(label), "percent": percentage(label, in: language)]]
  }

  /// `mel 12.3%`; without the probability where the model abstains.
  func shortTitle(_ map: ActivationMap, in language: Language = .english) -> String {
    let label = label(of: map)
    return classification.abstains ? label.id : "\(label.id) \(percentage(label, in: language))"
  }

  private func percentage(_ label: LesionLabel, in language: Language) -> String {
    Wording.percentage(classification.probabilities[label], in: language)
  }

  /// The map's method, and how to read it.
  func provenance(_ style: FigureStyle = FigureStyle()) -> String {
    let (language, method) = (style.language, maps[0].method)
    let meaning: String
    switch (method.usesGradient, maps.count == 1, style.scale) {
    case (false, _, _): meaning = language["figure.response"]
    case (true, true, _): meaning = language["figure.own"]
    case (true, false, .each): meaning = language["figure.each"]
    case (true, false, .shared): meaning = language["figure.shared"]
    }
    let form: String
    if style.form == .classic {
      // Otherwise half of a dark colour over bright skin looks like something dark in the skin.
      let percent = language.number("\(Int((style.alpha * 100).rounded()))%")
      form = language["figure.classic", values: ["percent": percent]]
    } else {
      let hasOwnLines = hasSharedScale(style) && method.usesGradient
      form =
        "\(language[hasOwnLines ? "figure.ownLines" : "figure.lines"]) \(language["figure.elsewhere"])"
    }
    let place = language["figure.at", values: ["method": method.displayName, "layer": maps[0].layer]]
    return "\(place) \(meaning) \(form)"
  }
}

extension RiskLevel {
  var sign: RiskSign {
    switch self {
    case .low: .low
    case .moderate: .moderate
    case .high: .high
    }
  }
}

extension ActivationMap.Status {
  /// A note on a map that has nothing to show; nil when it has.
  public var sentence: String? { sentence(in: .english) }

  /// A note on a map that has nothing to show; nil when it has.
  public func sentence(in language: Language) -> String? {
    switch self {
    case .ok: nil
    case .allNegative: language["figure.allNegative"]
    case .flat: language["figure.flat"]
    }
  }
}

extension Explanation {
  /// A map over the photograph without any text, at `photograph`'s resolution; nil where it has nothing to show.
  package func overlay(of map: ActivationMap, on photograph: PixelImage, style: FigureStyle) -> PixelImage? {
    // Alone it has a scale of its own.
    let greatest = hasSharedScale(style) ? SharedScale([map]).greatest : nil
    return values(of: map, side: photograph.width, greatest: greatest, style).map {
      MapFigure.overlay($0, on: photograph, style: style, lineWidth: Float(photograph.width) * 1.3 / 450)
    }
  }

  /// A map's subject, and how to read it.
  package func sentence(on map: ActivationMap, in language: Language) -> String {
    var style = FigureStyle()
    style.language = language
    return "\(language.name(label(of: map)))\(language["table.colon"])\(provenance(style))"
  }
}
