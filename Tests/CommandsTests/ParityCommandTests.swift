import Foundation
import ImageCodecs
import ImageFiles
import TestFiles
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import Files

@Suite struct ParityCommandTests {
  let folder = TemporaryFolder()

  /// A folder of fixtures with one drawn image, whose checksums are those of its pixels, and one prediction
  /// of the toy network.
  init() throws {
    let image = pnm(width: 48, height: 48)
    folder.write(image, to: "images/a.ppm")
    let result = try toyClassifier(threadCount: 1, usesMetadata: true)
      .classify(encodedImage: image, metadata: .unknown)
    let pixels = Array(image.suffix(48 * 48 * 3))
    let stage = { (name: String, sha256: String) in
      """
      {"name": "\(name)", "shape": [48, 48, 3], "sha256": "\(sha256)", "rowChecksumOffset": 0, "array": null}
      """
    }
    // SHA-256 of the image's pixels, as its first two stages leave them.
    let sha256 = SHA256.hexDigest(pixels)
    let text = """
      {"formatVersion": 1, "versions": {"pillow": "1.2", "numpy": "3.4"},
       "model": null,
       "preprocessing": {"size": 48, "color_constancy": {"method": "none"}, "mean": [0, 0, 0], "std": [1, 1, 1]},
       "images": [{"file": "images/a.ppm", "warnings": ["small_image"],
         "stages": [\(stage("decoded", sha256)), \(stage("cropped", sha256))],
         "normalized": {"shape": [3, 48, 48], "indices": [0, 2304],
           "values": [\(Double(Float(pixels[0]) / 255)), \(Double(Float(pixels[1]) / 255))]}}],
       "refused": [], "variants": [], "metadata": [], "activations": [],
       "predictions": [{"file": "images/a.ppm", "age": null, "sex": null, "site": null, "vector": [0, 1, 2, 13],
         "logits": \(result.logits.values.map(Double.init)), "probabilities": \(result.probabilities.values.map(Double.init))}]}
      """
    folder.write(text, to: "manifest.json")
    var checksums: [UInt8] = []
    for row in 0..<48 {
      let checksum = CRC32.checksum(pixels[row * 144..<(row + 1) * 144])
      withUnsafeBytes(of: checksum.littleEndian) { checksums += $0 }
    }
    var file = NPYFile.bytes([Float](repeating: 0, count: 48), shape: [48])
    file.replaceSubrange(128..., with: checksums)
    let header = String(decoding: file[..<128], as: UTF8.self).replacing("<f4", with: "<u4")
    file.replaceSubrange(10..<128, with: Array(header.utf8.suffix(118)))
    folder.write(file, to: "row_checksums.npy")
  }

  @Test func fixturesOfNothingAreNoAgreement() {
    let empty = TemporaryFolder()
    empty.write(
      """
      {"formatVersion": 1, "versions": {"pillow": "1.2"}, "model": null,
       "preprocessing": {"size": 48, "color_constancy": {"method": "none"}, "mean": [0, 0, 0], "std": [1, 1, 1]},
       "images": [], "refused": [], "variants": [], "metadata": [], "activations": [], "predictions": []}
      """, to: "manifest.json")
    empty.write(folder.contents(of: "row_checksums.npy")!, to: "row_checksums.npy")
    let result = runTool("parity", "--fixtures", empty.path)
    result.expect(.failure, whole: "Error: \(empty.path): manifest.json lists nothing to compare\n")
  }

  @Test func aTerminalShowsHowFarItIsAndKeepsNothingOfIt() {
    let result = runTool("parity", "--fixtures", folder.path, showsProgress: true)
    #expect(result.status == .success)
    #expect(result.errors.hasPrefix("\r0 of 2 fixtures\u{1B}[K"), "\(result.errors)")
    #expect(result.errors.hasSuffix("\r\u{1B}[K"), "\(result.errors)")
  }

  @Test func fixturesThatAgreeEndWithSuccess() {
    let result = runTool("parity", "--fixtures", folder.path)
    #expect(result.status == .success, "\(result.errors)")
    #expect(result.errors == "")
    #expect(result.output.contains("Fixtures by numpy 3.4, pillow 1.2\n"))
    #expect(
      result.output.contains("\ndecoded                      1          0                           exact\n"))
    #expect(
      result.output.contains("\nlogits                       1          0                  0.0     1.0e-3\n"))
    #expect(result.output.contains("\nEvery stage that was compared agrees.\n"))
    #expect(
      result.output.contains(
        "\nNot compared, since the fixtures hold none: refused, resized, constancy, "),
      "\(result.output)")
    let json = runTool("parity", "--fixtures", folder.path, "--format", "json").output
    #expect(json.contains(#""notCompared":["refused","resized","constancy","#), "\(json)")
    #expect(result.output.contains(Wording.disclaimer))
  }

  @Test func theFirstStageThatDepartsIsNamedAndEndsWithFailure() throws {
    var bytes = pnm(width: 48, height: 48)
    // Row 3, counted from the end of the file.
    bytes[bytes.count - (48 - 3) * 144 + 5] ^= 1
    folder.write(bytes, to: "images/a.ppm")
    let result = runTool("parity", "--fixtures", folder.path, "--format", "json")
    #expect(result.status == .failure)
    #expect(
      result.errors.hasPrefix(
        "Error: the stage 'decoded' departs first: images/a.ppm at row 3: expected CRC-32 "))
    let report = try result.object()
    #expect(report["agrees"] as? Bool == false)
    #expect(report["firstDepartingStage"] as? String == "decoded")
  }

  @Test func fixturesThatCannotBeReadAreNamed() {
    let empty = TemporaryFolder()
    let result = runTool("parity", "--fixtures", empty.path)
    #expect(result.status == .failure)
    #expect(result.errors == "Error: \(empty.path)/manifest.json: no such file or folder\n")
    empty.write("{}", to: "manifest.json")
    #expect(
      runTool("parity", "--fixtures", empty.path).errors
        == "Error: \(empty.path): manifest.json: the key \"formatVersion\" is missing\n")
  }

  @Test func anArrayThatIsDamagedOrMissingIsNamed() throws {
    let text = try #require(folder.text(of: "manifest.json"))
    folder.write(text.replacing("\"array\": null", with: "\"array\": \"a.npy\""), to: "manifest.json")
    let missing = runTool("parity", "--fixtures", folder.path)
    missing.expect(.failure, whole: "Error: \(folder.path)/a.npy: no such file or folder\n")

    folder.write("no array", to: "a.npy")
    let damaged = runTool("parity", "--fixtures", folder.path)
    damaged.expect(.failure, whole: "Error: \(folder.path): a.npy: not a NumPy array file of version 1.0\n")

    var pixels = Array(pnm(width: 48, height: 48).suffix(48 * 48 * 3))
    folder.write(NPYFile.bytes(pixels, shape: [48, 48, 3]), to: "a.npy")
    #expect(runTool("parity", "--fixtures", folder.path).status == .success)
    pixels[144 + 4] ^= 1
    folder.write(NPYFile.bytes(pixels, shape: [48, 48, 3]), to: "a.npy")
    let changed = runTool("parity", "--fixtures", folder.path)
    #expect(changed.status == .failure)
    #expect(
      changed.errors.hasPrefix(
        "Error: the stage 'decoded' departs first: images/a.ppm at [1, 1, 1] of a.npy: expected "))
  }

  @Test func anotherJPEGDecoderThanTheFixturesIsNamed() {
    #expect(ParityOutput.decoderNote(fixtures: nil) == nil)
    #expect(ParityOutput.decoderNote(fixtures: ImageDecoder.jpegLibrary) == nil)
    #expect(
      ParityOutput.decoderNote(fixtures: "libjpeg-turbo 9.9.9")
        == "Here JPEG is decoded by \(ImageDecoder.jpegLibrary), not by the libjpeg-turbo 9.9.9 behind the fixtures."
    )
  }
}
