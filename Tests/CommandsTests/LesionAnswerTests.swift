import Files
import ImagePipeline
import TestFiles
import TestImages
import Testing

@testable import Commands
@testable import DermaFusion

/// `--by lesion` of `classify` and `evaluate`.
@Suite struct LesionAnswerTests {
  let folder = TemporaryFolder()

  /// Two photographs of the lesion L1, one of which is of one colour; two of L2; and one without a lesion.
  private func writeImages() -> (images: [String], table: String) {
    let files = [
      ("a.ppm", pnm(seed: 3)), ("b.ppm", pnm(seed: 60)), ("c.ppm", pnm(seed: 17)),
      ("d.ppm", PixelImage.solid(width: 60, height: 50, 90, 60, 50).pnm), ("e.ppm", pnm(seed: 110)),
    ]
    let table = folder.write(
      "image_id,lesion_id,age,dx\na,L2,50,nv\nb,L2,50,nv\nc,,,mel\nd,L1,,nv\ne,L1,,nv\n", to: "table.csv")
    return (files.map { folder.write($1, to: $0) }, table)
  }

  private func objects(_ result: ToolResult) throws -> [JSONObject] {
    try result.output.split(separator: "\n").map { line in
      guard case .object(let object) = try JSONParser.parse(Array(line.utf8)) else { return JSONObject() }
      return object
    }
  }

  private func logits(_ object: JSONObject) throws -> [Float] {
    guard case .object(let scores) = try #require(object["logits"]) else { return [] }
    return scores.members.compactMap {
      if case .number(let number) = $0.value { number.double.map { Float($0) } } else { nil }
    }
  }

  @Test func theAnswerFollowsFromTheMeanOfTheLogits() throws {
    let (images, table) = writeImages()
    let words = ["classify"] + images + ["--metadata", table, "--format", "json"]
    let single = runTool(words: words)
    let result = runTool(words: words + ["--by", "lesion"])
    #expect(result.status == .success && single.status == .success)
    let (own, lesions) = (try objects(single), try objects(result))
    try #require(own.count == 5 && lesions.count == 3)
    #expect(lesions.map { $0["lesion"] } == [.string("L2"), .null, .string("L1")])

    let means = zip(try logits(own[0]), try logits(own[1])).map { Float((Double($0) + Double($1)) / 2) }
    #expect(try logits(lesions[0]) == means && means.count == 7)
    #expect(lesions[0]["conformalSet"] == .null && lesions[0]["abstain"] == .bool(false))
    guard case .array(let photographs) = lesions[0]["images"] else { return #expect(Bool(false)) }
    #expect(photographs.count == 2)
    for (photograph, image) in zip(photographs, own) {
      guard case .object(let object) = photograph else { return #expect(Bool(false)) }
      #expect(object["image"] == image["image"] && object["imageSHA256"] == image["imageSHA256"])
    }
    // A single image keeps its answer; d, from which the model abstains, does not count for L1.
    #expect(own[3]["abstain"] == .bool(true))
    for (lesion, image) in [(lesions[1], own[2]), (lesions[2], own[4])] {
      for key in ["prediction", "probabilities", "risk", "abstain", "abstainReasons"] {
        #expect(lesion[key] == image[key], "\(key)")
      }
      #expect(lesion["image"] == nil && lesion["imageSHA256"] == nil)
    }
    #expect(lesions[1].members.map(\.key).prefix(4) == ["schemaVersion", "lesion", "images", "model"])
  }

  @Test func aFileThatIsNamedTwiceCountsOnce() throws {
    let (images, table) = writeImages()
    let again = folder.path + "/./a.ppm"
    let words = ["--metadata", table, "--format", "json", "--by", "lesion"]
    let once = runTool(words: ["classify"] + images + words)
    let twice = runTool(words: ["classify", images[0], images[0], again] + images[1...] + words)
    #expect(once.status == .success && twice.output == once.output)
  }

  /// Otherwise a file that fails would be named twice.
  @Test func aFileThatIsNamedTwiceIsComputedOnce() {
    let (images, table) = writeImages()
    let bad = folder.write("no image", to: "b.ppm")
    let result = runTool(
      "classify", images[0], bad, bad, folder.path + "/./b.ppm", "--metadata", table, "--by", "lesion")
    #expect(result.status == .failure)
    #expect(result.errors.split(separator: "Error: ").count == 1, "\(result.errors)")
    #expect(result.output.contains("\n1 lesion: ") && result.output.contains(" 1 image failed.\n"))
  }

  @Test func itAbstainsOnlyIfItDoesFromAll() throws {
    let (images, table) = writeImages()
    let alone = runTool(
      words: ["classify", images[3], "--metadata", table, "--format", "json", "--by", "lesion"])
    let object = try #require(try objects(alone).first)
    #expect(object["abstain"] == .bool(true) && object["prediction"] == .null)
    #expect(object["lesion"] == .string("L1"))
  }

  @Test func tablesAndSubmissionsHaveARowForEachLesion() {
    let (images, table) = writeImages()
    let words = ["classify"] + images + ["--metadata", table, "--by", "lesion", "--format"]
    let rows = runTool(words: words + ["csv"]).output.split(separator: "\n")
    #expect(rows.count == 4 && rows[0].hasPrefix("lesion_id,images,image_id,image,class,"))
    #expect(rows[1].hasPrefix("L2,a b,a,\(images[0]),"))
    #expect(rows[2].hasPrefix(",c,c,\(images[2]),"))
    let submission = runTool(words: words + ["isic"]).output.split(separator: "\n")
    #expect(submission.first == "lesion_id,MEL,NV,BCC,AKIEC,BKL,DF,VASC")
    #expect(submission.dropFirst().map { $0.split(separator: ",")[0] } == ["L2", "c", "L1"])
  }

  @Test func textTellsWhereImagesDisagree() {
    let light = folder.write(PixelImage.spots(width: 80, height: 80, seed: 1).pnm, to: "light.ppm")
    let blue = folder.write(
      PixelImage(
        width: 80, height: 80,
        pixels: PixelImage.spots(width: 80, height: 80, seed: 2).pixels.enumerated().map {
          $0 % 3 == 2 ? $1 : $1 / 8
        }
      ).pnm, to: "blue.ppm")
    let table = folder.write("image_id,lesion_id\nlight,L7\nblue,L7\n", to: "t.csv")
    let result = runTool("classify", light, blue, "--metadata", table, "--by", "lesion")
    #expect(result.output.contains("L7, 2 images"), "\(result.output)")
    #expect(result.output.contains("1 lesion: "))
    #expect(
      result.errors.contains("Note: L7, 2 images: its images have different classes or risks: \(light) "),
      "\(result.errors)")
  }

  /// Lesions that are numbered anew for each patient have the same names.
  @Test func aLesionOfSeveralPeopleGetsNoAnswer() throws {
    let (images, _) = writeImages()
    let table = folder.write(
      "image_id,lesion_id,patient_id,sex,dx\na,1,P1,,nv\nb,1,P2,,nv\nc,2,,f,mel\nd,2,,?,mel\ne,3,P1,f,nv\n",
      to: "p.csv")
    let words = ["classify"] + images + ["--metadata", table, "--format", "json"]
    let result = runTool(words: words + ["--by", "lesion"])
    #expect(result.status == .failure)
    #expect(try objects(result).map { $0["lesion"] } == [.string("2"), .string("3")])
    for image in images.prefix(2) {
      let line = "Error: \(image): \(table): the rows of the lesion '1' differ in the patient: 'P1', 'P2'."
      #expect(result.errors.contains(line), "\(result.errors)")
    }
    #expect(runTool(words: words).status == .success)

    let evaluation = ["evaluate", "--labels", table, "--images", folder.path, "--format", "json"]
    let refused = runTool(words: evaluation + ["--by", "lesion"])
    #expect(refused.status == .failure)
    #expect(refused.errors.split(separator: "the rows of the lesion '1'").count == 2)
    #expect(try objects(refused).first?["n"] == .integer(2))
    #expect(try objects(runTool(words: evaluation)).first?["n"] == .integer(5))

    _ = folder.write(
      "image_id,lesion_id,sex\na,1,male\nb,1,w\nc,2,m\nd,2,\ne,2,unknown\n", to: "p.csv")
    let sexes = runTool(words: words + ["--by", "lesion"])
    #expect(sexes.errors.contains("the rows of the lesion '1' differ in the sex: 'male', 'female'."))
    #expect(try objects(sexes).map { $0["lesion"] } == [.string("2")])
  }

  @Test func wrongUse() {
    let (images, table) = writeImages()
    let bare = folder.write("image_id,age\na,50\n", to: "bare.csv")
    #expect(runTool("classify", images[0], "--by", "lesion").status == .usage)
    let missing = runTool("classify", images[0], "--by", "lesion", "--metadata", bare)
    #expect(missing.status == .failure && missing.errors.contains("lesion_id"), "\(missing.errors)")
    let resumed = runTool(
      "classify", images[0], "--by", "lesion", "--metadata", table, "--format", "json", "--output",
      "\(folder.path)/x", "--resume")
    #expect(resumed.status == .usage && resumed.errors.contains("cannot be given together"))
  }

  @Test func evaluateCountsLesions() throws {
    let (_, table) = writeImages()
    let words = ["evaluate", "--labels", table, "--images", folder.path, "--format", "json"]
    let byImage = try #require(try objects(runTool(words: words)).first)
    let byLesion = try #require(try objects(runTool(words: words + ["--by", "lesion"])).first)
    #expect(byImage["n"] == .integer(5) && byImage["by"] == nil)
    #expect(byLesion["n"] == .integer(3) && byLesion["by"] == .string("lesion"))
  }

  /// An answer cannot weigh as its first image where another has another weight.
  @Test(arguments: ["score_weight", "validation_weight"]) func aLesionHasOneWeight(_ column: String) throws {
    _ = writeImages()
    let table = folder.write(
      "image_id,lesion_id,dx,\(column)\na,1,nv,1\nb,1,nv,0.25\nc,2,mel,2\nd,2,nv,3\ne,2,mel,2\n", to: "w.csv")
    let words = ["evaluate", "--labels", table, "--images", folder.path, "--format", "json"]
    let result = runTool(words: words + ["--by", "lesion"])
    #expect(result.status == .failure)
    // Rows of another label have an answer of their own.
    #expect(try objects(result).first?["n"] == .integer(2))
    let line = "\(table): the rows of the lesion '1' differ in the \(column): 1.0 for 'a', 0.25 for 'b'."
    #expect(result.errors.contains(line), "\(result.errors)")
    #expect(runTool(words: words).status == .success)
  }
}
