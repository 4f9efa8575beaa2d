import Foundation
import Testing

@testable import ImagePipeline

/// Every stage against what `Scripts/dump_fixtures.py` got from Pillow and numpy.
@Suite struct ParityTests {
  private struct Manifest: Decodable {
    var preprocessing: Constants
    var images: [Image]
    var refused: [Refused]
    var variants: [Variant]

    struct Constants: Decodable {
      var size: Int
      var colorConstancy: ColorConstancy
      var mean: [Double]
      var std: [Double]

      struct ColorConstancy: Decodable {
        var method: String
        var p: Double?
        var rounding: String?
      }

      func configuration() throws -> PreprocessingConfiguration {
        var method = PreprocessingConfiguration.ColorConstancy.none
        if colorConstancy.method != "none" {
          let rounding = try #require(
            colorConstancy.rounding.flatMap(PreprocessingConfiguration.Rounding.init(rawValue:)))
          method = .shadesOfGray(p: try #require(colorConstancy.p), rounding: rounding)
        }
        return PreprocessingConfiguration(
          size: size, colorConstancy: method, mean: mean, standardDeviation: std)
      }
    }

    struct Image: Decodable {
      var file: String
      var warnings: [String]
      var stages: [Stage]
      var normalized: Normalized
    }

    struct Stage: Decodable {
      var name: String
      var shape: [Int]
      var rowChecksumOffset: Int
    }

    struct Normalized: Decodable {
      var shape: [Int]
      var indices: [Int]
      var values: [Double]
    }

    struct Refused: Decodable {
      var file: String
      var rule: String
    }

    struct Variant: Decodable {
      var file: String
      var preprocessing: Constants
      var normalized: Normalized
    }
  }

  private static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../ParityFixtures").standardizedFileURL

  private static func bytes(_ file: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: folder.appendingPathComponent(file)))
  }

  private static func manifest() throws -> Manifest {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(
      Manifest.self, from: Data(contentsOf: folder.appendingPathComponent("manifest.json")))
  }

  /// The values of a little-endian uint32 .npy file of version 1.0.
  private static func rowChecksums() throws -> [UInt32] {
    let file = try bytes("row_checksums.npy")
    let start = 10 + Int(file[8]) + Int(file[9]) << 8
    return stride(from: start, to: file.count, by: 4).map { index in
      (0..<4).reduce(UInt32(0)) { $0 | UInt32(file[index + $1]) << UInt32($1 * 8) }
    }
  }

  @Test func everyStageEqualsPillowAndNumpy() throws {
    let manifest = try Self.manifest()
    let checksums = try Self.rowChecksums()
    let preprocessor = Preprocessor(try manifest.preprocessing.configuration())
    #expect(manifest.images.count >= 50)
    for image in manifest.images {
      let result = try preprocessor(ImageDecoder.decode(Self.bytes(image.file)))
      #expect(result.warnings.map(\.rawValue) == image.warnings, "\(image.file)")
      #expect(image.stages.map(\.name) == ["decoded", "cropped", "resized", "constancy"], "\(image.file)")
      for stage in image.stages {
        let actual =
          switch PreprocessingStage(rawValue: stage.name) {
          case .decoded: result.decoded
          case .cropped: result.cropped
          case .resized: result.resized
          default: result.constancy
          }
        #expect([actual.height, actual.width, 3] == stage.shape, "\(image.file), \(stage.name)")
        let rowBytes = actual.width * 3
        let differing = (0..<min(actual.height, stage.shape[0])).first { y in
          crc32(actual.pixels[y * rowBytes..<(y + 1) * rowBytes])
            != checksums[stage.rowChecksumOffset + y]
        }
        if let differing {
          Issue.record("\(image.file): the stage \(stage.name) departs in row \(differing)")
          break
        }
      }
      Self.expectNormalized(result, image.normalized, image.file)
    }
  }

  @Test func everyVariantIsNormalisedAlike() throws {
    let variants = try Self.manifest().variants
    #expect(!variants.isEmpty)
    for variant in variants {
      let preprocessor = Preprocessor(try variant.preprocessing.configuration())
      let result = try preprocessor(ImageDecoder.decode(Self.bytes(variant.file)))
      Self.expectNormalized(result, variant.normalized, "\(variant.file) with \(variant.preprocessing)")
    }
  }

  private static func expectNormalized(
    _ result: PreprocessedImage, _ expected: Manifest.Normalized, _ name: String
  ) {
    #expect([3, result.resized.height, result.resized.width] == expected.shape, "\(name)")
    #expect(expected.indices.count == expected.values.count && expected.values.count >= 40, "\(name)")
    let values = result.normalizedCHW()
    for (index, value) in zip(expected.indices, expected.values)
    where abs(Double(values[index]) - value) > 1e-6 {
      Issue.record("\(name): \(values[index]) instead of \(value) at \(index) of the normalised values")
      return
    }
  }

  @Test func everyBadFileIsRefusedForItsReason() throws {
    let refusals = try Self.manifest().refused
    #expect(refusals.count >= 5)
    for refused in refusals {
      let error = #expect(throws: ImageError.self, "\(refused.file)") {
        try Preprocessor(.standard)(ImageDecoder.decode(Self.bytes(refused.file)))
      }
      let rule =
        switch error {
        case .empty: "empty"
        case .unrecognizedFormat: "unknown type"
        case .truncated: "truncated"
        case .tooSmall: "a side under 32 pixels"
        default: String(describing: error)
        }
      #expect(rule == refused.rule, "\(refused.file)")
    }
  }
}
