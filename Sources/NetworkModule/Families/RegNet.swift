import KernelInterface
import TensorModule

/// RegNetY: Radosavovic et al., "Designing Network Design Spaces", 2020, with the widths that timm's `regnet.py` makes of the
/// paper's parameters.
extension Architecture {
  static let regNets: [Architecture] = regNetRows.map { row in
    Architecture(name: "regnety_\(row.name)") {
      regNet(&$0, row.blocks, row.widths, groupWidth: row.groupWidth)
    }
  }

  private static let regNetRows: [(name: String, blocks: [Int], widths: [Int], groupWidth: Int)] = [
    ("002", [1, 1, 4, 7], [24, 56, 152, 368], 8), ("004", [1, 3, 6, 6], [48, 104, 208, 440], 8),
    ("006", [1, 3, 7, 4], [48, 112, 256, 608], 16), ("008", [1, 3, 8, 2], [64, 128, 320, 768], 16),
    ("008_tv", [1, 3, 8, 2], [64, 144, 320, 784], 16), ("016", [2, 6, 17, 2], [48, 120, 336, 888], 24),
    ("032", [2, 5, 13, 1], [72, 216, 576, 1512], 24), ("040", [2, 6, 12, 2], [128, 192, 512, 1088], 64),
    ("064", [2, 7, 14, 2], [144, 288, 576, 1296], 72), ("080", [2, 4, 10, 1], [168, 448, 896, 2016], 56),
    ("120", [2, 5, 11, 1], [224, 448, 896, 2240], 112), ("160", [2, 4, 11, 1], [224, 448, 1232, 3024], 112),
  ]

  private static func regNet(
    _ net: inout NetworkBuilder, _ blocks: [Int], _ widths: [Int], groupWidth: Int
  ) {
    var x = net.convolution(
      "stem.conv", net.image, kernel: 3, stride: 2, channels: 32, norm: "stem.bn", .relu)
    x = net.mark("stem", x)
    for (stage, (count, width)) in zip(blocks, widths).enumerated() {
      for block in 0..<count {
        let name = "s\(stage + 1).b\(block + 1)"
        let stride = block == 0 ? 2 : 1
        let hidden = Int((Double(net.shape(x).channels) * 0.25).rounded(.toNearestOrEven))
        let shortcut =
          block > 0
          ? x
          : net.convolution(
            "\(name).downsample.conv", x, kernel: 1, stride: stride, channels: width,
            norm: "\(name).downsample.bn")
        var y = net.linear("\(name).conv1.conv", x, channels: width, norm: "\(name).conv1.bn", .relu)
        y = net.convolution(
          "\(name).conv2.conv", y, kernel: 3, stride: stride, groups: width / groupWidth, channels: width,
          norm: "\(name).conv2.bn", .relu)
        y = net.gate("\(name).se", y, layers: .fc, hidden: hidden, .relu, gate: .sigmoid)
        y = net.linear("\(name).conv3.conv", y, channels: width, norm: "\(name).conv3.bn")
        x = net.mark(name, net.activation(.relu, net.add(y, shortcut)), stage: stage)
      }
    }
    net.pool(x)
    net.classifier = "head.fc"
  }
}
