import Files
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// The shapes of timm 1.0.31's models of the same names.
@Suite struct ArchitectureTests {
  /// Stem and head channels, then the blocks and the channels of each stage.
  private static let table: [String: (stem: Int, head: Int, blocks: [Int], channels: [Int])] = [
    "b0": (32, 1280, [1, 2, 2, 3, 3, 4, 1], [16, 24, 40, 80, 112, 192, 320]),
    "b1": (32, 1280, [2, 3, 3, 4, 4, 5, 2], [16, 24, 40, 80, 112, 192, 320]),
    "b2": (32, 1408, [2, 3, 3, 4, 4, 5, 2], [16, 24, 48, 88, 120, 208, 352]),
    "b3": (40, 1536, [2, 3, 3, 5, 5, 6, 2], [24, 32, 48, 96, 136, 232, 384]),
    "b4": (48, 1792, [2, 4, 4, 6, 6, 8, 2], [24, 32, 56, 112, 160, 272, 448]),
    "b5": (48, 2048, [3, 5, 5, 7, 7, 9, 3], [24, 40, 64, 128, 176, 304, 512]),
    "b6": (56, 2304, [3, 6, 6, 8, 8, 11, 3], [32, 40, 72, 144, 200, 344, 576]),
    "b7": (64, 2560, [4, 7, 7, 10, 10, 13, 4], [32, 48, 80, 160, 224, 384, 640]),
    "lite0": (32, 1280, [1, 2, 2, 3, 3, 4, 1], [16, 24, 40, 80, 112, 192, 320]),
    "lite1": (32, 1280, [1, 3, 3, 4, 4, 5, 1], [16, 24, 40, 80, 112, 192, 320]),
    "lite2": (32, 1280, [1, 3, 3, 4, 4, 5, 1], [16, 24, 48, 88, 120, 208, 352]),
    "lite3": (32, 1280, [1, 3, 3, 5, 5, 6, 1], [24, 32, 48, 96, 136, 232, 384]),
    "lite4": (32, 1280, [1, 4, 4, 6, 6, 8, 1], [24, 32, 56, 112, 160, 272, 448]),
  ]

  @Test(arguments: ["efficientnet_", "tf_efficientnet_"], table.keys.sorted())
  func efficientNetsHaveTimmsShapes(prefix: String, variant: String) throws {
    let expected = try #require(Self.table[variant])
    let list = try #require(Architecture.named(prefix + variant)).built(with: NetworkBuilder(size: 224)).list
    let channels = list.marks.map { list.shape($0.value).channels }
    #expect((channels.first, channels.last) == (expected.stem, expected.head))
    #expect((0..<7).map { stage in list.marks.count { $0.stage == stage } } == expected.blocks)
    for (mark, channels) in zip(list.marks, channels) {
      if let stage = mark.stage { #expect(channels == expected.channels[stage], "\(mark.name)") }
    }
    var (inputs, sizes, strides): (Int, [[Int]], [[Int]]) = (expected.stem, [], [])
    for (mark, outputs) in zip(list.marks, channels) {
      guard let stage = mark.stage else { continue }
      if sizes.count == stage {
        sizes.append([])
        strides.append([])
      }
      let block = list.operations.map { $0.node }.filter { $0.operation.name.hasPrefix("\(mark.name).") }
      let depthwise = try #require(block.first { $0.operation is Depthwise })
      let window = try #require(depthwise.operation.window)
      sizes[stage].append(window.kernelSize)
      strides[stage].append(window.stride)
      #expect(depthwise.shape.channels == (stage == 0 ? 1 : 6) * inputs, "\(mark.name)")
      #expect(block.contains { $0.operation is Gate } == !variant.hasPrefix("lite"), "\(mark.name)")
      inputs = outputs
    }
    #expect(sizes.map { Set($0) } == [3, 3, 5, 3, 5, 5, 3].map { [$0] })
    #expect(strides.map { $0[0] } == [1, 2, 2, 2, 1, 2, 1])
    #expect(strides.allSatisfy { $0.dropFirst().allSatisfy { $0 == 1 } })
  }

  /// The names of the feature maps and the stages that they end.
  @Test(arguments: [
    (
      "mobilenetv3_small_100", 13,
      ["blocks.0.0", "blocks.1.1", "blocks.2.2", "blocks.3.1", "blocks.4.2", "blocks.5.0"]
    ),
    (
      "mobilenetv3_large_100", 17,
      ["blocks.0.0", "blocks.1.1", "blocks.2.2", "blocks.3.3", "blocks.4.1", "blocks.5.2", "blocks.6.0"]
    ),
    ("resnet18", 10, ["layer1.1", "layer2.1", "layer3.1", "layer4.1"]),
    ("resnet50", 18, ["layer1.2", "layer2.3", "layer3.5", "layer4.2"]),
    (
      "efficientnet_b0", 18,
      ["blocks.0.0", "blocks.1.1", "blocks.2.1", "blocks.3.2", "blocks.4.2", "blocks.5.3", "blocks.6.0"]
    ),
  ])
  func stagesEndWithTheirLastBlocks(name: String, count: Int, ends: [String]) throws {
    let list = try #require(Architecture.named(name)).built(with: NetworkBuilder(size: 224)).list
    #expect(list.marks.count == count)
    #expect(list.stageEnds.map { list.marks[$0].name } == ends)
  }

  /// The network of a `config.json` with another name.
  private func network(_ name: String, stage: Int? = nil, probed: String = "0") throws -> OperationList {
    let abstention = stage.map {
      """
      {"quality":{"minimum_brightness":0,"maximum_brightness":255,"minimum_contrast":0,"minimum_sharpness":0,
        "minimum_structure":0},
       "distance":{"stage":\($0),"threshold":1},"conformal":{"coverage":0.9,"thresholds":[0,0,0,0,0,0,0]},
       "dermoscopy":{"stages":[\(probed)],"threshold":0}}
      """
    }
    let text = StandIn.configuration(size: name.hasPrefix("swin") ? 224 : 40, abstention: abstention)
      .replacing("\"efficientnet_lite2\"", with: "\"\(name)\"")
    return try NetworkBuilder(of: ModelConfiguration(parsing: Array(text.utf8))).list
  }

  @Test func everyNameOfTheTableIsAnArchitecture() throws {
    let names = Architecture.names
    #expect(Set(names).count == names.count)
    for name in names { #expect(try network(name).pooled != nil, "\(name)") }
  }

  @Test(arguments: [
    "efficientnet_b8", "efficientnet_lite5", "resnet35", "EfficientNet_B0", "efficientnet_b0 ",
    "tf_mobilenetv3_small_100", "efficientnet_", "conv1",
  ])
  func anotherNameIsRefusedWithThoseThatThereAre(name: String) {
    let expected = DermaFusionError.unknownArchitecture(name, of: Architecture.names)
    #expect(throws: expected) { try network(name) }
  }

  /// The facts of timm's models of these names.
  @Test(arguments: [
    ("vit_tiny_patch16_224", 12, 192, [2, 2], "blocks.11.norm1"),
    ("vit_large_patch14_reg4_dinov2", 24, 1024, [2, 2], "blocks.23.norm1"),
    ("vit_base_patch16_dinov3", 12, 768, [2, 2], "blocks.11.norm1"),
    ("deit3_medium_patch16_224", 12, 512, [2, 2], "blocks.11.norm1"),
    ("swin_base_patch4_window7_224", 4, 1024, [7, 7], "layers.3.blocks.1.norm2"),
  ])
  func transformersShowTheirTokensOnTheGrid(
    name: String, stages: Int, channels: Int, grid: [Int], explained: String
  ) throws {
    let list = try network(name)
    #expect(list.stageEnds.count == stages)
    #expect(list.shape(try #require(list.pooled)).channels == channels)
    let mark = try #require(list.marks.last { $0.isBranch })
    let shape = mark.grid ?? list.shape(mark.value)
    #expect([shape.height, shape.width] == grid && mark.name == explained)
  }

  @Test func anotherSizeOrPoolingIsRefusedByItsKey() {
    func refusal(_ text: String) -> String {
      let error = #expect(throws: DermaFusionError.self) {
        try NetworkBuilder(of: ModelConfiguration(parsing: Array(text.utf8)))
      }
      return error?.message ?? ""
    }
    let text = StandIn.configuration()
    #expect(
      refusal(text.replacing("\"efficientnet_lite2\"", with: "\"swin_tiny_patch4_window7_224\""))
        == #""size" is 40, and must be a multiple of 224 for swin_tiny_patch4_window7_224"#)
    #expect(
      refusal(text.replacing("\"temperature\"", with: "\"global_pool\": \"token\", \"temperature\""))
        == #""global_pool" is "token", and must be one of avg"#)
  }

  @Test func precisionsAreRefusedByTheNameOfTheNetwork() throws {
    for name in Architecture.names {
      let list = try network(name)
      func refusal(_ precision: Precision) -> String? {
        Architecture.refusal(of: precision, name, list)?.description
      }
      let isQuantized =
        name.hasPrefix("mobilenetv3") || name.contains("efficientnet_b") || name.contains("_lite")
      #expect((refusal(.int8) == nil) == isQuantized, "\(name)")
      #expect(refusal(.int8)?.hasSuffix("this network is \(name)") != false)
      // Their convolutions are of 3x3, or have strides.
      #expect((refusal(.bfloat16) == nil) == !["resnet18", "resnet34"].contains(name), "\(name)")
      #expect(refusal(.bfloat16)?.contains("\(name) has none") != false)
      #expect(refusal(.float32) == nil, "\(name)")
    }
  }

  /// Blocks and channels of each stage, and marks, of timm 1.0.31.
  @Test(arguments: [
    ("efficientnetv2_rw_t", [2, 4, 4, 6, 9, 14], [24, 40, 48, 104, 128, 208], 1024),
    ("efficientnetv2_rw_s", [2, 4, 4, 6, 9, 15], [24, 48, 64, 128, 160, 272], 1792),
    ("tf_efficientnetv2_b1", [2, 3, 3, 4, 6, 9], [16, 32, 48, 96, 112, 192], 1280),
    ("tf_efficientnetv2_b3", [2, 3, 3, 5, 7, 12], [16, 40, 56, 112, 136, 232], 1536),
    ("tf_efficientnetv2_l", [4, 7, 7, 10, 19, 25, 7], [32, 64, 96, 192, 224, 384, 640], 1280),
    ("resnet101d", [3, 4, 23, 3], [256, 512, 1024, 2048], 2048),
    ("resnext50_32x4d", [3, 4, 6, 3], [256, 512, 1024, 2048], 2048),
    ("regnety_016", [2, 6, 17, 2], [48, 120, 336, 888], 888),
    ("densenet121", [1, 1, 1, 1], [256, 512, 1024, 1024], 1024),
    ("mobilenetv4_conv_small", [2, 2, 6, 6, 1], [32, 64, 96, 128, 960], 1280),
    ("mobilenetv4_conv_medium", [1, 2, 8, 11, 1], [48, 80, 160, 256, 960], 1280),
    ("convnext_nano", [2, 2, 8, 2], [80, 160, 320, 640], 640),
    ("convnextv2_base", [3, 3, 27, 3], [128, 256, 512, 1024], 1024),
  ])
  func familiesHaveTimmsShapes(name: String, blocks: [Int], channels: [Int], features: Int) throws {
    let list = try network(name)
    #expect(blocks.indices.map { stage in list.marks.count { $0.stage == stage } } == blocks)
    #expect(list.stageEnds.map { list.shape(list.marks[$0].value).channels } == channels)
    #expect(list.shape(try #require(list.pooled)).channels == features)
  }

  @Test(arguments: [
    "resnet18": 4, "mobilenetv3_small_100": 6, "mobilenetv3_large_100": 7, "efficientnet_b0": 7,
  ])
  func abstentionLooksAtAStageThatThereIs(name: String, count: Int) throws {
    _ = try network(name, stage: count - 1)
    let expected = DermaFusionError.outOfRange(
      key: "abstention.distance.stage", value: "\(count)", rule: "an integer in 0...\(count - 1)")
    #expect(throws: expected) { try network(name, stage: count) }
    _ = try network(name, stage: 0, probed: "0, \(count - 1)")
    let probe = DermaFusionError.outOfRange(
      key: "abstention.dermoscopy.stages[1]", value: "\(count)", rule: "an integer in 0...\(count - 1)")
    #expect(throws: probe) { try network(name, stage: 0, probed: "0, \(count)") }
  }

  /// A model's folder with an architecture that does not exist ends in one line that names the file.
  @Test func anUnknownArchitectureIsAnErrorOfTheFile() throws {
    var (configuration, weights) = try LightDetector.files(classes: ["a", "b"], rising: 0, falling: 1)
    configuration = Array(
      String(decoding: configuration, as: UTF8.self).replacing("efficientnet_lite0", with: "resnet200d").utf8)
    let error = #expect(throws: DermaFusionError.self) {
      try Classifier(configuration: configuration, weights: weights)
    }
    #expect(error?.code == .invalidModel)
    let message = error?.message ?? ""
    #expect(message.hasPrefix(#"config.json: "architecture" is "resnet200d", which is not one of the "#))
    #expect(message.contains("the nearest are resnet152d, resnet101d, resnet50d"))
  }
}
