import Files
import Foundation
import ImagePipeline
import TestImages
import Testing

@testable import ImageCodecs

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

  /// By photograph, SHA-256 of the pixels as decoded and after colour constancy, as Python has them.
  private static func expectedDigests() throws -> [Substring: (decoded: Substring, constancy: Substring)] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../ParityFixtures/photographs.csv")
    let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        let fields = row.split(separator: ",")
        return (fields[0], (fields[1], fields[2]))
      })
  }

  @Test(.enabled(if: isThere, "DERMAFUSION_PHOTOGRAPHS names no folder of photographs"))
  func everyPhotographIsWhatPythonMakesOfIt() throws {
    let digests = try Self.expectedDigests()
    let preprocessor = Preprocessor(.standard)
    var compared = 0
    for file in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted() {
      guard file.hasSuffix(".jpg"), let expected = digests[file.dropLast(4)] else { continue }
      let bytes = try [UInt8](Data(contentsOf: Self.folder.appendingPathComponent(file)))
      let image = try ImageDecoder.decode(bytes)
      #expect(SHA256.hexDigest(image.pixels) == expected.decoded, "\(file), decoded")
      let preprocessed = try preprocessor(image)
      #expect(SHA256.hexDigest(preprocessed.constancy.pixels) == expected.constancy, "\(file), constancy")
      #expect(preprocessed.warnings == [], "\(file)")
      compared += 1
    }
    #expect(compared > 0, "none of the \(digests.count) photographs lies in \(Self.folder.path)")
  }
}
