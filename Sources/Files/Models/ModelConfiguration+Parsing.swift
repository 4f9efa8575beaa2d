import ImagePipeline
import SystemModule

extension ModelConfiguration {
  package init(parsing bytes: [UInt8]) throws(DermaFusionError) {
    try self.init(ConfigurationObject(parsing: bytes))
  }

  init(_ object: ConfigurationObject) throws(DermaFusionError) {
    self = try object.isTimms ? Self(timm: object) : Self(own: object)
  }

  /// Reads this package's own form.
  private init(own object: ConfigurationObject) throws(DermaFusionError) {
    var root = object
    if root["members"] != nil {
      throw .invalidModel(
        "the key \"members\" makes this an ensemble, and a single model is required here, such as one of its members"
      )
    }
    try root.requireFormatVersion()
    name = try root.text("name")
    version = try root.text("version")
    architecture = try root.text("architecture")
    padding = try root.choice("padding")
    pooling = try root["global_pool"] == nil ? nil : root.choice("global_pool")
    precision = root["precision"] == nil ? .float32 : try root.choice("precision")
    batchNormEpsilon = try root.number("batch_norm_epsilon", .upToOne)
    classes = try Self.classes(&root)
    if root["task"] != nil {
      _ = try root.choice("task", of: ["multilabel"])
      outputs = .multiLabel
    }
    temperature = try root.number("temperature", .temperature)
    preprocessing = try PreprocessingConfiguration(try root.object("preprocessing"))

    var metadata = try root.object("metadata")
    let (sexes, sites) = (try metadata.texts("sexes"), try metadata.texts("sites"))
    (self.sexes, self.sites) = (sexes, sites)
    try metadata.requireNoOtherKeys()

    fusion = try root.objectOrNull("fusion").map { (object) throws(DermaFusionError) in
      try Fusion(object, sexCount: sexes.count, siteCount: sites.count)
    }
    // Configurations written before there was abstention do without the key.
    if root["abstention"] == nil {
      abstention = nil
    } else {
      if outputs == .multiLabel {
        throw .invalidModel(
          "\"abstention\" holds sets of classes of which one is right, and \"task\" says that several may be")
      }
      abstention = try Abstention(try root.object("abstention"), classes: classes.map { $0.id })
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
      size: try object.integer("size", in: Self.sizes),
      colorConstancy: try Self.colorConstancy(try object.object("color_constancy")),
      mean: try object.numbers("mean", count: 3, .pixelShift),
      standardDeviation: try object.numbers("std", count: 3, .pixelDivisor),
      framing: try Self.framing(&object),
      interpolation: try object["interpolation"] == nil ? .bilinear : object.choice("interpolation"))
    try object.requireNoOtherKeys()
  }

  /// The sides that a network's input may have.
  static let sizes = 32...2048

  /// The centre square unless the object says how timm's evaluation crops.
  private static func framing(_ object: inout ConfigurationObject) throws(DermaFusionError) -> Framing {
    if object["crop_mode"] == nil, object["crop_pct"] == nil { return .square }
    return .timm(try object.choice("crop_mode"), share: try object.number("crop_pct", .cropShare))
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

  init(_ object: ConfigurationObject, sexCount: Int, siteCount: Int) throws(DermaFusionError) {
    var object = object
    (self.sexCount, self.siteCount) = (sexCount, siteCount)
    sexEmbeddingSize = try object.integer("sex_embedding_size", in: Self.sizes)
    siteEmbeddingSize = try object.integer("site_embedding_size", in: Self.sizes)
    metadataSize = try object.integer("metadata_size", in: Self.sizes)
    hiddenSize = try object.integer("hidden_size", in: Self.sizes)
    layerNormEpsilon = try object.number("layer_norm_epsilon", .upToOne)
    try object.requireNoOtherKeys()
  }
}

extension ModelConfiguration {
  /// Reads the key `classes`: a list of ids, or a list of objects with `class`, `name` and `malignancy`. Only `class` must
  /// be there; a class without a name is called by its id, and `malignancy` is told for all classes or for none. Without the
  /// key the classes are HAM10000's.
  package static func classes(_ root: inout ConfigurationObject) throws(DermaFusionError) -> [Class] {
    if root["classes"] == nil { return ham10000Classes }
    let classes =
      try root.holdsTexts("classes")
      ? named(root.texts("classes")) : described(root.objects("classes"))
    return try checked(classes, key: "classes")
  }

  /// Checks how many classes there are, and that they differ.
  static func checked(_ classes: [Class], key: String) throws(DermaFusionError) -> [Class] {
    guard classes.count != 1 else {
      throw .invalidModel(
        "\(quoted(key)) lists one class, and a model chooses among two or more; of a network with one output, dermafusion_training export makes two classes"
      )
    }
    guard classCounts.contains(classes.count) else {
      throw .wrongCount(
        key: key, expected: "\(classCounts.lowerBound) to \(classCounts.upperBound) classes",
        found: classes.count)
    }
    var seen: Set<String> = []
    for item in classes where !seen.insert(item.id).inserted {
      throw .invalidModel("\(quoted(key)) has \(quoted(item.id)) twice")
    }
    return classes
  }

  /// HAM10000's seven where the ids are theirs; others are known by their ids alone.
  static func named(_ ids: [String]) -> [Class] {
    let known = Dictionary(uniqueKeysWithValues: ham10000Classes.map { ($0.id, $0) })
    if ids.count == known.count, Set(ids).count == known.count {
      let found = ids.compactMap { known[$0] }
      if found.count == known.count { return found }
    }
    return ids.map { Class(id: $0, name: $0, malignancy: nil) }
  }

  private static func described(_ objects: [ConfigurationObject]) throws(DermaFusionError) -> [Class] {
    var classes: [Class] = []
    for var object in objects {
      let id = try object.text("class")
      let name = try object["name"] == nil ? id : object.text("name")
      let malignancy: Malignancy? = try object["malignancy"] == nil ? nil : object.choice("malignancy")
      try object.requireNoOtherKeys()
      if let first = classes.first, (first.malignancy == nil) != (malignancy == nil) {
        let (present, missing) = malignancy == nil ? (first.id, id) : (id, first.id)
        throw .invalidModel(
          "\"classes\" tells the malignancy of \(quoted(present)) and not that of \(quoted(missing)); it must tell all "
            + "or none")
      }
      classes.append(Class(id: id, name: name, malignancy: malignancy))
    }
    return classes
  }
}
