/// The shape of an EfficientNet: B0-B7, their `tf_` variants and Lite0-Lite4, all from one table.
///
/// Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", 2019, table 1, scaled as in
/// timm's `efficientnet_builder.py`.
package struct EfficientNetArchitecture: Sendable, Equatable {
  /// Blocks that follow one another at one resolution.
  package struct Stage: Sendable, Equatable {
    /// Blocks.
    package let blockCount: Int
    /// Taps of the depthwise window, down and across.
    package let kernelSize: Int
    /// Stride of the first block; the others have 1.
    package let stride: Int
    /// Expanded channels over input channels; 1: no expansion.
    package let expansion: Int
    /// Channels of each block's output.
    package let channels: Int
  }

  /// Channels after the stem.
  package let stemChannels: Int
  /// The stages in order.
  package let stages: [Stage]
  /// Channels of the last feature map.
  package let headChannels: Int
  /// Lite: no squeeze-excite, and ReLU6 in the place of SiLU, for what is awkward on integer hardware.
  package let isLite: Bool

  /// Squeeze-excite's hidden channels over the block's input channels.
  package static let squeezeRatio = 0.25

  private static let base = [
    Stage(blockCount: 1, kernelSize: 3, stride: 1, expansion: 1, channels: 16),
    Stage(blockCount: 2, kernelSize: 3, stride: 2, expansion: 6, channels: 24),
    Stage(blockCount: 2, kernelSize: 5, stride: 2, expansion: 6, channels: 40),
    Stage(blockCount: 3, kernelSize: 3, stride: 2, expansion: 6, channels: 80),
    Stage(blockCount: 3, kernelSize: 5, stride: 1, expansion: 6, channels: 112),
    Stage(blockCount: 4, kernelSize: 5, stride: 2, expansion: 6, channels: 192),
    Stage(blockCount: 1, kernelSize: 3, stride: 1, expansion: 6, channels: 320),
  ]

  private static let multipliers: [String: (width: Double, depth: Double)] = [
    "b0": (1.0, 1.0), "b1": (1.0, 1.1), "b2": (1.1, 1.2), "b3": (1.2, 1.4), "b4": (1.4, 1.8),
    "b5": (1.6, 2.2), "b6": (1.8, 2.6), "b7": (2.0, 3.1), "lite0": (1.0, 1.0), "lite1": (1.0, 1.1),
    "lite2": (1.1, 1.2), "lite3": (1.2, 1.4), "lite4": (1.4, 1.8),
  ]

  /// The architecture of a timm name such as `efficientnet_b4`, `tf_efficientnet_b4` or `efficientnet_lite2`; nil for
  /// any other name. Padding and epsilon, in which the `tf_` variants differ, stand in the model's configuration.
  package init?(named name: String) {
    let plain = name.hasPrefix("tf_") ? name.dropFirst(3) : name[...]
    guard plain.hasPrefix("efficientnet_"),
      let scale = Self.multipliers[String(plain.dropFirst("efficientnet_".count))]
    else { return nil }
    isLite = plain.contains("lite")
    stemChannels = isLite ? 32 : Self.scaled(32, by: scale.width)
    headChannels = isLite ? 1280 : Self.scaled(1280, by: scale.width)
    var stages: [Stage] = []
    for (index, stage) in Self.base.enumerated() {
      let isFixed = isLite && (index == 0 || index == Self.base.count - 1)
      let blockCount =
        isFixed ? stage.blockCount : Int((Double(stage.blockCount) * scale.depth).rounded(.up))
      stages.append(
        Stage(
          blockCount: blockCount, kernelSize: stage.kernelSize, stride: stage.stride,
          expansion: stage.expansion, channels: Self.scaled(stage.channels, by: scale.width)))
    }
    self.stages = stages
  }

  /// Channels times the width, to a multiple of 8 that is not below 90 % of it.
  private static func scaled(_ channels: Int, by width: Double) -> Int {
    let wanted = Double(channels) * width
    let rounded = max(8, Int(wanted + 4) / 8 * 8)
    return Double(rounded) < 0.9 * wanted ? rounded + 8 : rounded
  }
}
