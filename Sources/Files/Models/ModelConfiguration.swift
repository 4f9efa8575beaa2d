import ImagePipeline
import SystemModule

/// The type that a network's 1x1 convolutions, most of its work, multiply.
public enum Precision: String, Sendable, CaseIterable {
  /// Float32: the reference.
  case float32
  /// bfloat16, added up as Float32: about twice as fast, where the CPU has AVX-512 BF16. Probabilities change by some
  /// thousandths. The stored weights may be of any type of floats.
  case bfloat16
  /// 8-bit integers, as the model's file has them; no other model can be computed so.
  case int8
}

/// The malignancy of a class. Risk follows from it.
public enum Malignancy: String, Sendable, CaseIterable {
  /// Cancer.
  case malignant
  /// It may become cancer.
  case preMalignant = "pre-malignant"
  /// Neither.
  case benign
}

#if !hasFeature(Embedded)
  extension Malignancy: Codable {}
#endif

/// The contents of a model's `config.json`: everything that software needs besides the weights. Parsed strictly: a key that
/// is missing, unknown, of another type or out of range is an error, so no model runs on a guess.
package struct ModelConfiguration: Sendable, Equatable {
  /// The padding of convolutions of stride 2.
  package enum Padding: String, Sendable, CaseIterable {
    /// TensorFlow's "SAME": as much as the output's size needs, the smaller half before.
    case same
    /// PyTorch's: (kernelSize - 1) / 2 on each side.
    case symmetric
  }

  /// timm's `global_pool`.
  package enum Pooling: String, Sendable, CaseIterable {
    /// The mean of all pixels, or of all tokens but the first.
    case average = "avg"
    /// The class token.
    case token
  }

  /// The sizes of the head that joins the patient's metadata to the image's features.
  package struct Fusion: Sendable, Equatable {
    /// Rows of the embedding tables.
    package let (sexCount, siteCount): (Int, Int)
    package let sexEmbeddingSize: Int
    package let siteEmbeddingSize: Int
    package let metadataSize: Int
    package let hiddenSize: Int
    /// Added to the variance in layer norm; above 0.
    package let layerNormEpsilon: Double
  }

  /// The class that one output of the network stands for.
  package struct Class: Sendable, Equatable {
    /// The short name that programs and tables use; unique in a model.
    package let id: String
    package var name: String
    /// The class's malignancy; nil in every class of a model that does not say.
    package var malignancy: Malignancy?
  }

  /// The function that makes probabilities of the last layer's outputs, the logits.
  package enum Outputs: Sendable {
    /// One class of several is right: softmax.
    case oneOfSeveral
    /// There is one output: its sigmoid is the probability of the first of two classes.
    case yesOrNo
    /// Each class may be right or not: a sigmoid for each.
    case multiLabel
    /// There is no last layer: the network gives features, and there are no classes.
    case none
  }

  /// The numbers of classes that a model may have, unless it has none.
  package static let classCounts = 2...1000

  package var outputCount: Int { outputs == .yesOrNo ? 1 : classes.count }

  /// The seven classes of HAM10000, which a configuration may list by their ids alone.
  package static let ham10000Classes = [
    Class(id: "akiec", name: "Actinic keratoses", malignancy: .preMalignant),
    Class(id: "bcc", name: "Basal cell carcinoma", malignancy: .malignant),
    Class(id: "bkl", name: "Benign keratosis-like lesions", malignancy: .benign),
    Class(id: "df", name: "Dermatofibroma", malignancy: .benign),
    Class(id: "mel", name: "Melanoma", malignancy: .malignant),
    Class(id: "nv", name: "Melanocytic nevi", malignancy: .benign),
    Class(id: "vasc", name: "Vascular lesions", malignancy: .benign),
  ]

  package let name: String
  package let version: String
  /// timm's name of the network. Which names there are, and what else each asks of a configuration, `NetworkModule` says.
  package let architecture: String
  package let padding: Padding
  /// The pooling that makes a vector of a network's last map; nil: as the architecture does by itself.
  package internal(set) var pooling: Pooling?
  package internal(set) var precision: Precision
  /// Added to the variance in batch norm; above 0.
  package let batchNormEpsilon: Double
  /// In the order of the network's outputs; empty for a network without a last layer.
  package var classes: [Class]
  package internal(set) var outputs = Outputs.oneOfSeveral
  /// The logits are divided by this before softmax or sigmoid; above 0.
  package let temperature: Double
  package let preprocessing: PreprocessingConfiguration
  /// The sexes and the sites that the model encodes, in order; empty if the file says nothing about patients.
  package let (sexes, sites): ([String], [String])
  /// The metadata head, or nil for a model that sees the image alone.
  package let fusion: Fusion?
  /// When the model does not answer, or nil for a model that was not fitted for it.
  package let abstention: Abstention?
  /// True if the file is timm's own, whose classes have names that anybody gave them.
  package internal(set) var isTimms = false
}

extension ModelConfiguration {
  /// When the model does not answer, fitted on its validation images.
  package struct Abstention: Sendable, Equatable {
    /// The limits of an image's measures for it to be judged.
    package struct Quality: Sendable, Equatable {
      /// A limit of mean luma, 0...255.
      package let minimumBrightness: Double
      package let maximumBrightness: Double
      /// A limit of the deviation of the means of blocks, in levels.
      package let minimumContrast: Double
      /// A limit of fine against coarse second differences.
      package let minimumSharpness: Double
      /// A limit of the share of variance between blocks, 0...1.
      package let minimumStructure: Double
      /// A limit of the share of pixels greener than red, 0...1; nil: any.
      package let maximumGreen: Double?
      /// A limit of the variety of colours among pixels of equal luma; nil: any.
      package let minimumColorVariety: Double?
      /// A limit of the distance from a picture with red and blue exchanged; nil: any.
      package let minimumWarmth: Double?

      /// Limits that need no fitting, far outside of what was measured in 223 photographs through dermatoscopes: a
      /// brightness of 74 to 215 and a contrast of at least 7.4.
      package static let basic = Self(
        minimumBrightness: 15, maximumBrightness: 245, minimumContrast: 2.5, minimumSharpness: 0,
        minimumStructure: 0, maximumGreen: nil, minimumColorVariety: nil, minimumWarmth: nil)
    }

    /// The distance to the nearest class, of the features that a stage of the network ends with.
    package struct Distance: Sendable, Equatable {
      /// The stage whose last map gives the means, from 0.
      package let stage: Int
      /// Above it, an image is unlike those that the model was trained on.
      package let threshold: Double
      /// The distance that nine in ten of the validation's images keep to; nil: not known.
      package let outerTenth: Double?
    }

    /// A linear probe of the means of feature maps, which tells pictures that no dermatoscope took.
    package struct Dermoscopy: Sendable, Equatable {
      /// The stages whose last maps give the means, from 0, ascending.
      package let stages: [Int]
      /// Above it, an image was not taken through a dermatoscope.
      package let threshold: Double
    }

    /// Sets of classes that hold the right one with a stated probability.
    package struct Conformal: Sendable, Equatable {
      /// The share of images whose class is in the set, 0...1.
      package let coverage: Double
      /// The probability from which each class is in the set, 0...1, in the order of the classes.
      package let thresholds: [Double]
      /// The share of each class's images whose set holds it, 0...1; nil for a class whose threshold was fitted to too few.
      package let coverageByClass: [Double?]

      /// - Parameter coverageByClass: of each class; nil: ``coverage``, for all of them.
      package init(coverage: Double, thresholds: [Double], coverageByClass: [Double?]? = nil) {
        self.coverage = coverage
        self.thresholds = thresholds
        self.coverageByClass = coverageByClass ?? thresholds.map { _ in coverage }
      }

      /// The name of ``coverageByClass`` in `config.json`, and in the JSON of `calibrate`.
      package static let coverageByClassKey = "conformalCoverageByClass"
    }

    package let quality: Quality
    package let distance: Distance
    package let conformal: Conformal
    /// The limit for pictures without a dermatoscope; nil for a model that was not fitted for it.
    package let dermoscopy: Dermoscopy?
  }
}

extension ModelConfiguration.Abstention {
  /// - Parameter classes: the ids of the classes, in their order.
  init(_ object: ConfigurationObject, classes: [String]) throws(DermaFusionError) {
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
      threshold: try distance.number("threshold", .positive),
      outerTenth: try distance.optionalNumber("outer_tenth", .positive))
    try distance.requireNoOtherKeys()
    var conformal = try object.object("conformal")
    self.conformal = Conformal(
      coverage: try conformal.number("coverage", .upToOne),
      thresholds: try conformal.numbers("thresholds", count: classes.count, .probability),
      coverageByClass: try Self.coverageByClass(&conformal, classes))
    try conformal.requireNoOtherKeys()
    dermoscopy = object.hasValue("dermoscopy") ? try Self.dermoscopy(&object) : nil
    try object.requireNoOtherKeys()
  }

  private static func dermoscopy(
    _ object: inout ConfigurationObject
  ) throws(DermaFusionError) -> Dermoscopy {
    var object = try object.object("dermoscopy")
    let stages = try object.integers("stages", in: 0...Int.max)
    guard !stages.isEmpty, zip(stages, stages.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw .outOfRange(
        key: "abstention.dermoscopy.stages", value: SafetensorsHeader.inWords(stages),
        rule: "at least one stage, ascending")
    }
    let threshold = try object.number("threshold", .finite)
    try object.requireNoOtherKeys()
    return Dermoscopy(stages: stages, threshold: threshold)
  }

  /// The stages whose means the limits look at, ascending.
  package var stages: [Int] { Set([distance.stage] + (dermoscopy?.stages ?? [])).sorted() }

  /// Nil where the key is missing, as in a model that was not calibrated.
  private static func coverageByClass(
    _ conformal: inout ConfigurationObject, _ classes: [String]
  ) throws(DermaFusionError) -> [Double?]? {
    guard conformal.hasValue(Conformal.coverageByClassKey) else { return nil }
    var shares = try conformal.object(Conformal.coverageByClassKey)
    let values = try classes.map { (id) throws(DermaFusionError) in try shares.numberOrNull(id, .probability)
    }
    try shares.requireNoOtherKeys()
    return values
  }
}
