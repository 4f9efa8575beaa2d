import KernelInterface
import TensorModule

/// EfficientNet: B0-B7, their `tf_` variants and Lite0-Lite4.
///
/// Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", 2019, table 1, scaled as in
/// timm's `efficientnet_builder.py`. Padding and epsilon, in which the `tf_` variants differ, stand in the model's
/// configuration.
extension Architecture {
  static let efficientNets: [Architecture] = ["efficientnet_", "tf_efficientnet_"].flatMap { prefix in
    let scales: [(name: String, width: Double, depth: Double)] = [
      ("b0", 1.0, 1.0), ("b1", 1.0, 1.1), ("b2", 1.1, 1.2), ("b3", 1.2, 1.4), ("b4", 1.4, 1.8),
      ("b5", 1.6, 2.2), ("b6", 1.8, 2.6), ("b7", 2.0, 3.1),
      ("lite0", 1.0, 1.0), ("lite1", 1.0, 1.1), ("lite2", 1.1, 1.2), ("lite3", 1.2, 1.4), ("lite4", 1.4, 1.8),
    ]
    return scales.map { scale in
      let isLite = scale.name.hasPrefix("lite")
      return Architecture(name: prefix + scale.name) { net in
        efficientNet(&net, width: scale.width, depth: scale.depth, isLite: isLite)
      }
    }
  }

  /// Blocks, kernel, stride of the first block, expansion and channels of each stage.
  private static let stages: [(blocks: Int, kernel: Int, stride: Int, expansion: Int, channels: Int)] = [
    (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320),
  ]

  /// - Parameter isLite: Without squeeze-excite, and with ReLU6 in the place of SiLU, for what is awkward on integer hardware.
  private static func efficientNet(_ net: inout NetworkBuilder, width: Double, depth: Double, isLite: Bool) {
    let activation: Activation = isLite ? .relu6 : .silu
    var x = net.convolution(
      "conv_stem", net.image, kernel: 3, stride: 2, channels: isLite ? 32 : 32.scaled(by: width),
      norm: "bn1", activation)
    x = net.mark("conv_stem", x)
    for (index, stage) in stages.enumerated() {
      let isFixed = isLite && (index == 0 || index == stages.count - 1)
      let count = isFixed ? stage.blocks : Int((Double(stage.blocks) * depth).rounded(.up))
      for block in 0..<count {
        let name = "blocks.\(index).\(block)"
        let inputs = net.shape(x).channels
        let hidden = Int((Double(inputs) * 0.25).rounded(.toNearestOrEven))
        x = net.invertedResidual(
          name, x, kernel: stage.kernel, stride: block == 0 ? stage.stride : 1,
          expanded: stage.expansion == 1 ? nil : inputs * stage.expansion,
          channels: stage.channels.scaled(by: width), activation,
          squeeze: isLite ? nil : .init(hidden: hidden, activation: .silu, gate: .sigmoid))
        x = net.mark(name, x, stage: index)
      }
    }
    x = net.linear(
      "conv_head", x, channels: isLite ? 1280 : 1280.scaled(by: width), norm: "bn2", activation)
    net.pool(net.mark("conv_head", x))
  }
}
