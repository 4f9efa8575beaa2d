import ImagePipeline

/// What `config.json` says of a model: everything that software needs besides the weights. Parsed strictly: a key that
/// is missing, unknown, of another type or out of range is an error, so no model runs on a guess.
package struct ModelConfiguration: Sendable, Equatable {
  /// How convolutions of stride 2 are padded.
  package enum Padding: String, Sendable, CaseIterable {
    /// TensorFlow's "SAME": as much as the output's size needs, the smaller half before.
    case same
    /// PyTorch's: (kernelSize - 1) / 2 on each side.
    case symmetric
  }

  /// The numbers that a network multiplies.
  package enum Precision: String, Sendable, CaseIterable {
    /// Weights and maps are floats.
    case float32
    /// The 1x1 convolutions multiply bfloat16 and add up floats; all else is floats. The stored weights may be of any type.
    case bfloat16
    /// The weights of most convolutions are 8-bit integers, and so are the maps that they multiply.
    case int8
  }

  /// The sizes of the head that joins the patient's metadata to the image's features.
  package struct Fusion: Sendable, Equatable {
    /// Numbers per sex in the embedding table.
    package let sexEmbeddingSize: Int
    /// Numbers per body site in the embedding table.
    package let siteEmbeddingSize: Int
    /// Width of the metadata's hidden layer.
    package let metadataSize: Int
    /// Width of the hidden layer over image features and metadata.
    package let hiddenSize: Int
    /// Added to the variance in layer norm; above 0.
    package let layerNormEpsilon: Double
  }

  /// What one output of the network stands for.
  package struct Class: Sendable, Equatable {
    /// The short name that programs and tables use; unique in a model.
    package let id: String
    /// The name in words.
    package let name: String
    /// What a lesion of the class is; nil in every class of a model that does not say.
    package let malignancy: Malignancy?

    package init(id: String, name: String, malignancy: Malignancy?) {
      self.id = id
      self.name = name
      self.malignancy = malignancy
    }
  }

  /// How many classes a model may have.
  package static let classCounts = 2...1000

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

  /// The model's name, for people.
  package let name: String
  /// The model's version, for people.
  package let version: String
  /// timm's name of the network. Which names there are, and what else each asks of a configuration, `NetworkModule` says.
  package let architecture: String
  /// How convolutions are padded.
  package let padding: Padding
  /// What the network multiplies.
  package internal(set) var precision: Precision
  /// Added to the variance in batch norm; above 0.
  package let batchNormEpsilon: Double
  /// The network's outputs, in order.
  package let classes: [Class]
  /// The logits are divided by this before softmax; above 0.
  package let temperature: Double
  /// The way from an image to the network's input.
  package let preprocessing: PreprocessingConfiguration
  /// The metadata head, or nil for a model that sees the image alone.
  package let fusion: Fusion?
  /// When the model does not answer, or nil for a model that was not fitted for it.
  package let abstention: Abstention?
}
