import ImagePipeline
import TestFiles
import TestImages
import Testing

@testable import Commands
@testable import DermaFusion

@Suite struct DuplicatesCommandTests {
  let folder = TemporaryFolder()
  static let images = (0..<3).map { PixelImage.spots(width: 160, height: 120, seed: 40 + $0) }
  private static var scores: Regex<Substring> { /0\.9\d+/ }

  /// Two copies of the first picture in two folders, two of the second in one, and the third alone.
  private func writeFolders() {
    let images = Self.images
    folder.write(images[0].pnm, to: "a/x.ppm")
    folder.write(images[1].pnm, to: "a/y.ppm")
    folder.write(images[2].pnm, to: "a/z.ppm")
    folder.write(images[0].mirrored.resized(width: 70, height: 52).pnm, to: "b/far, away.ppm")
    folder.write(images[1].cut(left: 16, top: 0, width: 144, height: 108).pnm, to: "a/y2.ppm")
  }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  @Test func groupsWithinAndBetweenFoldersInEveryForm() throws {
    writeFolders()
    let (a, b) = (path("a"), path("b"))
    let text = runTool("duplicates", a, b)
    #expect(text.status == .success && text.errors == "")
    #expect(
      text.output.replacing(Self.scores, with: "0.9") == """
        5 of 5 images compared: 2 groups of near copies.

        Group 1
          0.9  \(a)/x.ppm
          0.9  \(b)/far, away.ppm

        Group 2
          0.9  \(a)/y.ppm
          0.9  \(a)/y2.ppm

        \(Wording.disclaimer)

        """)
    let table = runTool("duplicates", a, b, "--format", "csv")
    #expect(
      table.output.replacing(Self.scores, with: "0.9") == """
        group,image_id,image,score,source
        1,x,\(a)/x.ppm,0.9,given
        1,"far, away","\(b)/far, away.ppm",0.9,given
        2,y,\(a)/y.ppm,0.9,given
        2,y2,\(a)/y2.ppm,0.9,given

        """)
    let json = runTool("duplicates", b, a, "--format", "json")
    func image(_ path: String) -> String { #"{"image":"\#(path)","score":0.9,"source":"given"}"# }
    #expect(
      json.output.replacing(Self.scores, with: "0.9") == """
        {"schemaVersion":2,"listed":5,"compared":5,"model":null,"groups":[\
        {"score":0.9,"images":[\(image("\(b)/far, away.ppm")),\(image("\(a)/x.ppm"))]},\
        {"score":0.9,"images":[\(image("\(a)/y.ppm")),\(image("\(a)/y2.ppm"))]}],\
        "disclaimer":"\(Wording.disclaimer)"}

        """)
  }

  @Test func withoutCopiesThereIsNoGroup() {
    writeFolders()
    let result = runTool("duplicates", path("a/x.ppm"), path("a/y.ppm"), "--format", "json")
    #expect(result.status == .success)
    #expect(result.output.contains(#""compared":2,"model":null,"groups":[],"#))
    #expect(runTool("duplicates", path("b")).output.hasPrefix("1 of 1 images compared: no near copies.\n"))
    #expect(
      runTool("duplicates", path("b"), "--format", "csv").output == "group,image_id,image,score,source\n")
  }

  @Test func anImageThatFailsIsNamedAndTheOthersAreCompared() {
    writeFolders()
    let text = folder.write("hello", to: "text.ppm")
    let result = runTool("duplicates", path("b"), text, path("none.png"), path("a/x.ppm"), "--format", "csv")
    #expect(result.status == .failure)
    let errors = result.errors.split(separator: "\n")
    #expect(errors.count == 2 && errors.first?.hasPrefix("Error: \(text): not a PNG") == true, "\(errors)")
    #expect(errors.last == "Error: \(path("none.png")): no such file or folder")
    #expect(result.output.split(separator: "\n").count == 3)
    #expect(runTool("duplicates", text).output == "")
  }

  /// A file that is named twice is one file. Its copy with another name is another.
  @Test func aFileIsNoCopyOfItself() {
    writeFolders()
    let x = path("a/x.ppm")
    let result = runTool("duplicates", x, path("a/../a/x.ppm"), x, "--against", path("a"), "--format", "json")
    #expect(result.output.contains(#""listed":4,"compared":4,"#) && result.output.contains(#""groups":[]"#))
    let copy = folder.write(Self.images[0].pnm, to: "copy.ppm")
    #expect(
      runTool("duplicates", x, copy, "--format", "csv").output.hasSuffix(
        "1,x,\(x),1.0000,given\n1,copy,\(copy),1.0000,given\n"))
  }

  /// Copies inside the other folder are that folder's own affair.
  @Test func againstAFolder() {
    writeFolders()
    let table = runTool("duplicates", path("b"), "--against", path("a"), "--format", "csv")
    #expect(table.status == .success && table.errors == "")
    #expect(
      table.output.replacing(Self.scores, with: "0.9") == """
        group,image_id,image,score,source
        1,"far, away","\(path("b"))/far, away.ppm",0.9,given
        1,x,\(path("a"))/x.ppm,0.9,against

        """)
    let missing = runTool("duplicates", path("b"), "--against", path("none"))
    #expect(
      missing.status == .failure && missing.errors == "Error: \(path("none")): no such file or folder\n")
    #expect(missing.output == "")
  }

  /// It is no image, so it is not counted, and nothing is compared with it.
  @Test func aFolderWithoutImagesIsAnError() {
    writeFolders()
    folder.write("a note", to: "empty/note.txt")
    let against = runTool("duplicates", path("b"), "--against", path("empty"))
    #expect(against.status == .failure && against.output == "", "\(against.output)")
    #expect(
      against.errors.hasPrefix("Error: \(path("empty")): the folder holds no image"), "\(against.errors)")
    let among = runTool("duplicates", path("a"), path("empty"), path("b"))
    #expect(among.status == .failure)
    #expect(among.output.hasPrefix("5 of 5 images compared: 2 groups"), "\(among.output)")
    #expect(among.errors == against.errors)
  }

  // MARK: - Models

  @Test func againstTheFingerprintsOfAModel() throws {
    writeFolders()
    folder.write("{}", to: "model/config.json")
    let list = folder.write(
      "image_id,lesion_id,split\nz,L3,training\nlost,L9,training\nx,L1,validation\n",
      to: "model/training/split.csv")
    let written = runTool("duplicates", path("a"), "--fingerprints", list)
    #expect(written.status == .success && written.output == "")
    #expect(
      written.errors == """
        Note: no image belongs to 1 of 3 rows of \(list), the first of them 'lost'; no copy of it will be found.

        """)
    #expect(folder.contents(of: "model/training/fingerprints.bin")?.count == 32 * 4)

    let result = runTool("duplicates", path("b"), path("a/y.ppm"), "--against", path("model"))
    #expect(result.status == .success)
    #expect(
      result.output.replacing(Self.scores, with: "0.9").hasPrefix(
        """
        2 of 2 images compared: 1 group of near copies.
        1 image is a near copy of photographs that the model was made from: 1 validation.

        Group 1
          0.9  \(path("b"))/far, away.ppm
          0.9  x  (validation)

        """))
    let json = runTool("duplicates", path("b"), "--against", path("model"), "--format", "json")
    #expect(json.output.contains(#""model":{"folder":"\#(path("model"))","photographs":2}"#))

    // A model in 8 bits has the same list, and the fingerprints of the folder above.
    folder.write("{}", to: "model/int8/config.json")
    folder.write(
      try #require(folder.contents(of: "model/training/split.csv")), to: "model/int8/training/split.csv")
    let small = runTool("duplicates", path("b"), "--against", path("model/int8"), "--format", "csv")
    #expect(small.output.contains(",x,x,") && small.output.contains(",validation\n"), "\(small.errors)")
  }

  @Test func aModelWithoutFingerprintsIsOneClearLine() {
    writeFolders()
    folder.write("{}", to: "model/config.json")
    let result = runTool("duplicates", path("b"), "--against", path("model"))
    result.expect(
      .failure,
      whole: """
        Error: \(path("model")): the model has no fingerprints of the photographs that it was trained on \
        (training/fingerprints.bin), so the program cannot tell which of these it has seen

        """)
  }

  @Test func fingerprintsOfAnotherListAreRefused() {
    writeFolders()
    folder.write("{}", to: "model/config.json")
    let list = folder.write("image_id,lesion_id,split\nz,L3,training\n", to: "model/training/split.csv")
    #expect(runTool("duplicates", path("a"), "--fingerprints", list).status == .success)
    folder.write("image_id,lesion_id,split\nz,L3,training\nx,L3,training\n", to: "model/training/split.csv")
    let result = runTool("duplicates", path("b"), "--against", path("model"))
    result.expect(.failure, part: "it does not hold a fingerprint for each of the 2 rows of \(list)")
  }

  @Test func fingerprintsAreWrittenOfAllImagesOrNotAtAll() {
    writeFolders()
    let list = folder.write("image_id,split\nx,training\n", to: "list/split.csv")
    let text = folder.write("hello", to: "a/text.ppm")
    let failed = runTool("duplicates", path("a"), "--fingerprints", list)
    #expect(failed.status == .failure && failed.errors.hasPrefix("Error: \(text): not a PNG"))
    folder.write(Self.images[2].pnm, to: "c/x.ppm")
    let twice = runTool("duplicates", path("a/x.ppm"), path("c"), "--fingerprints", list)
    #expect(
      twice.status == .failure
        && twice.errors.contains("has the same name, so the row of 'x' could be either's"))
    #expect(runTool("duplicates", "a", "--fingerprints", list, "--against", "b").status == .usage)
    #expect(folder.contents(of: "list/fingerprints.bin") == nil)

    // A list that names the folder of the copy that was used.
    let copies = [path("a/x.ppm"), path("c"), "--fingerprints"]
    var written: [[UInt8]?] = []
    for name in ["a", "c"] {
      let list = folder.write("image_id,folder,split\nx,\(name),training\n", to: "\(name)-list/split.csv")
      #expect(runTool(words: ["duplicates"] + copies + [list]).status == .success)
      written.append(folder.contents(of: "\(name)-list/fingerprints.bin"))
    }
    #expect(written[0]?.count == 64 && written[1]?.count == 64 && written[0] != written[1])
  }
}
