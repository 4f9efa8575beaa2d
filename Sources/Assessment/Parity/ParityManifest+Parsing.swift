import ImagePipeline
import ModelFiles

/// A part of the manifest that is an object.
private protocol ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError)
}

extension ParityManifest {
  /// Parses the bytes of a `manifest.json`. Keys that are not read here are left alone.
  ///
  /// - Throws: `ConfigurationError` for the first broken rule.
  init(parsing bytes: [UInt8]) throws(ConfigurationError) {
    var root = try ConfigurationObject(parsing: bytes)
    let version = try root.natural("formatVersion")
    guard version == Self.formatVersion else {
      throw .outOfRange(
        key: "formatVersion", value: "\(version)",
        rule: "\(Self.formatVersion), the version this software reads")
    }
    versions = try root.textsByKey("versions")
    model = try root.hasValue("model") ? root.part("model") : nil
    preprocessing = try PreprocessingConfiguration(try root.object("preprocessing"))
    images = try root.parts("images")
    refused = try root.parts("refused")
    variants = try root.parts("variants")
    metadata = try root.parts("metadata")
    predictions = try root.parts("predictions")
    activations = try root.parts("activations")
    maps = try root.hasValue("maps") ? root.parts("maps") : []
  }
}

extension ParityManifest.Model: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    name = try object.text("name")
    version = try object.text("version")
    sha256 = try object.text("sha256")
  }
}

extension ParityManifest.Stage: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    name = try object.text("name")
    shape = try object.naturals("shape")
    sha256 = try object.text("sha256")
    rowChecksumOffset = try object.natural("rowChecksumOffset")
    array = try object.hasValue("array") ? object.text("array") : nil
  }
}

extension ParityManifest.Samples: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    shape = try object.naturals("shape")
    indices = try object.naturals("indices")
    guard !indices.isEmpty else {
      throw .wrongCount(key: object.fullKey("indices"), expected: "at least one", found: 0)
    }
    values = try object.numbers("values", count: indices.count, .finite)
    var count = 1
    for extent in shape {
      let (product, overflows) = count.multipliedReportingOverflow(by: extent)
      guard !overflows else {
        throw .outOfRange(
          key: object.fullKey("shape"), value: "\(shape)", rule: "that of an array which can be")
      }
      count = product
    }
    if let index = indices.first(where: { $0 >= count }) {
      throw .outOfRange(
        key: object.fullKey("indices"), value: "\(index)", rule: "below \(count), the size of shape \(shape)")
    }
  }
}

extension ParityManifest.Image: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    file = try object.text("file")
    warnings = try object.texts("warnings")
    stages = try object.parts("stages")
    normalized = try object.part("normalized")
  }
}

extension ParityManifest.Refused: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    file = try object.text("file")
    rule = try object.text("rule")
  }
}

extension ParityManifest.Variant: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    file = try object.text("file")
    preprocessing = try PreprocessingConfiguration(try object.object("preprocessing"))
    constancySHA256 = try object.hasValue("constancySHA256") ? object.text("constancySHA256") : nil
    normalized = try object.part("normalized")
  }
}

extension ParityManifest.Patient: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    age = try object.hasValue("age") ? object.number("age", .finite) : nil
    sex = try object.hasValue("sex") ? object.text("sex") : nil
    site = try object.hasValue("site") ? object.text("site") : nil
  }
}

extension ParityManifest.Metadata: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    patient = try ParityManifest.Patient(&object)
    vector = try object.hasValue("vector") ? object.numbers("vector", .finite) : nil
    missing = try object.hasValue("missing") ? object.texts("missing") : nil
  }
}

extension ParityManifest.Prediction: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    file = try object.text("file")
    patient = try ParityManifest.Patient(&object)
    vector = try object.numbers("vector", .finite)
    views = try object.hasValue("views") ? object.natural("views") : 1
    logits = try object.numbers("logits", .finite)
    probabilities = try object.numbers("probabilities", .finite)
    abstention = try object.hasValue("abstention") ? object.part("abstention") : nil
  }
}

extension ParityManifest.Abstention: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    distance = try object.number("distance", .finite)
    reasons = try object.texts("reasons")
    conformalSet = try object.texts("conformalSet")
  }
}

extension ParityManifest.Activations: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    file = try object.text("file")
    blocks = try object.parts("blocks")
  }
}

extension ParityManifest.Activations.Block: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    name = try object.text("name")
    mean = try object.number("mean", .finite)
    maximumMagnitude = try object.number("maximumMagnitude", .finite)
    samples = try ParityManifest.Samples(&object)
  }
}

extension ParityManifest.Maps: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    file = try object.text("file")
    patient = try ParityManifest.Patient(&object)
    layer = try object.text("layer")
    `class` = try object.text("class")
    methods = try object.parts("methods")
  }
}

extension ParityManifest.Maps.Map: ParityManifestPart {
  init(_ object: inout ConfigurationObject) throws(ConfigurationError) {
    method = try object.text("method")
    maximumMagnitude = try object.number("maximumMagnitude", .finite)
    samples = try ParityManifest.Samples(&object)
  }
}

extension ConfigurationObject {
  fileprivate mutating func natural(_ key: String) throws(ConfigurationError) -> Int {
    try integer(key, in: 0...Int.max)
  }

  fileprivate mutating func naturals(_ key: String) throws(ConfigurationError) -> [Int] {
    try integers(key, in: 0...Int.max)
  }

  fileprivate mutating func part<Part: ParityManifestPart>(_ key: String) throws(ConfigurationError) -> Part {
    var object = try object(key)
    return try Part(&object)
  }

  fileprivate mutating func parts<Part: ParityManifestPart>(
    _ key: String
  ) throws(ConfigurationError) -> [Part] {
    var parts: [Part] = []
    for var object in try objects(key) { parts.append(try Part(&object)) }
    return parts
  }
}
