import KernelInterface
import TensorModule

/// ResNet-18 and ResNet-50: He et al., "Deep Residual Learning for Image Recognition", 2016, table 1, with the stride in
/// the 3x3 convolution, as timm has them.
extension Architecture {
  static let resNets = [
    Architecture(name: "resnet18") { resNet(&$0, blocks: [2, 2, 2, 2], isBottleneck: false) },
    Architecture(name: "resnet50") { resNet(&$0, blocks: [3, 4, 6, 3], isBottleneck: true) },
  ]

  private static func resNet(_ net: inout NetworkBuilder, blocks: [Int], isBottleneck: Bool) {
    var x = net.convolution("conv1", net.image, kernel: 7, stride: 2, channels: 64, norm: "bn1", .relu)
    x = net.mark("conv1", x)
    x = net.mark("maxpool", net.maxPooling(x, kernel: 3, stride: 2))
    for (stage, count) in blocks.enumerated() {
      for block in 0..<count {
        let name = "layer\(stage + 1).\(block)"
        let width = 64 << stage
        x = residual(
          &net, name, x, width: width, channels: isBottleneck ? 4 * width : width,
          stride: stage > 0 && block == 0 ? 2 : 1)
        x = net.mark(name, x, stage: stage)
      }
    }
    net.pool(x)
    net.classifier = "fc"
  }

  /// Two 3x3 convolutions; or one between two of 1x1, where there are more channels than its width. Where the shape changes,
  /// the shortcut is a 1x1 convolution.
  private static func residual(
    _ net: inout NetworkBuilder, _ name: String, _ x: Value, width: Int, channels: Int, stride: Int
  ) -> Value {
    var shortcut = x
    if stride != 1 || net.shape(x).channels != channels {
      shortcut = net.convolution(
        "\(name).downsample.0", x, kernel: 1, stride: stride, channels: channels,
        norm: "\(name).downsample.1")
    }
    let layers =
      channels == width
      ? [(3, stride, width), (3, 1, width)] : [(1, 1, width), (3, stride, width), (1, 1, channels)]
    var y = x
    for (index, (kernel, stride, channels)) in layers.enumerated() {
      y = net.convolution(
        "\(name).conv\(index + 1)", y, kernel: kernel, stride: stride, channels: channels,
        norm: "\(name).bn\(index + 1)", index + 1 < layers.count ? .relu : .identity)
    }
    return net.activation(.relu, net.add(y, shortcut))
  }
}
