import ModelFiles
@testable import NetworkModule
import Testing

@testable import DermaFusion

/// The shapes of timm 1.0.31's models of the same names.
@Suite struct EfficientNetArchitectureTests {
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
  func shapesAreThoseOfTimm(prefix: String, variant: String) throws {
    let expected = try #require(Self.table[variant])
    let architecture = try #require(EfficientNetArchitecture(named: prefix + variant))
    #expect(architecture.stemChannels == expected.stem)
    #expect(architecture.headChannels == expected.head)
    #expect(architecture.stages.map(\.blockCount) == expected.blocks)
    #expect(architecture.stages.map(\.channels) == expected.channels)
    #expect(architecture.stages.map(\.kernelSize) == [3, 3, 5, 3, 5, 5, 3])
    #expect(architecture.stages.map(\.stride) == [1, 2, 2, 2, 1, 2, 1])
    #expect(architecture.stages.map(\.expansion) == [1, 6, 6, 6, 6, 6, 6])
    #expect(architecture.isLite == variant.hasPrefix("lite"))
  }

  @Test func everyNameThatAConfigurationMayHaveIsHere() {
    let names = Self.table.keys.flatMap { ["efficientnet_\($0)", "tf_efficientnet_\($0)"] }
    #expect(names.sorted() == ModelConfiguration.knownArchitectures.sorted())
  }
}
