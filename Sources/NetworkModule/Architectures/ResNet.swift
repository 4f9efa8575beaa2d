import KernelInterface

/// ResNet-18 and ResNet-50: He et al., "Deep Residual Learning for Image Recognition", 2016, table 1, with the stride in
/// the 3x3 convolution, as timm has them.
extension Architecture {
  static let resNets: [Entry] = [
    ("resnet18", { resNet(.basic, blockCounts: [2, 2, 2, 2]) }),
    ("resnet50", { resNet(.bottleneck, blockCounts: [3, 4, 6, 3]) }),
  ]

  private static func resNet(
    _ kind: ResidualBlock.Configuration.Kind, blockCounts: [Int]
  ) -> Architecture {
    var blocks = [
      Place(
        name: "conv1",
        configuration: .stem(
          .init(norm: "bn1", kernelSize: 7, stride: 2, channels: 64, activation: .relu))),
      Place(name: "maxpool", configuration: .maxPooling(.init(kernelSize: 3, stride: 2))),
    ]
    for (stage, count) in blockCounts.enumerated() {
      for index in 0..<count {
        blocks.append(
          Place(
            name: "layer\(stage + 1).\(index)", stage: stage,
            configuration: .residual(
              .init(kind: kind, width: 64 << stage, stride: stage > 0 && index == 0 ? 2 : 1))))
      }
    }
    return Architecture(blocks: blocks, classifier: "fc")
  }
}
