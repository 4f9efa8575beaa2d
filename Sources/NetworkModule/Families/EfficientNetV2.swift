import KernelInterface
import TensorModule

/// EfficientNetV2: Tan and Le, "EfficientNetV2: Smaller Models and Faster Training", 2021, table 4, and timm's own `rw_`
/// networks, scaled as in timm's `efficientnet.py`. The `tf_` networks are TensorFlow's in padding and epsilon.
extension Architecture {
  static let efficientNetsV2: [Architecture] =
    [
      Architecture(name: "efficientnetv2_rw_t") {
        efficientNetV2(&$0, small, stem: 24, head: 1280, width: 0.8, depth: 0.9)
      },
      Architecture(name: "efficientnetv2_rw_s") { efficientNetV2(&$0, smallOfTimm, stem: 24, head: 1792) },
      Architecture(name: "tf_efficientnetv2_s") { efficientNetV2(&$0, small, stem: 24, head: 1280) },
      Architecture(name: "tf_efficientnetv2_m") { efficientNetV2(&$0, medium, stem: 24, head: 1280) },
      Architecture(name: "tf_efficientnetv2_l") { efficientNetV2(&$0, large, stem: 32, head: 1280) },
    ]
    + [("b0", 1.0, 1.0), ("b1", 1.0, 1.1), ("b2", 1.1, 1.2), ("b3", 1.2, 1.4)].map { name, width, depth in
      Architecture(name: "tf_efficientnetv2_\(name)") {
        efficientNetV2(&$0, base, stem: 32, head: 1280, width: width, depth: depth, leastShare: 0)
      }
    }

  private enum Block {
    /// A 3x3 convolution.
    case plain
    /// A fused inverted bottleneck.
    case fused
    /// An inverted bottleneck with squeeze-excite.
    case inverted
  }

  /// The blocks, how many there are, the stride of the first, expansion and channels of each stage.
  private typealias Stage = (block: Block, count: Int, stride: Int, expansion: Int, channels: Int)

  private static let base: [Stage] = [
    (.plain, 1, 1, 1, 16), (.fused, 2, 2, 4, 32), (.fused, 2, 2, 4, 48),
    (.inverted, 3, 2, 4, 96), (.inverted, 5, 1, 6, 112), (.inverted, 8, 2, 6, 192),
  ]
  private static let small: [Stage] = [
    (.plain, 2, 1, 1, 24), (.fused, 4, 2, 4, 48), (.fused, 4, 2, 4, 64),
    (.inverted, 6, 2, 4, 128), (.inverted, 9, 1, 6, 160), (.inverted, 15, 2, 6, 256),
  ]
  private static let smallOfTimm: [Stage] =
    [(.fused, 2, 1, 1, 24)] + small[1..<5] + [(.inverted, 15, 2, 6, 272)]
  private static let medium: [Stage] = [
    (.plain, 3, 1, 1, 24), (.fused, 5, 2, 4, 48), (.fused, 5, 2, 4, 80), (.inverted, 7, 2, 4, 160),
    (.inverted, 14, 1, 6, 176), (.inverted, 18, 2, 6, 304), (.inverted, 5, 1, 6, 512),
  ]
  private static let large: [Stage] = [
    (.plain, 4, 1, 1, 32), (.fused, 7, 2, 4, 64), (.fused, 7, 2, 4, 96), (.inverted, 10, 2, 4, 192),
    (.inverted, 19, 1, 6, 224), (.inverted, 25, 2, 6, 384), (.inverted, 7, 1, 6, 640),
  ]

  /// - Parameter leastShare: The least share that rounding leaves of a scaled number of channels.
  private static func efficientNetV2(
    _ net: inout NetworkBuilder, _ stages: [Stage], stem: Int, head: Int, width: Double = 1,
    depth: Double = 1,
    leastShare: Double = 0.9
  ) {
    func scaled(_ channels: Int) -> Int { channels.scaled(by: width, leastShare: leastShare) }
    var x = net.convolution(
      "conv_stem", net.image, kernel: 3, stride: 2, channels: scaled(stem), norm: "bn1", .silu)
    x = net.mark("conv_stem", x)
    for (index, stage) in stages.enumerated() {
      let channels = scaled(stage.channels)
      for block in 0..<Int((Double(stage.count) * depth).rounded(.up)) {
        let name = "blocks.\(index).\(block)"
        let stride = block == 0 ? stage.stride : 1
        let inputs = net.shape(x).channels
        switch stage.block {
        case .plain:
          let y = net.convolution(
            "\(name).conv", x, kernel: 3, stride: stride, channels: channels, norm: "\(name).bn1", .silu)
          x = net.shape(y) == net.shape(x) ? net.add(y, x) : y
        case .fused:
          x = net.fusedInvertedResidual(
            name, x, stride: stride, expanded: inputs * stage.expansion, channels: channels, .silu)
        case .inverted:
          let hidden = Int((Double(inputs) * 0.25).rounded(.toNearestOrEven))
          x = net.invertedResidual(
            name, x, kernel: 3, stride: stride, expanded: inputs * stage.expansion, channels: channels, .silu,
            squeeze: .init(hidden: hidden, activation: .silu, gate: .sigmoid))
        }
        x = net.mark(name, x, stage: index)
      }
    }
    x = net.linear("conv_head", x, channels: scaled(head), norm: "bn2", .silu)
    net.pool(net.mark("conv_head", x))
  }
}
