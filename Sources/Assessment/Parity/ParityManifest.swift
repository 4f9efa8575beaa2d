import ImagePipeline
import ModelFiles

/// `manifest.json` of the parity fixtures; what each field means stands in `ParityFixtures/README.md`.
struct ParityManifest: Sendable {
  static let formatVersion = 1

  struct Model: Sendable {
    let name: String
    let version: String
    let sha256: String
  }

  struct Stage: Sendable {
    let name: String
    let shape: [Int]
    let sha256: String
    let rowChecksumOffset: Int
    let array: String?
  }

  /// Some values of an array, by flat index in row-major order: as many as indices, which lie in the shape.
  struct Samples: Sendable {
    let shape: [Int]
    let indices: [Int]
    let values: [Double]
  }

  struct Image: Sendable {
    let file: String
    let warnings: [String]
    let stages: [Stage]
    let normalized: Samples
  }

  struct Refused: Sendable {
    let file: String
    let rule: String
  }

  struct Variant: Sendable {
    let file: String
    let preprocessing: PreprocessingConfiguration
    let constancySHA256: String?
    let normalized: Samples
  }

  /// What was said of a patient, allowed or not.
  struct Patient: Sendable {
    let age: Double?
    let sex: String?
    let site: String?
  }

  struct Metadata: Sendable {
    let patient: Patient
    let vector: [Double]?
    let missing: [String]?
  }

  struct Prediction: Sendable {
    let file: String
    let patient: Patient
    let vector: [Double]
    /// How many views were averaged.
    let views: Int
    let logits: [Double]
    let probabilities: [Double]
    /// `nil` for several views, and for a model that was not fitted to abstain.
    let abstention: Abstention?
  }

  struct Abstention: Sendable {
    let distance: Double
    let reasons: [String]
    let conformalSet: [String]
  }

  struct Activations: Sendable {
    struct Block: Sendable {
      let name: String
      let mean: Double
      let maximumMagnitude: Double
      let samples: Samples
    }

    let file: String
    let blocks: [Block]
  }

  /// Signed activation maps of one image and class at one layer.
  struct Maps: Sendable {
    struct Map: Sendable {
      let method: String
      let maximumMagnitude: Double
      let samples: Samples
    }

    let file: String
    let patient: Patient
    let layer: String
    let `class`: String
    let methods: [Map]
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
}
