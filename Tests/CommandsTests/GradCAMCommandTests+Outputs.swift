import Foundation
import Testing

@testable import Commands

/// The places of the files.
extension GradCAMCommandTests {
  @Test func theImageIsNeverOverwritten() throws {
    let before = folder.contents(of: "light.ppm")
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: "\(folder.path)/symbolic.png", withDestinationPath: "light.ppm")
    try manager.linkItem(atPath: image, toPath: "\(folder.path)/hard.png")
    for path in [
      image, "\(folder.path)/./light.ppm", "\(folder.path)/symbolic.png", "\(folder.path)/hard.png",
    ] {
      for (result, option) in [
        (explain(picture: path), "--output <overlay.png>"), (explain("--raw", path), "--raw <map.npy>"),
      ] {
        result.expect(.usage, "Error: '\(path)' is the image itself, and '\(option)' would replace it.\n")
      }
    }
    #expect(folder.contents(of: "light.ppm") == before)
    #expect(folder.contents(of: "out.png") == nil)
  }

  @Test func theTableIsNeverOverwritten() {
    let rows = "image_id,age,sex,localization\nlight,61,female,neck\n"
    let table = folder.write(rows, to: "patients.csv")
    let result = explain("--metadata", table, picture: "\(folder.path)/./patients.csv")
    result.expect(
      .usage,
      "Error: '\(folder.path)/./patients.csv' is the table of metadata, and '--output <overlay.png>' would "
        + "replace it.\n")
    #expect(folder.contents(of: "patients.csv") == Array(rows.utf8))
  }

  @Test func picturesOfSeveralImagesHaveNamesOfTheirOwn() throws {
    let bytes = try #require(folder.contents(of: "light.ppm"))
    let names = ["a/light.ppm", "b/light-2.ppm"].map { folder.write(bytes, to: $0) }
    let result = explain(words: names, picture: "\(folder.path)/pictures")
    #expect(result.status == .success, "\(result.errors)")
    let made = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/pictures").sorted()
    #expect(made == ["light-2-gradcam.png", "light-3-gradcam.png", "light-gradcam.png"])
  }

  /// A picture that is there is made again where the array that was asked for is not.
  @Test func resumingMakesTheArrayThatIsMissing() throws {
    let (picture, array) = ("\(folder.path)/out.png", "\(folder.path)/map.npy")
    #expect(explain(picture: picture).status == .success)
    let made = folder.contents(of: "out.png")
    #expect(explain("--raw", array, "--resume", picture: picture).status == .success)
    #expect(folder.contents(of: "map.npy") != nil && folder.contents(of: "out.png") == made)
    folder.write("another picture", to: "out.png")
    #expect(explain("--raw", array, "--resume", picture: picture).status == .success)
    #expect(folder.contents(of: "out.png") == Array("another picture".utf8), "both are there")
  }

  @Test func onePictureGoesIntoAFolder() throws {
    try FileManager.default.createDirectory(atPath: "\(folder.path)/there", withIntermediateDirectories: true)
    let result = explain(picture: "\(folder.path)/there")
    #expect(result.status == .success, "\(result.errors)")
    #expect(folder.contents(of: "there/light-gradcam.png") != nil)
  }

  @Test func twoOutputsAreTwoFiles() throws {
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/here", withDestinationPath: ".")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/link.npy", withDestinationPath: "here/out.png")
    for path in ["out.png", "./out.png", "here/out.png", "link.npy"].map({ "\(folder.path)/\($0)" }) {
      let result = explain("--raw", path)
      result.expect(
        .usage, "Error: '\(path)' would be written for '--output <overlay.png>' and for '--raw <map.npy>'.\n")
    }
    #expect(folder.contents(of: "out.png") == nil)
    #expect(explain("--raw", "/dev/null", picture: "/dev/null").status == .success)
  }

  @Test(arguments: ["text", "json"])
  func aPictureOnStandardOutputIsNotMixedWithWords(format: String) throws {
    let stream = "\(folder.path)/stream"
    let words = ["--format", format, "--class", "nv"]
    let result = explain(words[0], words[1], words[2], words[3], picture: stream, streams: [stream])
    #expect(result.status == .success)
    #expect(folder.contents(of: "stream") == nil)
    let plain = explain(words[0], words[1], words[2], words[3])
    #expect(result.outputBytes == folder.contents(of: "out.png"))
    #expect(result.errors == plain.output.replacing("\(folder.path)/out.png", with: stream))
    let both = explain("--raw", "other", picture: stream, streams: [stream, "other"])
    #expect(both.status == .usage && both.outputBytes.isEmpty)
  }
}
