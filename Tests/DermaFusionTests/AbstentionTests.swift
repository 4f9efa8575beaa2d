import ImageCodecs
import ImagePipeline
import TensorModule
import TestFiles
import TestImages
import TestModels
import Testing

@testable import DermaFusion
@testable import Files
@testable import NetworkModule

@Suite struct AbstentionTests {
  static let side = 120

  /// An image of the formula, 0...255 by channel.
  func image(_ value: (_ x: Double, _ y: Double, _ channel: Int) -> Double) -> PixelImage {
    let side = Self.side
    return PixelImage(
      width: side, height: side,
      pixels: (0..<side * side * 3).map { index in
        let (pixel, channel) = (index / 3, index % 3)
        let value = value(Double(pixel % side), Double(pixel / side), channel)
        return UInt8(min(max(value, 0), 255))
      })
  }

  /// A dark disc with stripes of `detail` levels on skin; `edge` is the width of its border in pixels.
  func lesion(
    edge: Double, detail: Double, light: Double = 1, at centre: (x: Double, y: Double) = (60, 55)
  ) -> PixelImage {
    image { x, y, channel in
      let distance = ((x - centre.x) * (x - centre.x) + (y - centre.y) * (y - centre.y)).squareRoot()
      let inside = min(max((35 - distance) / edge + 0.5, 0), 1)
      let skin = [210.0, 165, 150][channel]
      let stripes = (Int(x) / 2 + Int(y) / 2).isMultiple(of: 2) ? detail : -detail
      return light * (skin * (1 - inside * 0.5) + stripes)
    }
  }

  /// The same without any border or detail.
  var blurredLesion: PixelImage {
    image { x, y, channel in
      let square = ((x - 60) * (x - 60) + (y - 55) * (y - 55)) / (2 * 22 * 22)
      // e^-s as the limit of a product, (1 - s / 64)^64, without a C library.
      var fall = max(1 - square / 64, 0)
      for _ in 0..<6 { fall *= fall }
      return [210.0, 165, 150][channel] * (1 - fall * 0.6)
    }
  }

  private func noise(seed: UInt64) -> PixelImage {
    var generator = SplitMix64(seed: seed)
    return image { _, _, _ in Double(generator.next() >> 56) }
  }

  private let settings = try! ModelConfiguration.Abstention.parsing(
    """
    {"quality": {"minimum_brightness": 40, "maximum_brightness": 235, "minimum_contrast": 5,
      "minimum_sharpness": 0.03, "minimum_structure": 0.4, "maximum_green": 0.1},
     "distance": {"stage": 4, "threshold": 2.5},
     "conformal": {"coverage": 0.9, "thresholds": [0.2, 0.2, 0.2, 0, 0.15, 0.3, 0.2]}}
    """)

  func reasons(_ image: PixelImage) -> [AbstentionReason] {
    settings.quality.reasons(for: ImageMeasures(image))
  }

  @Test func aLesionIsJudged() {
    #expect(reasons(lesion(edge: 4, detail: 6)) == [])
  }

  @Test func whatCannotBeJudgedIsNamed() {
    #expect(reasons(noise(seed: 5)) == [.lowContrast, .noLesion, .unlikeSkin])
    #expect(reasons(blurredLesion) == [.blurred])
    #expect(reasons(lesion(edge: 4, detail: 6, light: 0.15)).contains(.underexposed))
    #expect(reasons(image { _, _, _ in 250 }) == [.overexposed, .lowContrast, .noLesion])
    #expect(
      reasons(image { x, y, channel in 90 + 0.4 * x + 0.3 * y + 10 * Double(2 - channel) }) == [.lowContrast])
  }

  @Test func aGreenPictureIsUnlikeSkinAndAGreenPatchIsNot() {
    let lesion = lesion(edge: 4, detail: 6)
    func reasons(greenRows: Int) -> [AbstentionReason] {
      var pixels = lesion.pixels
      for pixel in 0..<greenRows * Self.side { pixels[pixel * 3 + 1] = min(pixels[pixel * 3], 240) + 9 }
      return self.reasons(PixelImage(width: Self.side, height: Self.side, pixels: pixels))
    }
    #expect(reasons(greenRows: 10) == [])
    #expect(reasons(greenRows: 60) == [.unlikeSkin])
  }

  @Test func measuresAreThoseOfTheirFormulas() {
    // Luma 256 x on every row: no second differences, all contrast along the plane.
    let ramp = ImageMeasures(image { x, _, _ in x })
    #expect(ramp.brightness == 59.5)
    #expect(ramp.contrast < 1e-9)
    #expect(ramp.sharpness == 0)
    // Variance of 0...119 is 1199.917, of the means of six blocks 1166.667.
    #expect(abs(ramp.structure - 1166.6666666666667 / 1199.9166666666667) < 1e-12)
  }

  /// From `measure` in Scripts/dermafusion_training/model/abstention.py.
  @Test(
    arguments: [
      (
        "phantom_brown.jpg",
        [148.70472385734072, 34.29598498717099, 0.26040928957036236, 0.9087721954186139, 0]
      ),
      (
        "phantom_dark_skin.jpg",
        [74.33431080657029, 19.807351984203475, 0.3256625614912265, 0.8180808869398755, 0]
      ),
      (
        "noise.png",
        [127.73400715244114, 12.411455265028858, 0.1454932114480429, 0.06584026956065522, 0.4480678670360111]
      ),
      ("checks.png", [127.52631578947368, 0.264406727586923, 0.04109031828487815, 7.09570290362485e-06, 0]),
    ])
  func measuresAreThoseOfPython(name: String, expected: [Double]) throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 380, colorConstancy: .none, mean: [0, 0, 0], standardDeviation: [1, 1, 1]))
    let image = try preprocessor(ImageDecoder.decode(Fixtures.read("images/\(name)"))).resized
    let measures = ImageMeasures(image)
    let found = [
      measures.brightness, measures.contrast, measures.sharpness, measures.structure, measures.green,
    ]
    for (found, expected) in zip(found, expected) {
      #expect(abs(found - expected) <= 1e-9 * expected, "\(found), in Python \(expected)")
    }
    // Drawn lesions can be judged, the others not.
    #expect(settings.quality.reasons(for: measures).isEmpty == name.hasPrefix("phantom"))
  }

  /// From `color_variety` and `warmth` in Scripts/dermafusion_training/model/abstention.py, to the bit.
  @Test(
    arguments: [
      ("phantom_dark_skin.jpg", 5.847880167128211, 0.9639889417436253, 7.677983538262017),
      ("noise.png", 3846.685973016488, -0.0035610778265120872, 3797.2378141515587),
      ("gradient.png", 2018.1748905618003, -0.1040527997571545, 1684.4480240177784),
      ("checks.png", 0, 0, 0), ("png_grey8.png", 0, 0, 0),
    ])
  func coloursAreThoseOfPython(
    name: String, variety: Double, warmth: Double, exchangedVariety: Double
  ) throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 380, colorConstancy: .none, mean: [0, 0, 0], standardDeviation: [1, 1, 1]))
    let image = try preprocessor(ImageDecoder.decode(Fixtures.read("images/\(name)"))).resized
    let (colors, exchanged) = (ImageMeasures(image).color, ImageMeasures(image.exchanged).color)
    #expect(colors.variety == variety && colors.warmth == warmth, "\(colors)")
    #expect(exchanged.variety == exchangedVariety && exchanged.warmth == -warmth, "\(exchanged)")
  }

  @Test func aPictureWithoutItsColoursIsNotJudged() throws {
    let settings = try ModelConfiguration.Abstention.parsing(
      """
      {"quality": {"minimum_brightness": 0, "maximum_brightness": 255, "minimum_contrast": 0,
        "minimum_sharpness": 0, "minimum_structure": 0, "minimum_color_variety": 2.1, "minimum_warmth": -0.45},
       "distance": {"stage": 4, "threshold": 2.5},
       "conformal": {"coverage": 0.9, "thresholds": [0.2, 0.2, 0.2, 0, 0.15, 0.3, 0.2]}}
      """)
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 380, colorConstancy: .none, mean: [0, 0, 0], standardDeviation: [1, 1, 1]))
    let image = try preprocessor(ImageDecoder.decode(Fixtures.read("images/phantom_melanoma.jpg"))).resized
    func reasons(_ image: PixelImage) -> [AbstentionReason] {
      settings.quality.reasons(for: ImageMeasures(image))
    }
    func grey(tint: [Double]) -> PixelImage {
      image.mapped { pixel in
        let luma = 0.299 * Double(pixel[0]) + 0.587 * Double(pixel[1]) + 0.114 * Double(pixel[2])
        return tint.map { UInt8(min(luma * $0 + 0.5, 255)) }
      }
    }
    #expect(reasons(image) == [])
    #expect(reasons(image.exchanged) == [.unusualColor])
    #expect(reasons(grey(tint: [1, 1, 1])) == [.unusualColor])
    #expect(reasons(grey(tint: [1.1, 0.9, 0.75])) == [.unusualColor])
    #expect(reasons(grey(tint: [0.85, 0.97, 1.1])) == [.unusualColor])
    for channel in 0..<3 {
      #expect(reasons(image.mapped { [UInt8](repeating: $0[channel], count: 3) }) == [.unusualColor])
    }
    // Nine tenths of white over it.
    #expect(
      reasons(image.mapped { $0.map { UInt8(230 + Double($0) / 10.2) } }).contains(.unusualColor))
    // A model without these limits judges as before.
    for picture in [image.exchanged, grey(tint: [1, 1, 1])] {
      #expect(!self.reasons(picture).contains(.unusualColor))
    }
  }

  @Test func distanceIsMahalanobisToTheNearestClass() {
    // Two classes in two dimensions, whitened by half the first and by twice the sum of both.
    let distance = FeatureDistance(
      means: Tensor(shape: [2, 2], values: [0, 0, 10, -10]),
      whitening: Tensor(shape: [2, 2], values: [0.5, 0, 2, 2]))
    #expect(distance([0, 0]) == 0)
    #expect(distance([2, -1]) == (1.0 + 4) / 2)
    #expect(distance([8, -7]) == (1.0 + 4) / 2)
    #expect(distance([-2, 5]) == (1.0 + 36) / 2)
  }

  /// The limit itself is still a picture through a dermatoscope, and a model without the limit says nothing.
  @Test func aScoreAboveTheLimitIsThatOfAPictureWithoutADermatoscope() throws {
    let limited = ModelConfiguration.Abstention(
      quality: .basic, distance: settings.distance, conformal: settings.conformal,
      dermoscopy: .init(stages: [0, 4], threshold: -0.25))
    let unlimited = ModelConfiguration.Abstention(
      quality: .basic, distance: settings.distance, conformal: settings.conformal, dermoscopy: nil)
    let image = try Preprocessor(.standard)(lesion(edge: 4, detail: 6))
    func reasons(
      _ settings: ModelConfiguration.Abstention, score: Double?, distance: Double = 0
    ) -> [AbstentionReason] {
      Abstention(
        of: image, judges: [.init(settings: settings, distance: distance, dermoscopyScore: score)],
        conformal: nil, probabilities: probabilities([:])
      ).reasons
    }
    #expect(reasons(limited, score: -0.25) == [])
    #expect(reasons(limited, score: (-0.25 as Double).nextUp) == [.notDermoscopic])
    #expect(reasons(limited, score: 3, distance: 9) == [.notDermoscopic, .outOfDistribution])
    #expect(reasons(limited, score: nil) == [])
    #expect(reasons(unlimited, score: nil) == [])
  }

  /// The means are those of the last maps of the stages, one image or many, and one stage may serve two limits.
  @Test func theLimitsSeeTheMeansOfTheStages() throws {
    let folder = TemporaryFolder()
    let model = try Model(
      directory: try SmallModel.write(to: "\(folder.path)/small", size: 96, distance: 1e9))
    let limits = try #require(model.configuration.abstention)
    #expect(limits.stages.count >= 2 && limits.dermoscopy != nil)
    for seed: UInt64 in 1...3 {
      var maps: [String: [Double]] = [:]
      let output = model.output(
        of: try model.preprocessor(noise(seed: seed)), metadata: PatientMetadata.unknown.encoded()
      ) { name, map in
        let values = map.dense()
        maps[name] = (0..<map.shape.channels).map { channel in
          let ofChannel = stride(from: channel, to: values.count, by: map.shape.channels)
          return ofChannel.reduce(0) { $0 + Double(values[$1]) } / Double(map.shape.height * map.shape.width)
        }
      }
      #expect(output.stageMeans.keys.sorted() == limits.stages)
      for (stage, means) in output.stageMeans {
        let expected = try #require(maps[model.network.featureMapName(ofStage: stage)])
        try #require(means.count == expected.count)
        for (channel, pair) in zip(means, expected).enumerated() {
          #expect(
            abs(Double(pair.0) - pair.1) < 1e-4, "seed \(seed), stage \(stage), channel \(channel)")
        }
      }
      let score = try #require(model.dermoscopyScore(of: output))
      #expect(score.isFinite)
    }
  }

  @Test func setsHoldWhatReachesItsThresholdAndAlwaysTheLikeliest() {
    let sets = [
      probabilities([.mel: 0.2, .bcc: 0.19]), probabilities([.nv: 0.2, .bcc: 0.19, .mel: 0.1]),
    ].map { Abstention.ConformalSet($0, settings.conformal).classes }
    #expect(sets == [[.nv, .mel, .df], [.nv, .df]])
  }

  /// A threshold that was not fitted promises nothing of a set whose right class may be that one.
  @Test(arguments: [LesionLabel.df, nil])
  func aSetStatesNoShareIfAClassWasNotFitted(unfitted: LesionLabel?) throws {
    var shares: [Double?] = Labels.ham10000.map { _ in 0.9 }
    if let unfitted { shares[unfitted.index] = nil }
    let conformal = ModelConfiguration.Abstention.Conformal(
      coverage: 0.9, thresholds: settings.conformal.thresholds, coverageByClass: shares)
    let results = [LesionLabel.df, .nv].map { likeliest in
      let probabilities = probabilities([likeliest: 0.8])
      return Classification(
        logits: probabilities, probabilities: probabilities, metadata: .unknown, warnings: [],
        imageSHA256: nil, model: ModelIdentity(name: "m", version: "1", sha256: "00"),
        abstention: Abstention(reasons: [], conformalSet: .init(probabilities, conformal)))
    }
    let share = unfitted == nil ? 0.9 : nil
    #expect(results.map { $0.answer?.conformalSet?.coverage } == [share, share])
    #expect(results.map { $0.answer?.conformalSet?.classes.first } == [.df, .nv])
    let texts = results.map { $0.json(imageName: "x") }
    let words = #""conformalCoverage":\#(share.map { "\($0)" } ?? "null")"#
    #expect(texts[0].contains(#""conformalSet":["df""#) && texts.allSatisfy { $0.contains(words) })
  }

  @Test func solidColourAndBlackAbstainWithoutSettings() throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: 64, colorConstancy: .shadesOfGray(p: 6, rounding: .round), mean: [0, 0, 0],
        standardDeviation: [1, 1, 1]))
    func reasons(_ image: PixelImage) throws -> [AbstentionReason] {
      Abstention(
        of: try preprocessor(image), judges: [], conformal: nil, probabilities: probabilities([:])
      ).reasons
    }
    #expect(try reasons(image { _, _, _ in 128 }) == [.solidColor, .lowContrast])
    #expect(try reasons(image { _, _, _ in 0 }) == [.solidColor, .underexposed, .lowContrast])
    #expect(try reasons(lesion(edge: 4, detail: 6)) == [])
  }

  /// Whatever the transform: without colour constancy nothing else would notice, and a border is no contrast.
  @Test(
    arguments: [.square, .timm(.center, share: 0.875), .timm(.squash, share: 1), .timm(.border, share: 0.9)]
      as [Framing], [33, 64, 224])
  func everyModelAbstainsFromPicturesOfNothing(framing: Framing, size: Int) throws {
    let preprocessor = Preprocessor(
      PreprocessingConfiguration(
        size: size, colorConstancy: .none, mean: [0.5, 0.4, 0.3], standardDeviation: [1, 1, 1],
        framing: framing, interpolation: .bicubic))
    func reasons(_ image: PixelImage) throws -> [AbstentionReason] {
      Abstention(
        of: try preprocessor(image), judges: [], conformal: nil, probabilities: probabilities([:])
      ).reasons
    }
    func wide(_ value: (_ x: Int, _ y: Int, _ channel: Int) -> UInt8) -> PixelImage {
      PixelImage(
        width: 300, height: 200,
        pixels: (0..<180_000).map { value($0 / 3 % 300, $0 / 900, $0 % 3) })
    }
    #expect(try reasons(wide { _, _, c in [200, 120, 90][c] }) == [.solidColor, .lowContrast])
    #expect(try reasons(wide { _, _, _ in 0 }) == [.solidColor, .underexposed, .lowContrast])
    #expect(try reasons(wide { _, _, _ in 255 }) == [.solidColor, .overexposed, .lowContrast])
    // A camera's noise, and light that falls off: nothing stands out.
    let flat = try reasons(wide { x, y, c in UInt8(120 + x * 7 % 5 + y * 3 % 4 + c) })
    // Made smaller, noise may vanish altogether.
    #expect(flat == [.lowContrast] || flat == [.solidColor, .lowContrast])
    #expect(try reasons(wide { x, y, _ in UInt8(100 + x / 30 + y / 40) }) == [.lowContrast])
    #expect(
      try reasons(
        wide { x, y, c in
          let inside = (x - 140) * (x - 140) + (y - 95) * (y - 95) < 2500
          return UInt8((inside ? [120, 80, 60] : [210, 165, 150])[c] + (x + y) % 7)
        }) == [])
  }

  /// Without thresholds too: what was made up says nothing of a lesion.
  @Test func severeDamageIsAReasonAndSlightDamageIsNone() throws {
    let preprocessor = Preprocessor(.standard)
    for (share, expected) in [(0.049, []), (0.05, [.damagedImage])] as [(Double, [AbstentionReason])] {
      let image = DecodedImage(
        lesion(edge: 4, detail: 6), damage: ImageDamage(reason: "bits are wrong", share: share))
      let abstention = Abstention(
        of: try preprocessor(image), judges: [], conformal: nil, probabilities: probabilities([:]))
      #expect(abstention.reasons == expected, "\(share)")
    }
  }

  @Test func aResultSaysThatItAbstainsAndWhy() {
    let logits = ClassScores([0, 0, 0, 0, 0, 3, 0])
    let result = Classification(
      logits: logits, temperature: 1, model: ModelIdentity(name: "m", version: "1", sha256: "00"),
      abstention: Abstention(
        reasons: [.blurred, .outOfDistribution],
        conformalSet: Abstention.ConformalSet(logits.softmax(temperature: 1), settings.conformal)))
    #expect(result.abstains)
    #expect(result.outcome == .abstained([.blurred, .outOfDistribution]))
    #expect(result.answer == nil && result.prediction == nil && result.risk == nil)
    #expect(
      result.summary == """
        No classification is suggested: the model abstains. The image is badly blurred. The image is unlike those that \
        the model was trained on. This is not a diagnosis. Please consult a dermatologist.
        """)
    let json = result.json(imageName: "x")
    #expect(json.contains(#""prediction":null,"probabilities":{"akiec":"#), "\(json)")
    #expect(json.contains(#""risk":null,"concern":null,"urgent":false,"confidence":"normal""#), "\(json)")
    #expect(
      result.json(imageName: "x").contains(
        """
        "abstain":true,"abstainReasons":["blurred","out_of_distribution"],"conformalSet":null,\
        "conformalCoverage":null,"instructionSet":null,"precision":null,"summary":
        """))
  }
}

extension PixelImage {
  /// Each pixel's red, green and blue changed alike.
  fileprivate func mapped(_ change: ([UInt8]) -> [UInt8]) -> PixelImage {
    PixelImage(
      width: width, height: height,
      pixels: stride(from: 0, to: pixels.count, by: 3).flatMap { change(Array(pixels[$0..<$0 + 3])) })
  }

  /// With red and blue in each other's place.
  fileprivate var exchanged: PixelImage { mapped { [$0[2], $0[1], $0[0]] } }
}

extension ModelConfiguration.Abstention {
  /// The object `abstention` of a `config.json` of seven classes, by itself.
  static func parsing(_ text: String) throws -> Self {
    try Self(ConfigurationObject(parsing: Array(text.utf8)), classes: Labels.ham10000.ids)
  }
}
