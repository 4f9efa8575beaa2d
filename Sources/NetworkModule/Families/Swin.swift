import Files
import KernelInterface
import TensorModule

/// Swin Transformer: Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", 2021, section
/// 3.3, as timm's `swin_transformer.py` has it.
extension Architecture {
  static let swins: [Architecture] = [
    swin("tiny", channels: 96, depths: [2, 2, 6, 2], heads: [3, 6, 12, 24]),
    swin("small", channels: 96, depths: [2, 2, 18, 2], heads: [3, 6, 12, 24]),
    swin("base", channels: 128, depths: [2, 2, 18, 2], heads: [4, 8, 16, 32]),
  ]

  private static func swin(_ name: String, channels: Int, depths: [Int], heads: [Int]) -> Architecture {
    // Whole windows of 7 pixels in the last stage, of 32 pixels each.
    Architecture(name: "swin_\(name)_patch4_window7_224", sizeStep: 224) { net in
      let epsilon = 1e-5
      var x = net.convolution(
        "patch_embed.proj", net.image, kernel: 4, stride: 4, padding: .symmetric(0), channels: channels,
        bias: true)
      x = net.mark("patch_embed", net.layerNorm("patch_embed.norm", x, epsilon: epsilon))
      for (stage, depth) in depths.enumerated() {
        let name = "layers.\(stage)"
        if stage > 0 {
          x = net.layerNorm("\(name).downsample.norm", net.mergePatches(x), epsilon: epsilon)
          x = net.dense("\(name).downsample.reduction", x, channels: channels << stage, bias: false)
        }
        for block in 0..<depth {
          let name = "\(name).blocks.\(block)"
          let isShifted = block % 2 == 1 && net.shape(x).height > 7
          let windows = SelfAttention.Windows(
            size: 7, shift: isShifted ? 3 : 0, bias: "\(name).attn.relative_position_bias_table")
          var y = net.layerNorm("\(name).norm1", x, epsilon: epsilon)
          y = net.attention("\(name).attn", y, heads: heads[stage], windows: windows)
          x = net.add(x, y)
          y = net.layerNorm("\(name).norm2", x, epsilon: epsilon)
          y = net.mark("\(name).norm2", y, isBranch: true)
          x = net.mark(name, net.add(x, net.perceptron("\(name).mlp", y)), stage: stage)
        }
      }
      net.features(net.mean(net.layerNorm("norm", x, epsilon: epsilon)))
      net.classifier = "head.fc"
    }
  }
}
