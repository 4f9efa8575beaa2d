import SystemModule

extension ModelConfiguration {
  /// When the model does not answer, fitted on its validation images.
  package struct Abstention: Sendable, Equatable {
    /// What the measures of an image must be for it to be judged.
    package struct Quality: Sendable, Equatable {
      /// Of mean luma, 0...255.
      package let minimumBrightness: Double
      /// Of mean luma, 0...255.
      package let maximumBrightness: Double
      /// Of the deviation of the means of blocks, in levels.
      package let minimumContrast: Double
      /// Of fine against coarse second differences.
      package let minimumSharpness: Double
      /// Of the share of variance between blocks, 0...1.
      package let minimumStructure: Double
      /// Of the share of pixels greener than red, 0...1; nil: any.
      package let maximumGreen: Double?
      /// Of the colours that pixels of equal luma have; nil: any.
      package let minimumColorVariety: Double?
      /// Of the distance from a picture with red and blue exchanged; nil: any.
      package let minimumWarmth: Double?
    }

    /// The distance to the nearest class, of the features that a stage of the network ends with.
    package struct Distance: Sendable, Equatable {
      /// The stage whose last map's means are looked at, from 0.
      package let stage: Int
      /// Above it, an image is unlike those that the model was trained on.
      package let threshold: Double
    }

    /// Sets of classes that hold the right one with a stated probability.
    package struct Conformal: Sendable, Equatable {
      /// The share of images whose class is in the set, 0...1.
      package let coverage: Double
      /// The probability from which each class is in the set, 0...1, in the order of the classes.
      package let thresholds: [Double]

      package init(coverage: Double, thresholds: [Double]) {
        self.coverage = coverage
        self.thresholds = thresholds
      }
    }

    /// What an image must be like.
    package let quality: Quality
    /// What the features must be like.
    package let distance: Distance
    /// How sets of classes are made.
    package let conformal: Conformal
  }
}

extension ModelConfiguration.Abstention {
  init(_ object: ConfigurationObject, classCount: Int) throws(DermaFusionError) {
    var object = object
    var quality = try object.object("quality")
    self.quality = Quality(
      minimumBrightness: try quality.number("minimum_brightness", .finite),
      maximumBrightness: try quality.number("maximum_brightness", .finite),
      minimumContrast: try quality.number("minimum_contrast", .finite),
      minimumSharpness: try quality.number("minimum_sharpness", .finite),
      minimumStructure: try quality.number("minimum_structure", .finite),
      maximumGreen: try quality.optionalNumber("maximum_green", .probability),
      minimumColorVariety: try quality.optionalNumber("minimum_color_variety", .finite),
      minimumWarmth: try quality.optionalNumber("minimum_warmth", .finite))
    try quality.requireNoOtherKeys()
    var distance = try object.object("distance")
    self.distance = Distance(
      stage: try distance.integer("stage", in: 0...Int.max),
      threshold: try distance.number("threshold", .positive))
    try distance.requireNoOtherKeys()
    var conformal = try object.object("conformal")
    self.conformal = Conformal(
      coverage: try conformal.number("coverage", .upToOne),
      thresholds: try conformal.numbers("thresholds", count: classCount, .probability))
    try conformal.requireNoOtherKeys()
    try object.requireNoOtherKeys()
  }
}
