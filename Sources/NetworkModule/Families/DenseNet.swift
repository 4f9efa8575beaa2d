import KernelInterface
import TensorModule

/// DenseNet: Huang et al., "Densely Connected Convolutional Networks", 2017, table 1, as timm has them.
extension Architecture {
  static let denseNets = [
    Architecture(name: "densenet121") { denseNet(&$0, blocks: [6, 12, 24, 16]) },
    Architecture(name: "densenet169") { denseNet(&$0, blocks: [6, 12, 32, 32]) },
    Architecture(name: "densenet201") { denseNet(&$0, blocks: [6, 12, 48, 32]) },
    Architecture(name: "densenet161") { denseNet(&$0, blocks: [6, 12, 36, 24], growth: 48) },
  ]

  /// - Parameter growth: Channels that a layer adds.
  private static func denseNet(_ net: inout NetworkBuilder, blocks: [Int], growth: Int = 32) {
    var x = net.convolution(
      "features.conv0", net.image, kernel: 7, stride: 2, channels: 2 * growth, norm: "features.norm0", .relu)
    x = net.mark("features.norm0", x)
    x = net.mark("features.pool0", net.maxPooling(x, kernel: 3, stride: 2))
    for (stage, count) in blocks.enumerated() {
      for layer in 0..<count {
        let name = "features.denseblock\(stage + 1).denselayer\(layer + 1)"
        var y = net.activation(.relu, net.batchNorm("\(name).norm1", x))
        y = net.linear("\(name).conv1", y, channels: 4 * growth, norm: "\(name).norm2", .relu)
        x = net.concatenate(x, net.convolution("\(name).conv2", y, kernel: 3, channels: growth))
      }
      x = net.mark("features.denseblock\(stage + 1)", x, stage: stage)
      if stage + 1 < blocks.count {
        let name = "features.transition\(stage + 1)"
        let y = net.activation(.relu, net.batchNorm("\(name).norm", x))
        x = net.linear("\(name).conv", y, channels: net.shape(x).channels / 2)
        x = net.mark(name, net.averagePooling(x, kernel: 2, stride: 2, padding: .symmetric(0)))
      } else {
        x = net.mark("features.norm5", net.activation(.relu, net.batchNorm("features.norm5", x)))
      }
    }
    net.pool(x)
  }
}
