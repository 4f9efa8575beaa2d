import Files
import Foundation
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import ImageCodecs

/// DICOM files of several frames, and files of several pictures, through whole commands.
@Suite struct FrameCommandTests {
  private let folder = TemporaryFolder()

  /// With the constants of preprocessing.
  private var model: String {
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    return folder.path + "/model"
  }

  private func copy(_ name: String, to other: String) throws -> String {
    folder.write(try Fixtures.read("formats/\(name)"), to: other)
  }

  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  private func ages(_ text: String) throws -> [String: Double?] {
    var ages: [String: Double?] = [:]
    for object in try objects(text) {
      let metadata = try #require(object["metadata"] as? [String: Any])
      ages[(try #require(object["image"] as? String) as NSString).lastPathComponent] =
        metadata["age"] as? Double
    }
    return ages
  }

  @Test func eachFrameIsAnImageOfItsOwn() throws {
    let path = try copy("dicom_three_native.dcm", to: "a.dcm")
    let all = runTool("classify", path, "--format", "json")
    let results = try objects(all.output)
    #expect(results.compactMap { $0["image"] as? String } == (1...3).map { "\(path)#\($0)" }, "\(all.errors)")
    #expect(Set(results.compactMap { $0["imageSHA256"] as? String }) == [SHA256.hexDigest(try bytes(path))])
    #expect(Set(results.map { "\($0["probabilities"] ?? "")" }).count == 3)
    let second = runTool("classify", "\(path)#2", "--format", "json")
    #expect(second.output == all.output.split(separator: "\n")[1] + "\n")
    let csv = runTool("classify", folder.path, "--format", "csv").output.split(separator: "\n")
    #expect(csv.count == 4 && csv[2].hasPrefix("a#2,"), "\(csv)")
    for (name, reason) in [
      ("a.dcm#4", "the DICOM holds 3 frames, and frame 4 was asked for"), ("a.dcm#0", "a.dcm#0"),
    ] {
      let result = runTool("classify", "\(folder.path)/\(name)")
      #expect(result.status == .failure && result.errors.contains(reason), "\(result.errors)")
    }
    // Standard input has no frames that could be named.
    let piped = runTool("classify", "-", input: try bytes(path))
    #expect(piped.status == .failure && piped.errors.contains("the DICOM holds 3 frames"), "\(piped.errors)")
  }

  private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

  @Test func aFileThatIsTrulyNamedSoGoesBeforeAFrame() throws {
    let path = try copy("dicom_three_native.dcm", to: "a.dcm")
    let other = try copy("dicom_explicit.dcm", to: "a.dcm#2")
    let named = runTool("classify", other, "--format", "json")
    #expect(try objects(named.output)[0]["imageSHA256"] as? String == SHA256.hexDigest(try bytes(other)))
    let all = runTool("classify", path, "--format", "json")
    #expect(try objects(all.output).compactMap { $0["image"] as? String } == ["\(path)#1", "\(path)#3"])
    #expect(all.errors.contains("its frame 2 has the name of another file"), "\(all.errors)")
  }

  /// A row of the file belongs to all its frames; a row of a frame to it alone.
  @Test func rowsAreOfFilesAndOfFrames() throws {
    let path = try copy("dicom_three_native.dcm", to: "a.dcm")
    _ = try copy("dicom_three_jpeg_table.dcm", to: "b.dcm")
    for names in [("a", "a#2", "b.dcm#1"), ("a.dcm", "a.dcm#2", "b#1"), ("a", "A.DCM#2", "B#1")] {
      let table = folder.write("image_id,age\n\(names.0),40\n\(names.1),50\n\(names.2),60\n", to: "t.csv")
      let result = runTool("classify", folder.path, "--metadata", table, "--format", "json")
      let found = try ages(result.output)
      let expected: [String: Double?] = [
        "a.dcm#1": 40, "a.dcm#2": 50, "a.dcm#3": 40, "b.dcm#1": 60, "b.dcm#2": nil, "b.dcm#3": nil,
      ]
      #expect(found == expected, "\(names): \(result.errors)")
      let one = runTool("classify", "\(path)#3", "--metadata", table, "--format", "json")
      #expect(try ages(one.output) == ["a.dcm#3": 40])
    }
  }

  @Test func framesAreEvaluatedByTheirLabels() throws {
    _ = try copy("dicom_three_native.dcm", to: "photographs/a.dcm")
    _ = try copy("dicom_explicit.dcm", to: "photographs/c.dcm")
    let labels = folder.write("image_id,dx\na,nv\na#2,mel\nc,bcc\n", to: "l.csv")
    let table = folder.path + "/p.csv"
    let result = runTool(
      "evaluate", "--labels", labels, "--images", folder.path + "/photographs", "--format", "json",
      "--predictions", table)
    let report = try #require(objects(result.output).first)
    #expect(report["listed"] as? Int == 4, "\(result.output) \(result.errors)")
    let rows = try #require(folder.text(of: "p.csv")).split(
      separator: "\n")
    #expect(
      rows.dropFirst().map { $0.split(separator: ",").prefix(2).joined(separator: " ") }
        == ["a#1 nv", "a#3 nv", "a#2 mel", "c bcc"], "\(rows)")
  }

  @Test func otherCommandsTakeFramesToo() throws {
    let path = try copy("dicom_three_native.dcm", to: "a.dcm")
    let embedded = runTool("embed", path, "--output", folder.path + "/e.npy", "--ids", folder.path + "/n.csv")
    #expect(embedded.status == .success, "\(embedded.errors)")
    let frame = runTool(
      "preprocess", "\(path)#3", "--stage", "decoded", "--output", folder.path + "/p.npy", "--model", model)
    #expect(frame.status == .success, "\(frame.errors)")
    let whole = runTool(
      "preprocess", path, "--stage", "decoded", "--output", folder.path + "/q.npy", "--model", model)
    #expect(whole.status == .failure && whole.errors.contains("ask for FILE#1 to FILE#3"), "\(whole.errors)")
    let report = runTool("report", path, "--output", folder.path + "/r.html")
    #expect(report.status == .success, "\(report.errors)")
    let page = try #require(folder.text(of: "r.html"))
    #expect((1...3).allSatisfy { page.contains("a.dcm#\($0)") })
    let heatmaps = runTool("gradcam", path, "--output", folder.path + "/maps")
    #expect(heatmaps.status == .success, "\(heatmaps.errors)")
    #expect((1...3).allSatisfy { folder.contents(of: "maps/a#\($0)-gradcam.png") != nil })
  }

  /// The first picture is taken, and every output says how many there are.
  @Test func severalPicturesAndProfilesAreSaid() throws {
    let path = try copy("jpeg_pictures_p3.mpo", to: "a.mpo")
    let result = try #require(objects(runTool("classify", path, "--format", "json").output).first)
    let warnings = try #require(result["warnings"] as? [String])
    #expect(warnings.contains("several_pictures") && warnings.contains("color_profile"))
    #expect(
      result["warningDetails"] as? [String: String]
        == ["several_pictures": "3", "color_profile": "Display P3"])
    let sentences = [
      "The image file holds 3 pictures; only the first was looked at.",
      "The image file's colours are of the profile Display P3, not sRGB;",
    ]
    let text = runTool("classify", path).output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    for sentence in sentences { #expect(text.contains(sentence), "\(text)") }
    let csv = runTool("classify", path, "--format", "csv")
    #expect(csv.output.contains("several_pictures color_profile"))
    #expect(
      csv.errors == "Note: 1 image file holds several pictures, of which only the first was looked at.\n",
      "\(csv.errors)")
    let decoded = runTool(
      "preprocess", path, "--stage", "decoded", "--output", folder.path + "/p.npy", "--model", model)
    for sentence in sentences { #expect(decoded.errors.contains(sentence), "\(decoded.errors)") }
    for (language, part) in [("en", sentences[0]), ("de", "enthält 3 Bilder"), ("fr", "contient 3 images")] {
      _ = runTool("report", path, "--language", language, "--output", folder.path + "/r.html")
      let page = try #require(folder.text(of: "r.html"))
      #expect(page.contains(part) && page.contains("Display P3"), "\(language)")
    }
  }

  /// A phone's folder: films and notes are counted with the first of them, and so is what is there twice.
  @Test func whatAFolderHoldsBesideAndTwiceIsCounted() throws {
    let photographs = folder.path + "/phone"
    _ = try copy("png_p3.png", to: "phone/IMG_1.PNG")
    _ = try copy("png_p3.png", to: "phone/sub/IMG_1 copy.PNG")
    _ = try copy("jpeg_p3.jpg", to: "phone/IMG_2.MOV")
    let film: [UInt8] = [0, 0, 0, 0x14] + Array("ftypqt  ".utf8) + [UInt8](repeating: 0, count: 5000)
    for name in ["IMG_1.MOV", "IMG_3.mp4", "IMG_4.MOV"] { folder.write(film, to: "phone/" + name) }
    folder.write("<plist/>", to: "phone/IMG_1.AAE")
    folder.write("a text", to: "phone/notes.txt")
    // As long as another one, and another picture.
    let size = try bytes(photographs + "/IMG_1.PNG").count
    folder.write([UInt8](repeating: 7, count: size), to: "phone/IMG_9.png")
    let result = runTool("classify", photographs, "--format", "json")
    let note = """
      Note: left out of the folders: 2 .mov, 1 .aae and 1 .mp4 files that phones and cameras put beside photographs (the first: \
      \(photographs)/IMG_1.AAE); 1 file is a copy of another, bit for bit (\(photographs)/sub/IMG_1 copy.PNG of \
      \(photographs)/IMG_1.PNG), and is looked at all the same.
      """
    #expect(result.errors.contains(note), "\(result.errors)")
    #expect(try objects(result.output).count == 3)
    #expect(!runTool("classify", photographs, "--quiet").errors.contains("copy of another"))
    let images = try FolderImages(photographs)
    #expect(images.leftOut.copyWords?.hasPrefix("1 file is a copy") == true)
  }
}
