import KernelInterface

/// MobileNetV3, small and large: Howard et al., "Searching for MobileNetV3", 2019, tables 1 and 2, as timm has them.
extension Architecture {
  /// Blocks of one kind that follow one another.
  private struct Row {
    let blockCount: Int
    let kernelSize: Int
    /// Of the first block; the others have 1.
    let stride: Int
    /// Channels of the depthwise convolution; nil: no expansion.
    let expandedChannels: Int?
    let channels: Int
    let activation: Activation
    /// Hidden channels of squeeze-excite: a quarter of the depthwise convolution's, to a multiple of 8.
    let squeezeChannels: Int?

    init(
      _ blockCount: Int = 1, kernel: Int, stride: Int = 1, expanded: Int?, to channels: Int,
      _ activation: Activation, squeeze: Int? = nil
    ) {
      self.blockCount = blockCount
      kernelSize = kernel
      self.stride = stride
      expandedChannels = expanded
      self.channels = channels
      self.activation = activation
      squeezeChannels = squeeze
    }
  }

  /// The rows of each stage.
  private static let small: [[Row]] = [
    [Row(kernel: 3, stride: 2, expanded: nil, to: 16, .relu, squeeze: 8)],
    [
      Row(kernel: 3, stride: 2, expanded: 72, to: 24, .relu),
      Row(kernel: 3, expanded: 88, to: 24, .relu),
    ],
    [
      Row(kernel: 5, stride: 2, expanded: 96, to: 40, .hardSwish, squeeze: 24),
      Row(2, kernel: 5, expanded: 240, to: 40, .hardSwish, squeeze: 64),
    ],
    [
      Row(kernel: 5, expanded: 120, to: 48, .hardSwish, squeeze: 32),
      Row(kernel: 5, expanded: 144, to: 48, .hardSwish, squeeze: 40),
    ],
    [
      Row(kernel: 5, stride: 2, expanded: 288, to: 96, .hardSwish, squeeze: 72),
      Row(2, kernel: 5, expanded: 576, to: 96, .hardSwish, squeeze: 144),
    ],
  ]

  private static let large: [[Row]] = [
    [Row(kernel: 3, expanded: nil, to: 16, .relu)],
    [
      Row(kernel: 3, stride: 2, expanded: 64, to: 24, .relu),
      Row(kernel: 3, expanded: 72, to: 24, .relu),
    ],
    [
      Row(kernel: 5, stride: 2, expanded: 72, to: 40, .relu, squeeze: 24),
      Row(2, kernel: 5, expanded: 120, to: 40, .relu, squeeze: 32),
    ],
    [
      Row(kernel: 3, stride: 2, expanded: 240, to: 80, .hardSwish),
      Row(kernel: 3, expanded: 200, to: 80, .hardSwish),
      Row(2, kernel: 3, expanded: 184, to: 80, .hardSwish),
    ],
    [
      Row(kernel: 3, expanded: 480, to: 112, .hardSwish, squeeze: 120),
      Row(kernel: 3, expanded: 672, to: 112, .hardSwish, squeeze: 168),
    ],
    [
      Row(kernel: 5, stride: 2, expanded: 672, to: 160, .hardSwish, squeeze: 168),
      Row(2, kernel: 5, expanded: 960, to: 160, .hardSwish, squeeze: 240),
    ],
  ]

  static let mobileNetsV3: [Entry] = [
    ("mobilenetv3_small_100", { mobileNetV3(small, lastChannels: 576, hiddenChannels: 1024) }),
    ("mobilenetv3_large_100", { mobileNetV3(large, lastChannels: 960, hiddenChannels: 1280) }),
  ]

  private static func mobileNetV3(
    _ stages: [[Row]], lastChannels: Int, hiddenChannels: Int
  ) -> Architecture {
    var blocks = [
      Place(
        name: "conv_stem",
        configuration: .stem(
          .init(norm: "bn1", kernelSize: 3, stride: 2, channels: 16, activation: .hardSwish)))
    ]
    for (stageIndex, rows) in stages.enumerated() {
      var index = 0
      for row in rows {
        for repetition in 0..<row.blockCount {
          blocks.append(
            Place(
              name: "blocks.\(stageIndex).\(index)", stage: stageIndex,
              configuration: .mbConv(
                .init(
                  kernelSize: row.kernelSize, stride: repetition == 0 ? row.stride : 1,
                  expandedChannels: row.expandedChannels, channels: row.channels, activation: row.activation,
                  squeeze: row.squeezeChannels.map {
                    .init(channels: $0, activation: .relu, gate: .hardSigmoid)
                  }))))
          index += 1
        }
      }
    }
    let last = "blocks.\(stages.count).0"
    blocks.append(
      Place(
        name: last, stage: stages.count,
        configuration: .pointwise(
          .init(
            convolution: "\(last).conv", norm: "\(last).bn1", channels: lastChannels, activation: .hardSwish)
        )))
    return Architecture(
      blocks: blocks,
      hidden: Hidden(name: "conv_head", channels: hiddenChannels, activation: .hardSwish))
  }
}
