import Files
import KernelInterface
import ReferenceLayers
import SystemModule
import TensorModule
import TestModels

@testable import NetworkModule

/// A network of random weights, computed by plain loops in Double, operation by operation as the builder wrote it.
struct ReferenceNetwork {
  let builder: NetworkBuilder
  /// With the names and shapes that the operations ask for.
  private(set) var tensors: [String: (shape: [Int], values: [Float])] = [:]
  static let classCount = 2

  init(_ builder: NetworkBuilder, using generator: inout SeededGenerator) {
    self.builder = builder
    let list = builder.list
    func add(_ name: String, _ shape: [Int], _ generator: inout SeededGenerator) {
      let fan = Float(shape.dropFirst().reduce(1, *))
      let count = shape.reduce(1, *)
      let values =
        name.hasSuffix("running_var")
        ? generator.floats(count, in: 0.5...2)
        // Mostly above 0, so that few activations are flat.
        : shape.count == 1
          ? generator.floats(count, in: -0.3...1) : generator.floats(count, scale: 2 / fan.squareRoot())
      tensors[name] = (shape, values)
    }
    for (_, node) in list.operations {
      let inputs = list.shapes(node)[0].channels
      let name = node.operation.name
      if let layer = (node.operation as? Convolution)?.form {
        let (channels, size) = (layer.product.channels, layer.window.kernelSize)
        add(
          "\(name).weight",
          [channels, inputs / layer.groups] + (layer.product.isDense ? [] : [size, size]), &generator)
        if layer.product.hasBias { add("\(name).bias", [channels], &generator) }
      } else if let layer = (node.operation as? Depthwise)?.form {
        add("\(name).weight", [inputs, 1, layer.window.kernelSize, layer.window.kernelSize], &generator)
        if layer.product.hasBias { add("\(name).bias", [inputs], &generator) }
      } else if let norm = node.operation as? BatchNorm, norm.norm.epsilon == nil {
        add(name, [inputs], &generator)
      } else if let attention = node.operation as? SelfAttention, let windows = attention.windows {
        let count = 2 * windows.size - 1
        add(windows.bias, [count * count, attention.headCount], &generator)
      } else if let tokens = (node.operation as? AddTokens)?.form {
        for first in tokens.first { add(first.name, [1, first.count, inputs], &generator) }
        let count = list.shapes(node)[0].pixelCount + (tokens.embedsFirst ? tokens.firstCount : 0)
        if let positions = tokens.positions { add(positions, [1, count, inputs], &generator) }
      } else if node.operation is LayerNorm || node.operation is ResponseNorm {
        for key in ["weight", "bias"] { add("\(name).\(key)", [inputs], &generator) }
      } else if node.operation is BatchNorm {
        for key in ["weight", "bias", "running_mean", "running_var"] {
          add("\(name).\(key)", [inputs], &generator)
        }
      } else if let gate = (node.operation as? Gate)?.form {
        let keys = gate.layers.names
        for (key, shape) in [(keys.reduce, [gate.hidden, inputs]), (keys.expand, [inputs, gate.hidden])] {
          add("\(name).\(key).weight", shape + [1, 1], &generator)
          add("\(name).\(key).bias", [shape[0]], &generator)
        }
      }
    }
    let pooled = list.shape(list.pooled!).channels
    add("classifier.weight", [Self.classCount, pooled], &generator)
    add("classifier.bias", [Self.classCount], &generator)
  }

  /// The engine's form of it.
  func network(
    precision: Precision = .float32, threadCount: Int = 2, kernels: KernelSet = KernelChoice.current,
    sharesMemory: Bool = true, leastKept: Int? = 32,
    rewrite: (inout OperationList) -> Void = { $0.fuse(for: .float32, inputLimit: 3) }
  ) throws -> Network {
    let list = tensors.sorted { $0.key < $1.key }.map {
      (name: $0.key, shape: $0.value.shape, values: $0.value.values)
    }
    return try Network(
      builder,
      NetworkWeights(file: SafetensorsFile(bytes: safetensors(list)), precision: precision, kernels: kernels),
      fusion: nil, outputCount: Self.classCount, pool: ThreadPool(threadCount: threadCount),
      sharesMemory: sharesMemory, leastKept: leastKept, rewrite: rewrite)
  }

  private func values(_ name: String) -> [Float] { tensors[name]!.values }

  /// All values, from the image on.
  func run(_ image: ReferenceMap) -> [Value: ReferenceMap] {
    var maps = [builder.image: image]
    continueRun(&maps, after: builder.image)
    return maps
  }

  /// The logits, of the values that lie before a value's operation and that value.
  func logits(_ maps: [Value: ReferenceMap], with map: ReferenceMap, at value: Value) -> [Double] {
    var maps = maps
    maps[value] = map
    continueRun(&maps, after: value)
    return maps[builder.list.pooled!]!.pointwise(
      weight: values("classifier.weight"), bias: values("classifier.bias")
    ).values
  }

  /// The distance of an argument from a kink of its activation, or of the two greatest values under the
  /// window of a max pooling to each other, relative to the root mean square of the values. Rounding may move an argument that is nearer to the other
  /// side.
  func leastDistanceToKink(_ maps: [Value: ReferenceMap]) -> Double {
    var least = Double.infinity
    func look(_ x: ReferenceMap, _ activation: Activation) {
      let kinks: [Double] =
        switch activation {
        case .relu: [0]
        case .relu6: [0, 6]
        case .hardSwish, .hardSigmoid: [-3, 3]
        case .identity, .silu, .sigmoid, .gelu: []
        }
      let size = (x.values.reduce(0) { $0 + $1 * $1 } / Double(x.values.count)).squareRoot()
      for kink in kinks { for value in x.values { least = min(least, abs(value - kink) / size) } }
    }
    for (_, node) in builder.list.operations {
      let inputs = node.inputs.map { maps[$0]! }
      if let sum = node.operation as? Sum {
        look(sum.addsLastInput ? inputs[0].adding(inputs[1]) : inputs[0], sum.activation)
      } else if let gate = (node.operation as? Gate)?.form {
        let (reduce, expand) = names(gate)
        let hidden = inputs[0].globalAverage().pointwise(
          weight: values("\(reduce).weight"), bias: values("\(reduce).bias"))
        look(hidden, gate.activation)
        look(
          hidden.activated(Self.reference(gate.activation)).pointwise(
            weight: values("\(expand).weight"), bias: values("\(expand).bias")),
          gate.gate)
      } else if let window = (node.operation as? MaxPooling)?.window {
        least = min(least, Self.leastLead(under: window, in: inputs[0]))
      }
    }
    return least
  }

  private func names(_ gate: Gate.Form) -> (reduce: String, expand: String) {
    let layers = gate.layers.names
    return ("\(gate.name).\(layers.reduce)", "\(gate.name).\(layers.expand)")
  }

  /// By how much the greatest value under a window leads the next one, at least.
  private static func leastLead(under window: Window, in x: ReferenceMap) -> Double {
    let (size, stride, padding) = (window.kernelSize, window.stride, padding(window))
    let rows = padding.resolve(input: x.height, kernelSize: size, stride: stride)
    let columns = padding.resolve(input: x.width, kernelSize: size, stride: stride)
    var least = Double.infinity
    for row in 0..<rows.count {
      for column in 0..<columns.count {
        let (top, left) = (row * stride - rows.before, column * stride - columns.before)
        for channel in 0..<x.channels {
          let values = (max(top, 0)..<min(top + size, x.height)).flatMap { y in
            (max(left, 0)..<min(left + size, x.width)).map {
              x.values[(y * x.width + $0) * x.channels + channel]
            }
          }.sorted()
          if values.count > 1 { least = min(least, values[values.count - 1] - values[values.count - 2]) }
        }
      }
    }
    return least
  }

  private func continueRun(_ maps: inout [Value: ReferenceMap], after first: Value) {
    for (value, node) in builder.list.operations where value.index > first.index {
      maps[value] = output(of: node.operation, node.inputs.map { maps[$0]! })
    }
  }

  private func output(of operation: any Operation, _ inputs: [ReferenceMap]) -> ReferenceMap {
    let (name, x) = (operation.name, inputs[0])
    if let layer = (operation as? Convolution)?.form {
      return convolved(x, name, layer.product, layer.window, groups: layer.groups)
    }
    if let layer = (operation as? Depthwise)?.form {
      return convolved(x, name, layer.product, layer.window, groups: x.channels)
    }
    if let norm = operation as? BatchNorm, norm.norm.epsilon == nil {
      return x.scaled(by: ReferenceMap(vector: values(name)))
    }
    if let attention = operation as? SelfAttention {
      return x.attention(
        heads: attention.headCount,
        windows: attention.windows.map { .init(size: $0.size, shift: $0.shift, bias: values($0.bias)) })
    }
    if let tokens = (operation as? AddTokens)?.form {
      return x.tokens(
        behind: tokens.first.flatMap { values($0.name) }, positions: tokens.positions.map { values($0) },
        embedsFirst: tokens.embedsFirst)
    }
    if let rotary = (operation as? RotaryPositions)?.form {
      let headSize = x.channels / (3 * rotary.headCount)
      let still = [[Double]](repeating: [], count: rotary.firstCount)
      return x.rotated(
        heads: rotary.headCount,
        by: still
          + (0..<rotary.height * rotary.width).map { rotary.angles(ofToken: $0, headSize: headSize) })
    }
    if operation is MergePatches { return x.merged() }
    if operation is ResponseNorm {
      return x.responseNormalized(weight: values("\(name).weight"), bias: values("\(name).bias"))
    }
    if let norm = operation as? LayerNorm {
      return x.layerNormalized(
        scale: values("\(name).weight"), offset: values("\(name).bias"), epsilon: norm.epsilon)
    }
    if let norm = operation as? BatchNorm, let epsilon = norm.norm.epsilon {
      return x.batchNormalized(
        scale: values("\(name).weight"), offset: values("\(name).bias"), mean: values("\(name).running_mean"),
        variance: values("\(name).running_var"), epsilon: epsilon)
    }
    if let gate = (operation as? Gate)?.form {
      let (reduce, expand) = names(gate)
      return x.scaled(
        by: x.squeezeExciteGate(
          reduceWeight: values("\(reduce).weight"), reduceBias: values("\(reduce).bias"),
          expandWeight: values("\(expand).weight"), expandBias: values("\(expand).bias"),
          activation: Self.reference(gate.activation), gate: Self.reference(gate.gate)))
    }
    if let sum = operation as? Sum {
      return (sum.addsLastInput ? x.adding(inputs[1]) : x).activated(Self.reference(sum.activation))
    }
    if let window = (operation as? MaxPooling)?.window {
      return x.maxPooling(
        kernelSize: window.kernelSize, stride: window.stride, padding: Self.padding(window))
    }
    if let window = (operation as? AveragePooling)?.window {
      return x.averagePooling(
        kernelSize: window.kernelSize, stride: window.stride, padding: Self.padding(window))
    }
    if operation is Concatenation { return x.joined(with: inputs[1]) }
    guard let mean = operation as? Mean else { preconditionFailure("no plain loops for \(operation.title)") }
    return (mean.rows.map { x.rows($0) } ?? x).globalAverage()
  }

  private func convolved(
    _ x: ReferenceMap, _ name: String, _ product: Product, _ window: Window, groups: Int
  ) -> ReferenceMap {
    x.convolution(
      weight: values("\(name).weight"),
      bias: product.hasBias ? values("\(name).bias") : [Float](repeating: 0, count: product.channels),
      kernelSize: window.kernelSize, stride: window.stride, groups: groups, padding: Self.padding(window))
  }

  private static func reference(_ activation: Activation) -> ReferenceActivation {
    ReferenceActivation(rawValue: "\(activation)")!
  }

  private static func padding(_ window: Window) -> ReferencePadding {
    switch window.padding {
    case .same: .same
    case .symmetric(let zeros): .symmetric(zeros)
    }
  }
}
