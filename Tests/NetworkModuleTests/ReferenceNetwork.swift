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
          "\(name).weight", [channels, inputs] + (layer.product.isDense ? [] : [size, size]), &generator)
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
      } else if node.operation is LayerNorm {
        for key in ["weight", "bias"] { add("\(name).\(key)", [inputs], &generator) }
      } else if node.operation is BatchNorm {
        for key in ["weight", "bias", "running_mean", "running_var"] {
          add("\(name).\(key)", [inputs], &generator)
        }
      } else if let gate = (node.operation as? Gate)?.form {
        for (key, shape) in [
          ("conv_reduce", [gate.hidden, inputs]), ("conv_expand", [inputs, gate.hidden]),
        ] {
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
    sharesMemory: Bool = true,
    rewrite: (inout OperationList) -> Void = { $0.fuse(for: .float32, inputLimit: 3) }
  ) throws -> Network {
    let list = tensors.sorted { $0.key < $1.key }.map {
      (name: $0.key, shape: $0.value.shape, values: $0.value.values)
    }
    return try Network(
      builder,
      NetworkWeights(file: SafetensorsFile(bytes: safetensors(list)), precision: precision, kernels: kernels),
      fusion: nil, classCount: Self.classCount, pool: ThreadPool(threadCount: threadCount),
      sharesMemory: sharesMemory, rewrite: rewrite)
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

  /// How near an argument comes to a kink of its activation, or the two greatest values under the
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
        let hidden = inputs[0].globalAverage().pointwise(
          weight: values("\(gate.name).conv_reduce.weight"), bias: values("\(gate.name).conv_reduce.bias"))
        look(hidden, gate.activation)
        look(
          hidden.activated(Self.reference(gate.activation)).pointwise(
            weight: values("\(gate.name).conv_expand.weight"), bias: values("\(gate.name).conv_expand.bias")),
          gate.gate)
      } else if let window = (node.operation as? MaxPooling)?.window {
        least = min(least, Self.leastLead(under: window, in: inputs[0]))
      }
    }
    return least
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
      return convolved(x, name, layer.product, layer.window, groups: 1)
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
    if operation is MergePatches { return x.merged() }
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
      return x.scaled(
        by: x.squeezeExciteGate(
          reduceWeight: values("\(name).conv_reduce.weight"), reduceBias: values("\(name).conv_reduce.bias"),
          expandWeight: values("\(name).conv_expand.weight"), expandBias: values("\(name).conv_expand.bias"),
          activation: Self.reference(gate.activation), gate: Self.reference(gate.gate)))
    }
    if let sum = operation as? Sum {
      return (sum.addsLastInput ? x.adding(inputs[1]) : x).activated(Self.reference(sum.activation))
    }
    if let window = (operation as? MaxPooling)?.window {
      return x.maxPooling(
        kernelSize: window.kernelSize, stride: window.stride, padding: Self.padding(window))
    }
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

extension NetworkBuilder {
  /// A small network of blocks as the families have them, and others: skips, gates, strides, norms, all activations.
  static func random(using generator: inout SeededGenerator) -> NetworkBuilder {
    func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
    func flip() -> Bool { Bool.random(using: &generator) }
    let activations: [Activation] = [.relu, .relu6, .silu, .hardSwish]
    var net = NetworkBuilder(
      size: Int.random(in: 7...13, using: &generator), padding: flip() ? .same : .symmetric, normEpsilon: 1e-3
    )
    var x = net.convolution(
      "stem", net.image, kernel: 3, stride: pick([1, 2]), channels: pick([3, 5, 17]), norm: "stem.bn",
      pick(activations))
    x = net.mark("stem", x)
    for index in 0..<Int.random(in: 2...4, using: &generator) {
      let name = "blocks.\(index)"
      let inputs = net.shape(x).channels
      let outputs = flip() ? inputs : pick([2, 6, 9, 16])
      let stride = net.shape(x).height > 4 ? pick([1, 1, 2]) : 1
      switch Int.random(in: 0..<9, using: &generator) {
      case 0...2:
        let squeeze =
          flip()
          ? NetworkBuilder.Squeeze(
            hidden: pick([1, 3]), activation: pick([.relu, .silu]), gate: pick([.sigmoid, .hardSigmoid]))
          : nil
        x = net.invertedResidual(
          name, x, kernel: pick([3, 5]), stride: stride, expanded: flip() ? inputs * pick([2, 6]) : nil,
          channels: outputs, pick(activations), squeeze: squeeze)
      case 3:
        var shortcut = x
        if stride > 1 || inputs != outputs {
          shortcut = net.convolution(
            "\(name).shortcut", x, kernel: 1, stride: stride, channels: outputs, norm: "\(name).bn0")
        }
        var y = net.convolution(
          "\(name).conv1", x, kernel: 3, stride: stride, channels: outputs, norm: "\(name).bn1",
          pick(activations))
        y = net.convolution("\(name).conv2", y, kernel: 3, channels: outputs, norm: "\(name).bn2")
        x = net.activation(pick(activations), net.add(y, shortcut))
      case 4:
        // A skip within a skip, a bias beside a norm, and a value that three operations read.
        let y = net.linear("\(name).fc1", x, channels: inputs, norm: "\(name).bn1", bias: true, .silu)
        let z = net.add(net.depthwise("\(name).dw", y, kernel: 3, bias: true, pick(activations)), y)
        x = net.add(net.linear("\(name).fc2", z, channels: inputs, bias: true), net.add(x, y))
      case 5:
        let y = net.convolution("\(name).conv", x, kernel: 3, stride: stride, channels: outputs, bias: true)
        x = net.batchNorm("\(name).bn", net.gate("\(name).se", y, hidden: 2, .relu, gate: .sigmoid))
      case 6:
        // A block as ConvNeXt and transformers have them; the norm is a mark beside the shortcut.
        var y = net.depthwise("\(name).dw", x, kernel: 3, bias: true, flip() ? .gelu : .identity)
        y = net.mark("\(name).norm", net.layerNorm("\(name).norm", y, epsilon: 1), isBranch: true)
        y = net.dense("\(name).fc1", y, channels: 2 * inputs, .gelu)
        y = net.scale("\(name).gamma", net.dense("\(name).fc2", y, channels: inputs))
        x = net.add(x, y)
      case 7:
        x = net.windowBlock(name, x, using: &generator)
      default:
        // Behind a ReLU many values are equal, and of equal ones the gradient takes the first.
        let y = net.linear("\(name).fc", x, channels: inputs, norm: "\(name).bn", flip() ? .silu : .identity)
        x = net.activation(pick(activations), net.maxPooling(y, kernel: 3, stride: stride))
      }
      x = net.mark(name, x)
    }
    x = net.randomTokens(x, using: &generator)
    net.features(net.randomTail(x, using: &generator))
    return net
  }

  /// A block as Swin has them, after a merging where the map is even.
  private mutating func windowBlock(
    _ name: String, _ x: Value, using generator: inout SeededGenerator
  ) -> Value {
    let height = shape(x).height
    let x = height % 2 == 0 && height > 4 ? mergePatches(x) : x
    let side = shape(x).height
    let size = [2, 3, 5, side].first { side % $0 == 0 }!
    return transformerBlock(
      name, x, windows: .init(size: size, shift: size < side ? 1 : 0, bias: "\(name).table"),
      using: &generator)
  }

  /// A residual of attention; the norm is a mark beside the shortcut.
  private mutating func transformerBlock(
    _ name: String, _ x: Value, windows: SelfAttention.Windows?, using generator: inout SeededGenerator
  ) -> Value {
    let heads = Int.random(in: 1...3, using: &generator)
    let size = [1, 4, 17].randomElement(using: &generator)!
    var y = mark("\(name).norm", layerNorm("\(name).norm", x, epsilon: 1), isBranch: true)
    y = dense("\(name).qkv", y, channels: 3 * heads * size)
    y = selfAttention(y, heads: heads, windows: windows)
    return add(x, dense("\(name).proj", y, channels: shape(x).channels))
  }

  /// Half of the time the map as tokens, and attention over all of them.
  private mutating func randomTokens(_ x: Value, using generator: inout SeededGenerator) -> Value {
    func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
    if Bool.random(using: &generator) { return x }
    var x = x
    // A class token and registers, and attention over all tokens.
    let grid = shape(x)
    let first = [("cls", 1), ("registers", pick([1, 2]))].prefix(pick([1, 2]))
    x = tokens(
      x, first: Array(first), positions: pick(["positions", nil]), embedsFirst: Bool.random(using: &generator)
    )
    x = mark("tokens", x, grid: grid)
    x = mark(
      "attention", transformerBlock("attention", x, windows: nil, using: &generator), grid: grid)
    return x
  }

  /// From the last mark to the vector that the head takes, as the families have it, and in other ways.
  private mutating func randomTail(_ x: Value, using generator: inout SeededGenerator) -> Value {
    let count = shape(x).pixelCount
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return layerNorm("norm", mean(x), epsilon: 1)
    case 1: return layerNorm("norm", mean(x, rows: count / 2..<count / 2 + 1), epsilon: 1)
    case 2: return mean(layerNorm("norm", x, epsilon: 1), rows: count / 3..<count)
    case 3:
      return linear(
        "hidden", mean(activation(.relu, batchNorm("norm", x))), channels: 7, bias: true, .hardSwish)
    case 4:
      let y = layerNorm("norm", mean(x), epsilon: 1)
      return add(dense("hidden", y, channels: shape(y).channels, .relu), y)
    default: return mean(x)
    }
  }
}
