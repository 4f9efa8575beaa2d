import Files
import ImagePipeline
import SystemModule
import TensorModule

/// A network that a configuration may name: a function that writes it with a builder.
package struct Architecture: Sendable {
  /// timm's name.
  package let name: String
  /// The poolings that it knows, its own first.
  let poolings: [ModelConfiguration.Pooling]
  /// The side of an image is a multiple of it.
  let sizeStep: Int
  private let write: @Sendable (inout NetworkBuilder) -> Void

  init(
    name: String, poolings: [ModelConfiguration.Pooling] = [.average], sizeStep: Int = 1,
    _ write: @escaping @Sendable (inout NetworkBuilder) -> Void
  ) {
    self.name = name
    self.poolings = poolings
    self.sizeStep = sizeStep
    self.write = write
  }

  /// Every architecture that a configuration may name, a line for each family.
  package static let all: [Architecture] =
    efficientNets + efficientNetsV2 + mobileNetsV3 + mobileNetsV4 + resNets + regNets + denseNets
    + convNeXts + visionTransformers + swins

  package static var names: [String] { all.map { $0.name } }

  /// Reason why a network cannot be computed in a precision; nil where it can.
  static func refusal(of precision: Precision, _ name: String, _ list: OperationList) -> Sentence? {
    if precision == .int8, !(efficientNets + mobileNetsV3).contains(where: { $0.name == name }) {
      return "int8 is for EfficientNet and MobileNetV3, and this network is \(name)"
    }
    if list.supports(precision) { return nil }
    return "\(precision.rawValue) is for networks with 1x1 convolutions, and \(name) has none"
  }

  /// The architecture of a timm name; nil for one that there is not.
  package static func named(_ name: String) -> Architecture? { all.first { $0.name == name } }

  /// Writes the network with a builder.
  package func built(with builder: NetworkBuilder) -> NetworkBuilder {
    var builder = builder
    write(&builder)
    return builder
  }
}

extension NetworkBuilder {
  /// The network that a model's `config.json` names.
  ///
  /// - Throws: `DermaFusionError` where there is no such architecture, it cannot be what the file asks of it, or the last layer
  ///   does not have an output for each class. A layer that is missing turns out when the network is prepared.
  init(_ model: ModelFolder) throws(DermaFusionError) {
    let configuration = model.configuration
    self = try DermaFusionError.naming(model.configurationPath) { () throws(DermaFusionError) in
      try NetworkBuilder(of: configuration)
    }
    if let rule = Architecture.refusal(of: configuration.precision, configuration.architecture, list) {
      throw .unusablePrecision(file: model.configurationPath, rule: rule)
    }
    let last = (configuration.fusion == nil ? classifier : "fusion.classifier") + ".weight"
    let (outputs, count) = (model.weights[last]?.shape.first, configuration.outputCount)
    if let outputs, outputs != count {
      let found: Sentence = outputs == 1 ? "1 output" : "\(outputs) outputs"
      let listed: Sentence = count == 1 ? "1 class" : "\(count) classes"
      throw .invalidModel(
        "\(model.weights.name): the last layer \(quoted(last)) has \(found), and config.json lists \(listed)")
    }
  }

  package init(of configuration: ModelConfiguration) throws(DermaFusionError) {
    guard let architecture = Architecture.named(configuration.architecture) else {
      throw .unknownArchitecture(configuration.architecture, of: Architecture.names)
    }
    let (size, step) = (configuration.preprocessing.size, architecture.sizeStep)
    guard size.isMultiple(of: step) else {
      throw .outOfRange(
        key: configuration.isTimms ? "input_size" : "size", value: "\(size)",
        rule: "a multiple of \(step) for \(architecture.name)")
    }
    let pooling = configuration.pooling ?? architecture.poolings[0]
    guard architecture.poolings.contains(pooling) else {
      throw .unknownValue(
        key: "global_pool", value: pooling.rawValue, allowed: architecture.poolings.map { $0.rawValue })
    }
    self = architecture.built(
      with: NetworkBuilder(
        size: size, padding: configuration.padding, normEpsilon: configuration.batchNormEpsilon,
        pooling: pooling))
    let stageCount = list.stageEnds.count
    let rule: Sentence = "an integer in \(0)...\(stageCount - 1)"
    if let stage = configuration.abstention?.distance.stage, stage >= stageCount {
      throw .outOfRange(key: "abstention.distance.stage", value: "\(stage)", rule: rule)
    }
    let stages = configuration.abstention?.dermoscopy?.stages ?? []
    for (index, stage) in stages.enumerated() where stage >= stageCount {
      throw .outOfRange(key: "abstention.dermoscopy.stages[\(index)]", value: "\(stage)", rule: rule)
    }
  }
}
