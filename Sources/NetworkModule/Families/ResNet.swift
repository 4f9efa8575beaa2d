import KernelInterface
import TensorModule

/// ResNet: He et al., "Deep Residual Learning for Image Recognition", 2016, table 1, with the stride in the 3x3 convolution, as
/// timm has them; ResNet-D (He et al., "Bag of Tricks", 2019), ResNeXt (Xie et al., 2017), SE-ResNet (Hu et al., 2018) and wide
/// ResNets (Zagoruyko and Komodakis, 2016).
extension Architecture {
  static let resNets: [Architecture] = resNetRows.map { row in
    Architecture(name: row.name) { resNet(&$0, row) }
  }

  /// In what a network differs from ResNet-50.
  private struct ResNetRow: Sendable {
    let name: String
    let blocks: [Int]
    var isBottleneck = true
    /// Three 3x3 convolutions in the place of the first, and average pooling in shortcuts.
    var isD = false
    var groups = 1
    /// Channels of a group of the 3x3 convolutions, for every 64 of the block.
    var groupWidth = 64
    var isGated = false
  }

  private static let resNetRows: [ResNetRow] =
    [
      ("18", [2, 2, 2, 2], false), ("26", [2, 2, 2, 2], true), ("34", [3, 4, 6, 3], false),
      ("50", [3, 4, 6, 3], true), ("101", [3, 4, 23, 3], true), ("152", [3, 8, 36, 3], true),
    ].flatMap { depth, blocks, isBottleneck in
      [
        ResNetRow(name: "resnet\(depth)", blocks: blocks, isBottleneck: isBottleneck),
        ResNetRow(name: "resnet\(depth)d", blocks: blocks, isBottleneck: isBottleneck, isD: true),
      ]
    } + [
      ResNetRow(name: "resnext50_32x4d", blocks: [3, 4, 6, 3], groups: 32, groupWidth: 4),
      ResNetRow(name: "resnext101_32x4d", blocks: [3, 4, 23, 3], groups: 32, groupWidth: 4),
      ResNetRow(name: "resnext101_32x8d", blocks: [3, 4, 23, 3], groups: 32, groupWidth: 8),
      ResNetRow(name: "seresnet50", blocks: [3, 4, 6, 3], isGated: true),
      ResNetRow(name: "seresnet101", blocks: [3, 4, 23, 3], isGated: true),
      ResNetRow(name: "seresnet152", blocks: [3, 8, 36, 3], isGated: true),
      ResNetRow(name: "wide_resnet50_2", blocks: [3, 4, 6, 3], groupWidth: 128),
      ResNetRow(name: "wide_resnet101_2", blocks: [3, 4, 23, 3], groupWidth: 128),
    ]

  private static func resNet(_ net: inout NetworkBuilder, _ row: ResNetRow) {
    var x = net.image
    if row.isD {
      x = net.convolution("conv1.0", x, kernel: 3, stride: 2, channels: 32, norm: "conv1.1", .relu)
      x = net.convolution("conv1.3", x, kernel: 3, channels: 32, norm: "conv1.4", .relu)
      x = net.convolution("conv1.6", x, kernel: 3, channels: 64, norm: "bn1", .relu)
    } else {
      x = net.convolution("conv1", x, kernel: 7, stride: 2, channels: 64, norm: "bn1", .relu)
    }
    x = net.mark("conv1", x)
    x = net.mark("maxpool", net.maxPooling(x, kernel: 3, stride: 2))
    for (stage, count) in row.blocks.enumerated() {
      for block in 0..<count {
        let name = "layer\(stage + 1).\(block)"
        x = residual(&net, name, x, planes: 64 << stage, stride: stage > 0 && block == 0 ? 2 : 1, row)
        x = net.mark(name, x, stage: stage)
      }
    }
    net.pool(x)
    net.classifier = "fc"
  }

  /// Two 3x3 convolutions, or one between two of 1x1 (a bottleneck). Where the shape changes, the shortcut is a 1x1
  /// convolution.
  private static func residual(
    _ net: inout NetworkBuilder, _ name: String, _ x: Value, planes: Int, stride: Int, _ row: ResNetRow
  ) -> Value {
    let channels = row.isBottleneck ? 4 * planes : planes
    var shortcut = x
    if stride != 1 || net.shape(x).channels != channels {
      if row.isD {
        let pooled = stride == 1 ? x : net.averagePooling(x, kernel: 2, stride: stride, padding: .same)
        shortcut = net.linear(
          "\(name).downsample.1", pooled, channels: channels, norm: "\(name).downsample.2")
      } else {
        shortcut = net.convolution(
          "\(name).downsample.0", x, kernel: 1, stride: stride, channels: channels,
          norm: "\(name).downsample.1")
      }
    }
    let width = planes * row.groupWidth / 64 * row.groups
    let layers =
      row.isBottleneck
      ? [(1, 1, width), (3, stride, width), (1, 1, channels)] : [(3, stride, planes), (3, 1, planes)]
    var y = x
    for (index, (kernel, stride, channels)) in layers.enumerated() {
      y = net.convolution(
        "\(name).conv\(index + 1)", y, kernel: kernel, stride: stride,
        groups: row.isBottleneck && kernel == 3 ? row.groups : 1, channels: channels,
        norm: "\(name).bn\(index + 1)", index + 1 < layers.count ? .relu : .identity)
    }
    if row.isGated {
      let hidden = channels.scaled(by: 1.0 / 16, leastShare: 0)
      y = net.gate("\(name).se", y, layers: .fc, hidden: hidden, .relu, gate: .sigmoid)
    }
    return net.activation(.relu, net.add(y, shortcut))
  }
}
