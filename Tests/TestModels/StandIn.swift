import DermaFusion
import Files
import ImagePipeline
import KernelInterface
import NetworkModule
import SystemModule
import TensorModule

/// A model whose network is one operation, a function of the image, with the head that its configuration says.
package enum StandIn {
  /// - Parameters:
  ///   - configuration: A `config.json`.
  ///   - logits: One for each class of the configuration, of the pixels that the network is shown.
  ///   - metadata: With a fusion head, what is added to some logits: the factors of the four values of
  ///     `MetadataVector.values`. They are then what they should be but for rounding, some 1e-6 of them.
  package static func model(
    _ configuration: String, threadCount: Int = 1, sha256: String = "abc", metadata: [Int: [Float]] = [:],
    logits: @escaping @Sendable (_ image: PixelImage) -> [Float]
  ) throws -> Model {
    let configuration = try ModelConfiguration(parsing: Array(configuration.utf8))
    let (preprocessing, classCount) = (configuration.preprocessing, configuration.classes.count)
    var net = NetworkBuilder(size: preprocessing.size)
    let function = ImageFunction(size: preprocessing.size, outputs: classCount) { values in
      let bytes = values.indices.map { index in
        let (mean, deviation) = (preprocessing.mean[index % 3], preprocessing.standardDeviation[index % 3])
        return UInt8(((Double(values[index]) * deviation + mean) * 255).rounded())
      }
      return logits(PixelImage(width: preprocessing.size, height: preprocessing.size, pixels: bytes))
    }
    let x = net.append(function, [net.image])
    net.pool(net.mark("function", x))
    let head = configuration.fusion.map { fusion(metadata, classCount: classCount, $0) }
    let weights = safetensors(head ?? dense("classifier", pooled(classCount), bias: zeros(classCount)))
    let network = try Network(
      net,
      NetworkWeights(
        file: SafetensorsFile(bytes: weights), precision: .float32, kernels: KernelChoice.available[0]),
      fusion: configuration.fusion, outputCount: classCount, pool: ThreadPool(threadCount: threadCount)
    ) { _ in }
    return Model(configuration: configuration, network: network, sha256: { sha256 })
  }

  private typealias Tensors = [(name: String, shape: [Int], values: [Float])]

  private static func zeros(_ count: Int) -> [Float] { [Float](repeating: 0, count: count) }
  /// From the means of ``ImageFunction`` to its values.
  private static func pooled(_ count: Int) -> [[Float]] {
    (0..<count).map { row in (0..<count).map { $0 == row ? Float(ImageFunction.pixelCount) : 0 } }
  }

  private static func dense(_ name: String, _ rows: [[Float]], bias: [Float]) -> Tensors {
    [
      ("\(name).weight", [rows.count, rows[0].count], rows.flatMap { $0 }),
      ("\(name).bias", [rows.count], bias),
    ]
  }

  /// A fusion head that only adds. Each value goes through it with its negative, because `SiLU(x) - SiLU(-x) = x`; and beside
  /// two of `limit`, which layer norm then divides by.
  private static func fusion(
    _ metadata: [Int: [Float]], classCount: Int, _ fusion: ModelConfiguration.Fusion
  ) -> Tensors {
    let limit: Float = 65_536
    func rows(_ rows: [[Float]], of count: Int) -> (rows: [[Float]], bias: [Float], scale: [Float]) {
      precondition(2 * rows.count + 2 <= count, "\(rows.count) values in \(count) hidden ones")
      let pairs = rows.flatMap { row in [row, row.map { -$0 }] }
      let rest = count - pairs.count
      let scale = (2 * limit * limit / Float(count)).squareRoot()
      return (
        pairs + [[Float]](repeating: zeros(rows[0].count), count: rest),
        zeros(pairs.count) + [limit, -limit] + zeros(rest - 2),
        [Float](repeating: scale, count: pairs.count) + zeros(rest)
      )
    }
    let (sexes, sites) = (Sex.allCases.count, BodySite.allCases.count)
    let (sexSize, siteSize) = (fusion.sexEmbeddingSize, fusion.siteEmbeddingSize)
    func embedding(_ count: Int, _ size: Int) -> [Float] {
      (0..<count).flatMap { [Float($0)] + zeros(size - 1) }
    }
    let encoded = 2 + sexSize + siteSize
    let first = rows(
      [0, 1, 2, 2 + sexSize].map { place in (0..<encoded).map { $0 == place ? 1 : 0 } },
      of: fusion.metadataSize)
    let second = rows(
      (0..<classCount).map { label in
        let factors = metadata[label] ?? zeros(4)
        let pairs = factors.flatMap { [$0, -$0] }
        return pooled(classCount)[label] + pairs + zeros(fusion.metadataSize - pairs.count)
      }, of: fusion.hiddenSize)
    let last = (0..<classCount).map { label in
      (0..<fusion.hiddenSize).map { $0 / 2 == label ? ($0 % 2 == 0 ? 1 : -1) : Float(0) }
    }
    let tensors: [Tensors] = [
      [("sex_embedding.weight", [sexes, sexSize], embedding(sexes, sexSize))],
      [("site_embedding.weight", [sites, siteSize], embedding(sites, siteSize))],
      dense("metadata_dense", first.rows, bias: first.bias),
      [
        ("metadata_norm.weight", [first.scale.count], first.scale),
        ("metadata_norm.bias", [first.scale.count], zeros(first.scale.count)),
      ],
      dense("hidden", second.rows, bias: second.bias),
      [
        ("hidden_norm.weight", [second.scale.count], second.scale),
        ("hidden_norm.bias", [second.scale.count], zeros(second.scale.count)),
      ],
      dense("classifier", last, bias: zeros(classCount)),
    ]
    return tensors.joined().map { ("fusion.\($0.name)", $0.shape, $0.values) }
  }

  /// The `config.json` of a model that works from the image alone, unless it has a fusion head.
  ///
  /// - Parameters:
  ///   - classes: the value of `classes`.
  ///   - constancy: the value of `color_constancy`.
  ///   - abstention: the value of `abstention`, if there is one.
  package static func configuration(
    name: String = "toy", version: String = "1", classes: String = ham10000, temperature: Double = 1,
    size: Int = 40,
    constancy: String = #"{"method": "none"}"#, hasFusion: Bool = false, abstention: String? = nil
  ) -> String {
    let sites = BodySite.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
    let head = """
      {"sex_embedding_size":4,"site_embedding_size":8,"metadata_size":32,"hidden_size":256,"layer_norm_epsilon":1e-5}
      """
    return """
      {"format_version": 1, "name": "\(name)", "version": "\(version)", "architecture": "efficientnet_lite2",
       "padding": "same", "batch_norm_epsilon": 0.001, "classes": \(classes), "temperature": \(temperature),
       "preprocessing": {"size": \(size), "color_constancy": \(constancy),
         "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
       "metadata": {"sexes": ["male", "female", "unknown"], "sites": [\(sites)]},
       "fusion": \(hasFusion ? head : "null")\(abstention.map { ", \"abstention\": \($0)" } ?? "")}
      """
  }

  package static let ham10000 = #"["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"]"#
  package static let shadesOfGray = #"{"method": "shades_of_gray", "p": 6, "rounding": "round"}"#
}

/// An operation that a test brings: from the normalised image, dense, to a map that adds up to the function's values, to the
/// bit. They are all in two pixels.
private final class ImageFunction: Operation, PreparedOperation {
  let output: Layout
  let window: Window?
  private let function: @Sendable ([Float]) -> [Float]
  private static let side = 4
  static let pixelCount = side * side

  init(size: Int, outputs: Int, _ function: @escaping @Sendable ([Float]) -> [Float]) {
    precondition(size.isMultiple(of: Self.side), "an image of \(size) pixels for a map of \(Self.side)")
    let step = size / Self.side
    window = Window(kernelSize: step, stride: step, padding: .symmetric(0))
    let shape = FeatureShape(height: Self.side, width: Self.side, channels: outputs)
    output = Layout(shape, kernels: KernelChoice.available[0])
    self.function = function
  }

  var title: String { "a test's function" }
  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape { output.shape }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation { self }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    let (values, map) = (function(inputs[0].map.dense()), output.map)
    precondition(values.count == map.shape.channels, "\(values.count) values of a test's function")
    map.pointer.update(repeating: 0, count: map.shape.pixelCount * map.pixelStride)
    for pixel in [5, 10] {
      for (channel, value) in values.enumerated() {
        map.pointer[pixel * map.pixelStride + channel] = value / 2
      }
    }
  }
}
