import Files
import KernelInterface
import ReferenceLayers
import TensorModule

@testable import NetworkModule

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
      switch Int.random(in: 0..<11, using: &generator) {
      case 0...2:
        let squeeze =
          flip()
          ? NetworkBuilder.Squeeze(
            hidden: pick([1, 3]), activation: pick([.relu, .silu]), gate: pick([.sigmoid, .hardSigmoid]))
          : nil
        x = net.invertedResidual(
          name, x, kernel: pick([3, 5, 7]), stride: stride, expanded: flip() ? inputs * pick([2, 6]) : nil,
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
        if flip() { y = net.responseNorm("\(name).grn", y) }
        y = net.scale("\(name).gamma", net.dense("\(name).fc2", y, channels: inputs))
        x = net.add(x, y)
      case 7:
        x = net.windowBlock(name, x, using: &generator)
      case 8: x = net.denseLayer(name, x, stride: stride, activations, using: &generator)
      case 9: x = net.gatedGroups(name, x, stride: stride, pick(activations))
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
  ///
  /// - Parameter grid: The extent of the grid that the last tokens are; nil for a map.
  private mutating func transformerBlock(
    _ name: String, _ x: Value, windows: SelfAttention.Windows? = nil, grid: FeatureShape? = nil,
    using generator: inout SeededGenerator
  ) -> Value {
    let heads = Int.random(in: 1...3, using: &generator)
    let size = [1, 4, 17, 20].randomElement(using: &generator)!
    var y = mark("\(name).norm", layerNorm("\(name).norm", x, epsilon: 1), isBranch: true)
    y = dense("\(name).qkv", y, channels: 3 * heads * size)
    if let grid, size % 4 == 0, Bool.random(using: &generator) {
      y = rotaryPositions(
        y, heads: heads, firstCount: shape(x).pixelCount - grid.pixelCount, grid: grid)
    }
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
      "attention", transformerBlock("attention", x, grid: grid, using: &generator), grid: grid)
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

  /// A dense layer with groups of several widths, and windows that the input's end cuts.
  private mutating func denseLayer(
    _ name: String, _ x: Value, stride: Int, _ activations: [Activation],
    using generator: inout SeededGenerator
  ) -> Value {
    func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
    let groups = pick([1, 2, 3, 5, 8])
    var y = activation(pick(activations), batchNorm("\(name).bn1", x))
    y = linear(
      "\(name).conv1", y, channels: groups * pick([1, 3, 4, 17]), norm: "\(name).bn2", pick(activations))
    y = convolution(
      "\(name).conv2", y, kernel: 3, groups: groups, channels: groups * pick([1, 2, 6]),
      norm: "\(name).bn3", pick(activations))
    y = concatenate(x, concatenate(y, linear("\(name).conv3", y, channels: 3)))
    return averagePooling(
      y, kernel: pick([2, 3]), stride: stride,
      padding: shape(y).height > 4 ? pick([.same, .symmetric(0)]) : .same)
  }

  /// Groups of one channel with a stride, and a gate of other names.
  private mutating func gatedGroups(_ name: String, _ x: Value, stride: Int, _ activation: Activation)
    -> Value
  {
    let inputs = shape(x).channels
    let y = convolution(
      "\(name).conv", x, kernel: 3, stride: stride, groups: inputs, channels: 2 * inputs, bias: true)
    let z = gate("\(name).se", y, layers: .fc, hidden: 2, .relu, gate: .sigmoid)
    let w = linear("\(name).fc", z, channels: 2 * inputs, norm: "\(name).bn", bias: true)
    return add(self.activation(activation, y), w)
  }
}
