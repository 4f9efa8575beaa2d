import Files
import KernelInterface
import SystemModule
import TensorModule

/// A network as a list of blocks and what follows their pooled output.
package struct Architecture: Sendable, Equatable {
  /// A block that is yet to be prepared.
  package struct Place: Sendable, Equatable {
    /// timm's name of the block.
    package let name: String
    /// The stage that it belongs to, from 0; nil before the first and after the last.
    package var stage: Int?
    package let configuration: BlockConfiguration
  }

  /// A dense layer between the pooling and the classifier, which timm keeps as a 1x1 convolution with a bias.
  package struct Hidden: Sendable, Equatable {
    package let name: String
    package let channels: Int
    package let activation: Activation
  }

  package let blocks: [Place]
  package var hidden: Hidden?
  /// timm's name of the last layer, where there is no fusion head in its place.
  package var classifier = "classifier"

  /// Whether all of its blocks can be computed in a precision.
  package func supports(_ precision: Precision) -> Bool {
    blocks.allSatisfy { $0.configuration.supportedPrecisions.contains(precision) }
  }

  /// An architecture of the table, by timm's name.
  typealias Entry = (name: String, make: @Sendable () -> Architecture)

  /// Every architecture that a configuration may name.
  private static let table: [Entry] = efficientNets + mobileNetsV3 + resNets

  package static var names: [String] { table.map { $0.name } }

  /// The architecture of a timm name; nil for one that is not in the table.
  package static func named(_ name: String) -> Architecture? { table.first { $0.name == name }?.make() }

  /// The indices of the blocks that the stages end with.
  package var stageEnds: [Int] {
    blocks.indices.filter {
      blocks[$0].stage != nil && ($0 + 1 == blocks.count || blocks[$0 + 1].stage != blocks[$0].stage)
    }
  }
}

extension Architecture {
  /// The architecture that a model's `config.json` names.
  ///
  /// - Throws: `DermaFusionError` where there is no such architecture, it cannot be what the file asks of it, or the last layer
  ///   does not have an output for each class. A layer that is missing turns out when the network is built.
  init(of model: ModelFolder) throws(DermaFusionError) {
    let configuration = model.configuration
    self = try DermaFusionError.naming(model.configurationPath) { () throws(DermaFusionError) in
      try Architecture(configuration)
    }
    guard supports(configuration.precision) else {
      throw .unusablePrecision(
        file: model.configurationPath,
        rule: "\(configuration.precision.rawValue) is for EfficientNet and MobileNetV3, and this network is "
          + configuration.architecture)
    }
    let last = (configuration.fusion == nil ? classifier : "fusion.classifier") + ".weight"
    if let outputs = model.weights[last]?.shape.first, outputs != configuration.classes.count {
      throw .invalidModel(
        "\(model.weights.name): the last layer \(quoted(last)) has \(outputs) outputs, and config.json lists \(configuration.classes.count) classes"
      )
    }
  }

  package init(_ configuration: ModelConfiguration) throws(DermaFusionError) {
    guard let architecture = Self.named(configuration.architecture) else {
      throw .unknownArchitecture(configuration.architecture, of: Self.names)
    }
    let stageCount = architecture.stageEnds.count
    if let stage = configuration.abstention?.distance.stage, stage >= stageCount {
      throw .outOfRange(
        key: "abstention.distance.stage", value: "\(stage)", rule: "an integer in 0...\(stageCount - 1)")
    }
    self = architecture
  }
}

/// One of the kinds of blocks: Embedded Swift has no existentials of values.
package enum BlockConfiguration: Sendable, Equatable {
  case stem(StemBlock.Configuration)
  case mbConv(MBConvBlock.Configuration)
  case pointwise(PointwiseBlock.Configuration)
  case maxPooling(MaxPoolingBlock.Configuration)
  case residual(ResidualBlock.Configuration)

  var supportedPrecisions: [Precision] {
    switch self {
    case .stem: StemBlock.Configuration.supportedPrecisions
    case .mbConv: MBConvBlock.Configuration.supportedPrecisions
    case .pointwise: PointwiseBlock.Configuration.supportedPrecisions
    case .maxPooling: MaxPoolingBlock.Configuration.supportedPrecisions
    case .residual: ResidualBlock.Configuration.supportedPrecisions
    }
  }

  func outputShape(_ input: FeatureShape, weights: NetworkWeights) -> FeatureShape {
    switch self {
    case .stem(let kind): kind.outputShape(input, weights: weights)
    case .mbConv(let kind): kind.outputShape(input, weights: weights)
    case .pointwise(let kind): kind.outputShape(input, weights: weights)
    case .maxPooling(let kind): kind.outputShape(input, weights: weights)
    case .residual(let kind): kind.outputShape(input, weights: weights)
    }
  }

  func block(
    name: String, input: FeatureShape, weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any Block {
    switch self {
    case .stem(let kind): try kind.block(name: name, input: input, weights: weights, pool: pool)
    case .mbConv(let kind): try kind.block(name: name, input: input, weights: weights, pool: pool)
    case .pointwise(let kind): try kind.block(name: name, input: input, weights: weights, pool: pool)
    case .maxPooling(let kind): try kind.block(name: name, input: input, weights: weights, pool: pool)
    case .residual(let kind): try kind.block(name: name, input: input, weights: weights, pool: pool)
    }
  }
}
