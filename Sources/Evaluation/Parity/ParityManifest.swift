import Files
import ImagePipeline
import SystemModule

/// `manifest.json` of the parity fixtures; what each field means stands in `ParityFixtures/README.md`.
struct ParityManifest: Sendable {
  static let formatVersion = 1

  /// A part of the manifest that is an object.
  protocol Part: Sendable {
    init(_ object: inout ConfigurationObject) throws(DermaFusionError)
  }

  struct Model: Part {
    let name: String
    let version: String
    let sha256: String

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      name = try object.text("name")
      version = try object.text("version")
      sha256 = try object.text("sha256")
    }
  }

  struct Stage: Part {
    let name: String
    let shape: [Int]
    let sha256: String
    let rowChecksumOffset: Int
    let array: String?

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      name = try object.text("name")
      shape = try object.naturals("shape")
      sha256 = try object.text("sha256")
      rowChecksumOffset = try object.natural("rowChecksumOffset")
      array = try object.hasValue("array") ? object.text("array") : nil
    }
  }

  /// Some values of an array, by flat index in row-major order: as many as indices, which lie in the shape.
  struct Samples: Part {
    let shape: [Int]
    let indices: [Int]
    let values: [Double]
  }

  struct Image: Part {
    let file: String
    let warnings: [String]
    let stages: [Stage]
    let normalized: Samples

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      file = try object.text("file")
      warnings = try object.texts("warnings")
      stages = try object.parts("stages")
      normalized = try object.part("normalized")
    }
  }

  struct Refused: Part {
    let file: String
    let rule: String

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      file = try object.text("file")
      rule = try object.text("rule")
    }
  }

  struct Variant: Part {
    let file: String
    let preprocessing: PreprocessingConfiguration
    let constancySHA256: String?
    let normalized: Samples

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      file = try object.text("file")
      preprocessing = try PreprocessingConfiguration(try object.object("preprocessing"))
      constancySHA256 = try object.hasValue("constancySHA256") ? object.text("constancySHA256") : nil
      normalized = try object.part("normalized")
    }
  }

  /// The words on a patient, allowed or not.
  struct Patient: Part {
    let age: Double?
    let sex: String?
    let site: String?

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      age = try object.hasValue("age") ? object.number("age", .finite) : nil
      sex = try object.hasValue("sex") ? object.text("sex") : nil
      site = try object.hasValue("site") ? object.text("site") : nil
    }
  }

  struct Metadata: Part {
    let patient: Patient
    let vector: [Double]?
    let missing: [String]?

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      patient = try ParityManifest.Patient(&object)
      vector = try object.hasValue("vector") ? object.numbers("vector", .finite) : nil
      missing = try object.hasValue("missing") ? object.texts("missing") : nil
    }
  }

  struct Prediction: Part {
    let file: String
    let patient: Patient
    let vector: [Double]
    /// The number of views that were averaged.
    let views: Int
    let logits: [Double]
    let probabilities: [Double]
    /// `nil` for several views, and for a model that was not fitted to abstain.
    let abstention: Abstention?

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      file = try object.text("file")
      patient = try ParityManifest.Patient(&object)
      vector = try object.numbers("vector", .finite)
      views = try object.hasValue("views") ? object.natural("views") : 1
      logits = try object.numbers("logits", .finite)
      probabilities = try object.numbers("probabilities", .finite)
      abstention = try object.hasValue("abstention") ? object.part("abstention") : nil
    }
  }

  struct Abstention: Part {
    let distance: Double
    /// Nil for a model that was not fitted for it.
    let dermoscopy: Double?
    let reasons: [String]
    let conformalSet: [String]

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      distance = try object.number("distance", .finite)
      dermoscopy = object.hasValue("dermoscopy") ? try object.number("dermoscopy", .finite) : nil
      reasons = try object.texts("reasons")
      conformalSet = try object.texts("conformalSet")
    }
  }

  /// The part of a large array that was dumped.
  struct Summary: Part {
    let name: String
    /// `nil` of an activation map.
    let mean: Double?
    let maximumMagnitude: Double
    let samples: Samples

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      let isMap = object.hasValue("method")
      name = try object.text(isMap ? "method" : "name")
      mean = try isMap ? nil : object.number("mean", .finite)
      maximumMagnitude = try object.number("maximumMagnitude", .finite)
      samples = try ParityManifest.Samples(&object)
    }
  }

  struct Activations: Part {
    let file: String
    let blocks: [Summary]

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      file = try object.text("file")
      blocks = try object.parts("blocks")
    }
  }

  /// Signed activation maps of one image and class at one layer.
  struct Maps: Part {
    let file: String
    let patient: Patient
    let layer: String
    let `class`: String
    /// By the names of their methods.
    let methods: [Summary]

    init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
      file = try object.text("file")
      patient = try ParityManifest.Patient(&object)
      layer = try object.text("layer")
      `class` = try object.text("class")
      methods = try object.parts("methods")
    }
  }

  let versions: [String: String]
  let model: Model?
  let preprocessing: PreprocessingConfiguration
  let images: [Image]
  let refused: [Refused]
  let variants: [Variant]
  let metadata: [Metadata]
  let predictions: [Prediction]
  let activations: [Activations]
  /// Empty in fixtures that were dumped without.
  let maps: [Maps]

  /// Parses the bytes of a `manifest.json`. Keys that are not read here are left alone.
  ///
  /// - Throws: `DermaFusionError` for the first broken rule.
  init(parsing bytes: [UInt8]) throws(DermaFusionError) {
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

extension ParityManifest.Samples {
  init(_ object: inout ConfigurationObject) throws(DermaFusionError) {
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
        key: object.fullKey("indices"), value: "\(index)",
        rule: "below \(count), the size of shape \(shape)")
    }
  }
}

extension ConfigurationObject {
  fileprivate mutating func natural(_ key: String) throws(DermaFusionError) -> Int {
    try integer(key, in: 0...Int.max)
  }

  fileprivate mutating func naturals(_ key: String) throws(DermaFusionError) -> [Int] {
    try integers(key, in: 0...Int.max)
  }

  fileprivate mutating func part<Part: ParityManifest.Part>(_ key: String) throws(DermaFusionError) -> Part {
    var object = try object(key)
    return try Part(&object)
  }

  fileprivate mutating func parts<Part: ParityManifest.Part>(
    _ key: String
  ) throws(DermaFusionError) -> [Part] {
    var parts: [Part] = []
    for var object in try objects(key) { parts.append(try Part(&object)) }
    return parts
  }
}
