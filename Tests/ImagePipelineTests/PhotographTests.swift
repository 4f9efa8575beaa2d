import Foundation
import Testing

@testable import ImagePipeline

/// The originals of HAM10000, 600x450 pixels, are not part of the repository: `DERMAFUSION_PHOTOGRAPHS` names a folder with
/// some of them, and without it they are looked for beside the repository.
@Suite struct PhotographTests {
  private static let folder =
    if let path = ProcessInfo.processInfo.environment["DERMAFUSION_PHOTOGRAPHS"] {
      URL(fileURLWithPath: path)
    } else {
      URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../shared/data/ham10000/full600x450").standardizedFileURL
    }

  private static let isThere = FileManager.default.fileExists(atPath: folder.path)

  @Test(.enabled(if: isThere, "DERMAFUSION_PHOTOGRAPHS names no folder of photographs"))
  func everyPhotographIsDecodedAndPreprocessed() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter {
      $0.hasSuffix(".jpg")
    }
    #expect(!files.isEmpty)
    let preprocessor = Preprocessor(.standard)
    for file in files.sorted() {
      let bytes = try [UInt8](Data(contentsOf: Self.folder.appendingPathComponent(file)))
      let image = try ImageDecoder.decode(bytes)
      #expect(image.width == 600 && image.height == 450, "\(file)")
      let preprocessed = try preprocessor(image)
      #expect(preprocessed.warnings == [], "\(file)")
      let normalized = preprocessed.normalizedCHW()
      for index in stride(from: 0, to: normalized.count, by: 997) where abs(normalized[index]) > 2.7 {
        Issue.record("\(file): \(normalized[index]) at \(index)")
      }
    }
  }
}
