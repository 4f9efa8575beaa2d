import KernelInterface
import TensorModule

/// ConvNeXt: Liu et al., "A ConvNet for the 2020s", 2022, table 9; V2: Woo et al., "ConvNeXt V2", 2023. The networks below `tiny`
/// are timm's in the first and the second paper's in the second version.
extension Architecture {
  static let convNeXts: [Architecture] = ["convnext_", "convnextv2_"].flatMap { prefix in
    let sizes: [(name: String, depths: [Int], widths: [Int])] = [
      ("atto", [2, 2, 6, 2], [40, 80, 160, 320]), ("femto", [2, 2, 6, 2], [48, 96, 192, 384]),
      ("pico", [2, 2, 6, 2], [64, 128, 256, 512]), ("nano", [2, 2, 8, 2], [80, 160, 320, 640]),
      ("tiny", [3, 3, 9, 3], [96, 192, 384, 768]), ("small", [3, 3, 27, 3], [96, 192, 384, 768]),
      ("base", [3, 3, 27, 3], [128, 256, 512, 1024]),
    ]
    return sizes.map { size in
      Architecture(name: prefix + size.name) {
        convNeXt(&$0, size.depths, size.widths, isV2: prefix == "convnextv2_")
      }
    }
  }

  /// timm keeps the linear layers of the networks below `tiny` as 1x1 convolutions.
  private static func convNeXt(
    _ net: inout NetworkBuilder, _ depths: [Int], _ widths: [Int], isV2: Bool
  ) {
    let isConvolutional = depths[2] < 9
    func linear(_ name: String, _ x: Value, channels: Int, _ activation: Activation) -> Value {
      isConvolutional
        ? net.linear(name, x, channels: channels, bias: true, activation)
        : net.dense(name, x, channels: channels, activation)
    }
    var x = net.convolution(
      "stem.0", net.image, kernel: 4, stride: 4, padding: .symmetric(0), channels: widths[0], bias: true)
    x = net.mark("stem", net.layerNorm("stem.1", x))
    for (stage, (depth, width)) in zip(depths, widths).enumerated() {
      if stage > 0 {
        let name = "stages.\(stage).downsample"
        x = net.convolution(
          "\(name).1", net.layerNorm("\(name).0", x), kernel: 2, stride: 2, padding: .symmetric(0),
          channels: width, bias: true)
        x = net.mark(name, x)
      }
      for block in 0..<depth {
        let name = "stages.\(stage).blocks.\(block)"
        var y = net.depthwise("\(name).conv_dw", x, kernel: 7, bias: true)
        y = net.layerNorm("\(name).norm", y)
        y = linear("\(name).mlp.fc1", y, channels: 4 * width, .gelu)
        if isV2 { y = net.responseNorm("\(name).mlp.grn", y) }
        y = linear("\(name).mlp.fc2", y, channels: width, .identity)
        if !isV2 { y = net.scale("\(name).gamma", y) }
        x = net.mark(name, net.add(x, y), stage: stage)
      }
    }
    net.features(net.layerNorm("head.norm", net.mean(x)))
    net.classifier = "head.fc"
  }
}
