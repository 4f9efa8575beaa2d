import KernelInterface
import TensorModule

extension NetworkBuilder {
  /// Squeeze-excite's hidden channels and activations.
  struct Squeeze {
    let hidden: Int
    let activation: Activation
    let gate: Activation
  }

  /// A mobile inverted bottleneck (MBConv): expand, depthwise, squeeze-excite, project, and the input added where the
  /// shapes allow.
  ///
  /// - Parameters:
  ///   - expanded: Channels of the depthwise convolution; nil: those of the input, without an expansion.
  ///   - activation: After the expansion and after the depthwise convolution.
  mutating func invertedResidual(
    _ name: String, _ x: Value, kernel: Int, stride: Int, expanded: Int?, channels: Int,
    _ activation: Activation, squeeze: Squeeze?
  ) -> Value {
    var y = x
    // timm counts a block's norms, and names the last layer after the expansion where there is none.
    let first = expanded == nil ? 1 : 2
    if let expanded {
      y = linear("\(name).conv_pw", y, channels: expanded, norm: "\(name).bn1", activation)
    }
    y = depthwise(
      "\(name).conv_dw", y, kernel: kernel, stride: stride, norm: "\(name).bn\(first)", activation)
    if let squeeze {
      y = gate("\(name).se", y, hidden: squeeze.hidden, squeeze.activation, gate: squeeze.gate)
    }
    y = linear(
      expanded == nil ? "\(name).conv_pw" : "\(name).conv_pwl", y, channels: channels,
      norm: "\(name).bn\(first + 1)")
    return shape(x) == shape(y) ? add(x, y) : y
  }

  /// A fused inverted bottleneck (FusedMBConv, timm's `EdgeResidual`): the expansion is a 3x3 convolution, in the place of
  /// the depthwise one.
  mutating func fusedInvertedResidual(
    _ name: String, _ x: Value, stride: Int, expanded: Int, channels: Int, _ activation: Activation
  ) -> Value {
    let y = convolution(
      "\(name).conv_exp", x, kernel: 3, stride: stride, channels: expanded, norm: "\(name).bn1", activation)
    let z = linear("\(name).conv_pwl", y, channels: channels, norm: "\(name).bn2")
    return shape(x) == shape(z) ? add(x, z) : z
  }
}

extension Int {
  /// Channels times a width, to a multiple of 8 that is not below a share of it (timm's `make_divisible`).
  func scaled(by width: Double, leastShare: Double = 0.9) -> Int {
    let wanted = Double(self) * width
    let rounded = Swift.max(8, Int(wanted + 4) / 8 * 8)
    return Double(rounded) < leastShare * wanted ? rounded + 8 : rounded
  }
}
