import Files
import KernelInterface
import TensorModule

/// Vision transformers: ViT (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2020, table 1), DeiT and DeiT III
/// (Touvron et al., 2020 and 2022), DINOv2 without and with registers (Oquab et al., 2023; Darcet et al., 2023) and DINOv3
/// (Siméoni et al., 2025), as timm's `vision_transformer.py`, `deit.py` and `eva.py` have them.
extension Architecture {
  /// Channels, heads and blocks.
  private typealias Size = (name: String, channels: Int, heads: Int, depth: Int)

  private static let sizes: [Size] = [
    ("tiny", 192, 3, 12), ("small", 384, 6, 12), ("medium", 512, 8, 12), ("base", 768, 12, 12),
    ("large", 1024, 16, 24),
  ]

  /// The differences of a family.
  private struct Form {
    let patch: Int
    var registerCount = 0
    /// True if each branch is scaled by a parameter for each channel.
    var hasScales = false
    /// False if the class token has no position.
    var embedsClass = true
    /// True if attention turns queries and keys by their places, and no positions are added.
    var isRotary = false
  }

  static let visionTransformers: [Architecture] = {
    let plain = Form(patch: 16)
    let deit3 = Form(patch: 16, hasScales: true, embedsClass: false)
    let dinov2 = Form(patch: 14, hasScales: true)
    let registers = Form(patch: 14, registerCount: 4, hasScales: true, embedsClass: false)
    let dinov3 = Form(patch: 16, registerCount: 4, hasScales: true, isRotary: true)
    let small = ["small", "base", "large"]
    return family("vit", ["tiny"] + small, plain, "_patch16_224")
      + family("vit", ["tiny"] + small, plain, "_patch16_384")
      + family("vit", ["small", "base"], Form(patch: 32), "_patch32_224")
      + family("vit", ["base"], Form(patch: 8), "_patch8_224")
      + family("deit", ["tiny", "small", "base"], plain, "_patch16_224")
      + family("deit", ["base"], plain, "_patch16_384")
      + family("deit3", ["small", "medium", "base", "large"], deit3, "_patch16_224")
      + family("deit3", small, deit3, "_patch16_384")
      + family("vit", small, dinov2, "_patch14_dinov2")
      + family("vit", small, registers, "_patch14_reg4_dinov2")
      + family("vit", small, dinov3, "_patch16_dinov3")
  }()

  private static func family(
    _ prefix: String, _ names: [String], _ form: Form, _ ending: String
  ) -> [Architecture] {
    sizes.filter { names.contains($0.name) }.map { size in
      Architecture(
        name: "\(prefix)_\(size.name)\(ending)",
        poolings: form.isRotary ? [.average, .token] : [.token, .average]
      ) {
        visionTransformer(&$0, size, form)
      }
    }
  }

  private static func visionTransformer(_ net: inout NetworkBuilder, _ size: Size, _ form: Form) {
    var x = net.convolution(
      "patch_embed.proj", net.image, kernel: form.patch, stride: form.patch, padding: .symmetric(0),
      channels: size.channels, bias: true)
    x = net.mark("patch_embed", x)
    let grid = net.shape(x)
    let first = [(name: "cls_token", count: 1), (name: "reg_token", count: form.registerCount)]
      .filter { $0.count > 0 }
    let firstCount = 1 + form.registerCount
    x = net.tokens(
      x, first: first, positions: form.isRotary ? nil : "pos_embed",
      embedsFirst: form.embedsClass && !form.isRotary)
    let epsilon = form.isRotary ? 1e-5 : 1e-6
    for block in 0..<size.depth {
      let name = "blocks.\(block)"
      let scales = form.isRotary ? ("gamma_1", "gamma_2") : ("ls1.gamma", "ls2.gamma")
      var y = net.layerNorm("\(name).norm1", x, epsilon: epsilon)
      y = net.mark("\(name).norm1", y, isBranch: true, grid: grid)
      y = net.attention(
        "\(name).attn", y, heads: size.heads, rotary: form.isRotary ? (firstCount, grid) : nil)
      if form.hasScales { y = net.scale("\(name).\(scales.0)", y) }
      x = net.add(x, y)
      y = net.perceptron("\(name).mlp", net.layerNorm("\(name).norm2", x, epsilon: epsilon))
      if form.hasScales { y = net.scale("\(name).\(scales.1)", y) }
      x = net.mark(name, net.add(x, y), stage: block, grid: grid)
    }
    let pixels = firstCount..<firstCount + grid.pixelCount
    if net.pooling == .token {
      net.features(net.layerNorm("norm", net.mean(x, rows: 0..<1), epsilon: epsilon))
    } else if form.isRotary {
      net.features(net.mean(net.layerNorm("norm", x, epsilon: epsilon), rows: pixels))
    } else {
      net.features(net.layerNorm("fc_norm", net.mean(x, rows: pixels)))
    }
    net.classifier = "head"
  }
}

extension NetworkBuilder {
  /// Self-attention between two dense layers, `qkv` and `proj`.
  ///
  /// - Parameter rotary: The grid whose tokens turn queries and keys by their places, and the tokens before it. `qkv` then has
  ///   no bias.
  mutating func attention(
    _ name: String, _ x: Value, heads: Int, windows: SelfAttention.Windows? = nil,
    rotary: (firstCount: Int, grid: FeatureShape)? = nil
  ) -> Value {
    let channels = shape(x).channels
    var y = dense("\(name).qkv", x, channels: 3 * channels, bias: rotary == nil)
    if let rotary { y = rotaryPositions(y, heads: heads, firstCount: rotary.firstCount, grid: rotary.grid) }
    return dense("\(name).proj", selfAttention(y, heads: heads, windows: windows), channels: channels)
  }

  /// Two dense layers, `fc1` to four times the channels and `fc2` back, with GELU between them.
  mutating func perceptron(_ name: String, _ x: Value) -> Value {
    let channels = shape(x).channels
    return dense("\(name).fc2", dense("\(name).fc1", x, channels: 4 * channels, .gelu), channels: channels)
  }
}
