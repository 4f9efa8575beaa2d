import ImagePipeline
import SystemModule

extension ModelConfiguration {
  /// The version of the format that this software reads.
  package static let formatVersion = 1

  /// Parses and checks the bytes of a `config.json`.
  ///
  /// - Throws: `DermaFusionError` for the first broken rule.
  package init(parsing bytes: [UInt8]) throws(DermaFusionError) {
    try self.init(ConfigurationObject(parsing: bytes))
  }

  init(_ object: ConfigurationObject) throws(DermaFusionError) {
    var root = object
    if root["members"] != nil { throw .listsMembers }
    try root.requireFormatVersion()
    name = try root.text("name")
    version = try root.text("version")
    architecture = try root.text("architecture")
    padding = try root.choice("padding")
    precision = root["precision"] == nil ? .float32 : try root.choice("precision")
    batchNormEpsilon = try root.number("batch_norm_epsilon", .upToOne)
    classes = try Self.classes(&root)
    temperature = try root.number("temperature", .temperature)
    preprocessing = try PreprocessingConfiguration(try root.object("preprocessing"))

    var metadata = try root.object("metadata")
    try metadata.vocabulary("sexes", mustBe: Sex.allCases.map { $0.rawValue })
    try metadata.vocabulary("sites", mustBe: BodySite.allCases.map { $0.rawValue })
    try metadata.requireNoOtherKeys()

    fusion = try root.objectOrNull("fusion").map { (object) throws(DermaFusionError) in try Fusion(object) }
    // Configurations written before there was abstention do without the key.
    if root["abstention"] == nil {
      abstention = nil
    } else {
      abstention = try Abstention(try root.object("abstention"), classCount: classes.count)
    }
    root.ignore("training")
    try root.requireNoOtherKeys()
  }
}

extension PreprocessingConfiguration {
  /// Reads the object `preprocessing` of a `config.json`.
  package init(_ object: ConfigurationObject) throws(DermaFusionError) {
    var object = object
    self.init(
      size: try object.integer("size", in: 32...2048),
      colorConstancy: try Self.colorConstancy(try object.object("color_constancy")),
      mean: try object.numbers("mean", count: 3, .pixelShift),
      standardDeviation: try object.numbers("std", count: 3, .pixelDivisor))
    try object.requireNoOtherKeys()
  }

  private static func colorConstancy(
    _ object: ConfigurationObject
  ) throws(DermaFusionError) -> ColorConstancy {
    var object = object
    let method = try object.choice("method", of: ["shades_of_gray", "none"])
    // Without a method its parameters may be left out; what is there must be right all the same.
    if method == "none", object["p"] == nil, object["rounding"] == nil {
      try object.requireNoOtherKeys()
      return .none
    }
    let shadesOfGray = ColorConstancy.shadesOfGray(
      p: try object.number("p", .minkowskiExponent), rounding: try object.choice("rounding"))
    try object.requireNoOtherKeys()
    return method == "none" ? .none : shadesOfGray
  }
}

extension ModelConfiguration.Fusion {
  private static let sizes = 1...65_536

  init(_ object: ConfigurationObject) throws(DermaFusionError) {
    var object = object
    sexEmbeddingSize = try object.integer("sex_embedding_size", in: Self.sizes)
    siteEmbeddingSize = try object.integer("site_embedding_size", in: Self.sizes)
    metadataSize = try object.integer("metadata_size", in: Self.sizes)
    hiddenSize = try object.integer("hidden_size", in: Self.sizes)
    layerNormEpsilon = try object.number("layer_norm_epsilon", .upToOne)
    try object.requireNoOtherKeys()
  }
}
