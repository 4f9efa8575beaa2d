/// `manifest.json` of the parity fixtures; what each field means stands in `ParityFixtures/README.md`.
struct ParityManifest: Decodable, Sendable {
  static let formatVersion = 1

  struct Model: Decodable, Sendable {
    let name: String
    let version: String
    let sha256: String
  }

  struct Preprocessing: Decodable, Sendable {
    struct ColorConstancy: Decodable, Sendable {
      let method: String
      let p: Double?
      let rounding: String?
    }

    let size: Int
    let color_constancy: ColorConstancy
    let mean: [Double]
    let std: [Double]
  }

  struct Stage: Decodable, Sendable {
    let name: String
    let shape: [Int]
    let sha256: String
    let rowChecksumOffset: Int
    let array: String?
  }

  /// Some values of an array, by flat index in row-major order.
  struct Samples: Decodable, Sendable {
    let shape: [Int]
    let indices: [Int]
    let values: [Double]
  }

  struct Image: Decodable, Sendable {
    let file: String
    let warnings: [String]
    let stages: [Stage]
    let normalized: Samples
  }

  struct Refused: Decodable, Sendable {
    let file: String
    let rule: String
  }

  struct Variant: Decodable, Sendable {
    let file: String
    let preprocessing: Preprocessing
    let constancySHA256: String?
    let normalized: Samples
  }

  struct Metadata: Decodable, Sendable {
    let age: Double?
    let sex: String?
    let site: String?
    let vector: [Double]?
    let missing: [String]?
    let error: String?
  }

  struct Prediction: Decodable, Sendable {
    let file: String
    let age: Double?
    let sex: String?
    let site: String?
    let vector: [Double]
    /// How many views were averaged; nil for one.
    let views: Int?
    let logits: [Double]
    let probabilities: [Double]
  }

  struct Activations: Decodable, Sendable {
    struct Block: Decodable, Sendable {
      let name: String
      let shape: [Int]
      let mean: Double
      let maximumMagnitude: Double
      let indices: [Int]
      let values: [Double]

      var samples: Samples { Samples(shape: shape, indices: indices, values: values) }
    }

    let file: String
    let layout: String
    let blocks: [Block]
  }

  /// Signed activation maps of one image and class at one layer.
  struct Maps: Decodable, Sendable {
    struct Map: Decodable, Sendable {
      let method: String
      let shape: [Int]
      let maximumMagnitude: Double
      let indices: [Int]
      let values: [Double]

      var samples: Samples { Samples(shape: shape, indices: indices, values: values) }
    }

    let file: String
    let age: Double?
    let sex: String?
    let site: String?
    let layer: String
    let `class`: String
    let methods: [Map]
  }

  let formatVersion: Int
  let versions: [String: String]
  let model: Model?
  let preprocessing: Preprocessing
  let images: [Image]
  let refused: [Refused]
  let variants: [Variant]
  let metadata: [Metadata]
  let predictions: [Prediction]
  let activations: [Activations]
  /// Nil in fixtures that were dumped without.
  let maps: [Maps]?
}
