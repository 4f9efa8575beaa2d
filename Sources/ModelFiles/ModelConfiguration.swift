/// What `config.json` says of a model: everything that software needs besides the weights. Parsed strictly: a key that
/// is missing, unknown, of another type or out of range is an error, so no model runs on a guess.
public struct ModelConfiguration: Sendable, Equatable {
  /// How convolutions of stride 2 are padded.
  public enum Padding: String, Sendable, CaseIterable {
    /// TensorFlow's "SAME": as much as the output's size needs, the smaller half before.
    case same
    /// PyTorch's: (kernelSize - 1) / 2 on each side.
    case symmetric
  }

  /// How a value after colour constancy becomes the network's input.
  public enum Rounding: String, Sendable, CaseIterable {
    /// floor(v x gain + 0.5), clipped to 0...255.
    case round
    /// floor(v x gain), clipped to 0...255.
    case truncate
    /// v x gain in Double, clipped to 0...255.
    case none
  }

  /// Colour constancy by Shades of Gray.
  public struct ShadesOfGray: Sendable, Equatable {
    /// The exponent of the Minkowski mean, 1...100.
    public let p: Double
    /// What becomes of the corrected values.
    public let rounding: Rounding
  }

  /// The constants that take an image to the network's input.
  public struct Preprocessing: Sendable, Equatable {
    /// Width and height of the input in pixels, 32...2048.
    public let size: Int
    /// The colour constancy, or nil for none.
    public let colorConstancy: ShadesOfGray?
    /// Subtracted per channel (R, G, B) from values of 0...1.
    public let mean: [Double]
    /// Divided by per channel (R, G, B); above 0.
    public let standardDeviation: [Double]
  }

  /// The sizes of the head that joins the patient's metadata to the image's features.
  public struct Fusion: Sendable, Equatable {
    /// Numbers per sex in the embedding table.
    public let sexEmbeddingSize: Int
    /// Numbers per body site in the embedding table.
    public let siteEmbeddingSize: Int
    /// Width of the metadata's hidden layer.
    public let metadataSize: Int
    /// Width of the hidden layer over image features and metadata.
    public let hiddenSize: Int
    /// Added to the variance in layer norm; above 0.
    public let layerNormEpsilon: Double
  }

  /// The model's name, for people.
  public let name: String
  /// The model's version, for people.
  public let version: String
  /// One of `knownArchitectures`.
  public let architecture: String
  /// How convolutions are padded.
  public let padding: Padding
  /// Added to the variance in batch norm; above 0.
  public let batchNormEpsilon: Double
  /// The names of the network's outputs, in order; unique.
  public let classes: [String]
  /// The logits are divided by this before softmax; above 0.
  public let temperature: Double
  /// The way from an image to the network's input.
  public let preprocessing: Preprocessing
  /// The metadata head, or nil for a model that sees the image alone.
  public let fusion: Fusion?
  /// When the model does not answer, or nil for a model that was not fitted for it.
  public let abstention: Abstention?

  /// The sexes in the order of their indices.
  public static let sexes = ["male", "female", "unknown"]

  /// The body sites in the order of their indices.
  public static let sites = [
    "abdomen", "acral", "back", "chest", "ear", "face", "foot", "genital", "hand", "lower extremity", "neck",
    "scalp", "trunk", "unknown", "upper extremity",
  ]

  /// Every architecture that a configuration may name.
  public static let knownArchitectures: [String] =
    (0...7).map { "efficientnet_b\($0)" } + (0...7).map { "tf_efficientnet_b\($0)" }
    + (0...4).map { "efficientnet_lite\($0)" } + (0...4).map { "tf_efficientnet_lite\($0)" }
}
