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
}
