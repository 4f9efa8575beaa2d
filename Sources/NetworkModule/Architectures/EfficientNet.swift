import KernelInterface

/// EfficientNet: B0-B7, their `tf_` variants and Lite0-Lite4, all from one table.
///
/// Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", 2019, table 1, scaled as in
/// timm's `efficientnet_builder.py`.
extension Architecture {
  /// Blocks that follow one another at one resolution.
  private struct Stage {
    let blockCount: Int
    let kernelSize: Int
    /// Of the first block; the others have 1.
    let stride: Int
    /// Expanded channels over input channels; 1: no expansion.
    let expansion: Int
    let channels: Int
  }

  private static let stages = [
    Stage(blockCount: 1, kernelSize: 3, stride: 1, expansion: 1, channels: 16),
    Stage(blockCount: 2, kernelSize: 3, stride: 2, expansion: 6, channels: 24),
    Stage(blockCount: 2, kernelSize: 5, stride: 2, expansion: 6, channels: 40),
    Stage(blockCount: 3, kernelSize: 3, stride: 2, expansion: 6, channels: 80),
    Stage(blockCount: 3, kernelSize: 5, stride: 1, expansion: 6, channels: 112),
    Stage(blockCount: 4, kernelSize: 5, stride: 2, expansion: 6, channels: 192),
    Stage(blockCount: 1, kernelSize: 3, stride: 1, expansion: 6, channels: 320),
  ]

  private static let scales: [(name: String, width: Double, depth: Double)] = [
    ("b0", 1.0, 1.0), ("b1", 1.0, 1.1), ("b2", 1.1, 1.2), ("b3", 1.2, 1.4), ("b4", 1.4, 1.8),
    ("b5", 1.6, 2.2), ("b6", 1.8, 2.6), ("b7", 2.0, 3.1),
    ("lite0", 1.0, 1.0), ("lite1", 1.0, 1.1), ("lite2", 1.1, 1.2), ("lite3", 1.2, 1.4), ("lite4", 1.4, 1.8),
  ]

  /// Padding and epsilon, in which the `tf_` variants differ, stand in the model's configuration.
  static let efficientNets: [Entry] = ["efficientnet_", "tf_efficientnet_"].flatMap { prefix in
    scales.map { scale in
      let isLite = scale.name.hasPrefix("lite")
      return (
        prefix + scale.name,
        { efficientNet(width: scale.width, depth: scale.depth, isLite: isLite) }
      )
    }
  }

  /// - Parameter isLite: without squeeze-excite, and with ReLU6 in the place of SiLU, for what is awkward on integer hardware.
  private static func efficientNet(width: Double, depth: Double, isLite: Bool) -> Architecture {
    let activation: Activation = isLite ? .relu6 : .silu
    var channels = isLite ? 32 : scaled(32, by: width)
    var blocks = [
      Place(
        name: "conv_stem",
        configuration: .stem(
          .init(norm: "bn1", kernelSize: 3, stride: 2, channels: channels, activation: activation)))
    ]
    for (stageIndex, stage) in stages.enumerated() {
      let isFixed = isLite && (stageIndex == 0 || stageIndex == stages.count - 1)
      let blockCount =
        isFixed ? stage.blockCount : Int((Double(stage.blockCount) * depth).rounded(.up))
      let outputs = scaled(stage.channels, by: width)
      for index in 0..<blockCount {
        let reduced = Int((Double(channels) * squeezeRatio).rounded(.toNearestOrEven))
        blocks.append(
          Place(
            name: "blocks.\(stageIndex).\(index)", stage: stageIndex,
            configuration: .mbConv(
              .init(
                kernelSize: stage.kernelSize, stride: index == 0 ? stage.stride : 1,
                expandedChannels: stage.expansion == 1 ? nil : channels * stage.expansion,
                channels: outputs, activation: activation,
                squeeze: isLite ? nil : .init(channels: reduced, activation: .silu, gate: .sigmoid)))))
        channels = outputs
      }
    }
    blocks.append(
      Place(
        name: "conv_head",
        configuration: .pointwise(
          .init(
            convolution: "conv_head", norm: "bn2", channels: isLite ? 1280 : scaled(1280, by: width),
            activation: activation))))
    return Architecture(blocks: blocks)
  }

  /// Squeeze-excite's hidden channels over the block's input channels.
  private static let squeezeRatio = 0.25

  /// Channels times the width, to a multiple of 8 that is not below 90 % of it.
  private static func scaled(_ channels: Int, by width: Double) -> Int {
    let wanted = Double(channels) * width
    let rounded = max(8, Int(wanted + 4) / 8 * 8)
    return Double(rounded) < 0.9 * wanted ? rounded + 8 : rounded
  }
}
