import KernelInterface
import TensorModule

/// MobileNetV3, small and large: Howard et al., "Searching for MobileNetV3", 2019, tables 1 and 2, as timm has them.
extension Architecture {
  static let mobileNetsV3 = [
    Architecture(name: "mobilenetv3_small_100") { mobileNetV3(&$0, small, last: 576, hidden: 1024) },
    Architecture(name: "mobilenetv3_large_100") { mobileNetV3(&$0, large, last: 960, hidden: 1280) },
  ]

  /// Kernel, stride, channels of the depthwise convolution (nil: no expansion) and of the output, activation, and hidden
  /// channels of squeeze-excite (nil: none): a quarter of the depthwise convolution's, to a multiple of 8.
  private typealias Row = (Int, Int, Int?, Int, Activation, Int?)

  private static let small: [[Row]] = [
    [(3, 2, nil, 16, .relu, 8)],
    [(3, 2, 72, 24, .relu, nil), (3, 1, 88, 24, .relu, nil)],
    [(5, 2, 96, 40, .hardSwish, 24), (5, 1, 240, 40, .hardSwish, 64), (5, 1, 240, 40, .hardSwish, 64)],
    [(5, 1, 120, 48, .hardSwish, 32), (5, 1, 144, 48, .hardSwish, 40)],
    [(5, 2, 288, 96, .hardSwish, 72), (5, 1, 576, 96, .hardSwish, 144), (5, 1, 576, 96, .hardSwish, 144)],
  ]

  private static let large: [[Row]] = [
    [(3, 1, nil, 16, .relu, nil)],
    [(3, 2, 64, 24, .relu, nil), (3, 1, 72, 24, .relu, nil)],
    [(5, 2, 72, 40, .relu, 24), (5, 1, 120, 40, .relu, 32), (5, 1, 120, 40, .relu, 32)],
    [
      (3, 2, 240, 80, .hardSwish, nil), (3, 1, 200, 80, .hardSwish, nil), (3, 1, 184, 80, .hardSwish, nil),
      (3, 1, 184, 80, .hardSwish, nil),
    ],
    [(3, 1, 480, 112, .hardSwish, 120), (3, 1, 672, 112, .hardSwish, 168)],
    [
      (5, 2, 672, 160, .hardSwish, 168), (5, 1, 960, 160, .hardSwish, 240), (5, 1, 960, 160, .hardSwish, 240),
    ],
  ]

  private static func mobileNetV3(_ net: inout NetworkBuilder, _ stages: [[Row]], last: Int, hidden: Int) {
    var x = net.convolution(
      "conv_stem", net.image, kernel: 3, stride: 2, channels: 16, norm: "bn1", .hardSwish)
    x = net.mark("conv_stem", x)
    for (stage, rows) in stages.enumerated() {
      for (block, (kernel, stride, expanded, channels, activation, squeezed)) in rows.enumerated() {
        let name = "blocks.\(stage).\(block)"
        x = net.invertedResidual(
          name, x, kernel: kernel, stride: stride, expanded: expanded, channels: channels, activation,
          squeeze: squeezed.map { .init(hidden: $0, activation: .relu, gate: .hardSigmoid) })
        x = net.mark(name, x, stage: stage)
      }
    }
    let name = "blocks.\(stages.count).0"
    x = net.linear("\(name).conv", x, channels: last, norm: "\(name).bn1", .hardSwish)
    net.pool(net.mark(name, x, stage: stages.count))
    net.hidden = .init(name: "conv_head", channels: hidden, activation: .hardSwish)
  }
}
