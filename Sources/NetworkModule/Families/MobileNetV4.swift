import KernelInterface
import TensorModule

/// MobileNetV4, of convolutions alone: Qin et al., "MobileNetV4: Universal Models for the Mobile Ecosystem", 2024, tables 11
/// and 12, as timm has them.
extension Architecture {
  static let mobileNetsV4 = [
    Architecture(name: "mobilenetv4_conv_small") { mobileNetV4(&$0, smallV4) },
    Architecture(name: "mobilenetv4_conv_medium") { mobileNetV4(&$0, mediumV4) },
  ]

  private enum Row {
    /// Kernel, stride and channels of a convolution.
    case plain(Int, Int, Int)
    /// Stride, expansion and channels of a fused inverted bottleneck.
    case fused(Int, Int, Int)
    /// Kernels of the depthwise convolutions before and after the expansion (0: none), stride, expansion and channels of a
    /// universal inverted bottleneck.
    case universal(Int, Int, Int, Int, Int)
  }

  private static let smallV4: [[Row]] = [
    [.plain(3, 2, 32), .plain(1, 1, 32)],
    [.plain(3, 2, 96), .plain(1, 1, 64)],
    [
      .universal(5, 5, 2, 3, 96), .universal(0, 3, 1, 2, 96), .universal(0, 3, 1, 2, 96),
      .universal(0, 3, 1, 2, 96), .universal(0, 3, 1, 2, 96), .universal(3, 0, 1, 4, 96),
    ],
    [
      .universal(3, 3, 2, 6, 128), .universal(5, 5, 1, 4, 128), .universal(0, 5, 1, 4, 128),
      .universal(0, 5, 1, 3, 128), .universal(0, 3, 1, 4, 128), .universal(0, 3, 1, 4, 128),
    ],
    [.plain(1, 1, 960)],
  ]

  private static let mediumV4: [[Row]] = [
    [.fused(2, 4, 48)],
    [.universal(3, 5, 2, 4, 80), .universal(3, 3, 1, 2, 80)],
    [
      .universal(3, 5, 2, 6, 160), .universal(3, 3, 1, 4, 160), .universal(3, 3, 1, 4, 160),
      .universal(3, 5, 1, 4, 160), .universal(3, 3, 1, 4, 160), .universal(3, 0, 1, 4, 160),
      .universal(0, 0, 1, 2, 160), .universal(3, 0, 1, 4, 160),
    ],
    [
      .universal(5, 5, 2, 6, 256), .universal(5, 5, 1, 4, 256), .universal(3, 5, 1, 4, 256),
      .universal(3, 5, 1, 4, 256), .universal(0, 0, 1, 4, 256), .universal(3, 0, 1, 4, 256),
      .universal(3, 5, 1, 2, 256), .universal(5, 5, 1, 4, 256), .universal(0, 0, 1, 4, 256),
      .universal(0, 0, 1, 4, 256), .universal(5, 0, 1, 2, 256),
    ],
    [.plain(1, 1, 960)],
  ]

  private static func mobileNetV4(_ net: inout NetworkBuilder, _ stages: [[Row]]) {
    var x = net.convolution("conv_stem", net.image, kernel: 3, stride: 2, channels: 32, norm: "bn1", .relu)
    x = net.mark("conv_stem", x)
    for (stage, rows) in stages.enumerated() {
      for (block, row) in rows.enumerated() {
        let name = "blocks.\(stage).\(block)"
        let inputs = net.shape(x).channels
        switch row {
        case .plain(let kernel, let stride, let channels):
          x = net.convolution(
            "\(name).conv", x, kernel: kernel, stride: stride, channels: channels, norm: "\(name).bn1", .relu)
        case .fused(let stride, let expansion, let channels):
          x = net.fusedInvertedResidual(
            name, x, stride: stride, expanded: inputs * expansion, channels: channels, .relu)
        case .universal(let start, let middle, let stride, let expansion, let channels):
          x = universal(
            &net, name, x, start: start, middle: middle, stride: stride, expanded: inputs * expansion,
            channels: channels)
        }
        x = net.mark(name, x, stage: stage)
      }
    }
    net.features(net.linear("conv_head", net.mean(x), channels: 1280, norm: "norm_head", .relu))
  }

  /// A universal inverted bottleneck: a depthwise convolution before the expansion, one after it, either or none.
  private static func universal(
    _ net: inout NetworkBuilder, _ name: String, _ x: Value, start: Int, middle: Int, stride: Int,
    expanded: Int, channels: Int
  ) -> Value {
    var y = x
    if start > 0 {
      y = net.depthwise(
        "\(name).dw_start.conv", y, kernel: start, stride: middle == 0 ? stride : 1,
        norm: "\(name).dw_start.bn")
    }
    y = net.linear("\(name).pw_exp.conv", y, channels: expanded, norm: "\(name).pw_exp.bn", .relu)
    if middle > 0 {
      y = net.depthwise(
        "\(name).dw_mid.conv", y, kernel: middle, stride: stride, norm: "\(name).dw_mid.bn", .relu)
    }
    y = net.linear("\(name).pw_proj.conv", y, channels: channels, norm: "\(name).pw_proj.bn")
    return net.shape(x) == net.shape(y) ? net.add(x, y) : y
  }
}
