import Files
import Foundation
import ImageCodecs
import ImageFiles
import ImagePipeline
import TestFiles
import TestImages
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation

@Suite struct EvaluateCommandTests {
  let folder = TemporaryFolder()

  static let header = "image_id,lesion_id,dx,age,sex,localization\n"

  /// Four images of three lesions in two folders; `twice` is in both.
  func fourImages() -> (labels: String, folders: [String], words: [String]) {
    folder.write(pnm(), to: "first/twice.ppm")
    folder.write(pnm(seed: 3), to: "first/deep/below.PNM")
    folder.write(pnm(seed: 9), to: "second/twice.ppm")
    folder.write(pnm(seed: 5), to: "second/other.ppm")
    folder.write(pnm(seed: 6), to: "second/last.ppm")
    let labels = folder.write(
      """
      sex,localization,dx,note,lesion_id,image_id,age
      male,back,nv,a,L1,twice,55.0
      ,,mel,,L1,below,
      Female,unknown,akiec,"b, c",L2,other,0
      unknown,FACE,nv,,L3,last,80

      """, to: "labels.csv")
    let folders = ["\(folder.path)/first", "\(folder.path)/second"]
    return (labels, folders, ["--labels", labels, "--images", folders[0], "--images", folders[1]])
  }

  @Test func jsonIsWhatTheLibraryMakesOfTheImages() throws {
    let (labels, folders, words) = fourImages()
    let result = runEvaluate(words + ["--format", "json"])
    #expect(result.status == .success, "\(result.errors)")
    #expect(
      result.errors.hasPrefix("Note: \(labels): a lesion has two labels: the lesion 'L1' is 'nv' on line 2"))

    let classifier = try toyClassifier(threadCount: 1, usesMetadata: true)
    let rows: [(String, LesionLabel, Int, PatientMetadata, String)] = try [
      ("L1", .nv, 0, PatientMetadata(ageInYears: 55, sex: .male, site: .back), folders[0]),
      ("L1", .mel, 3, .unknown, folders[0]),
      ("L2", .akiec, 5, PatientMetadata(ageInYears: 0, sex: .female), folders[1]),
      ("L3", .nv, 6, PatientMetadata(ageInYears: 80, site: .face), folders[1]),
    ]
    let images = try rows.map { lesion, label, seed, metadata, source in
      let made = try classifier.classify(encodedImage: pnm(seed: seed), metadata: metadata)
      return EvaluatedImage(
        lesion: lesion, label: label, probabilities: made.probabilities, metadata: metadata, source: source)
    }
    let expected = JSONValue.object(EvaluationReport(images, sources: folders).members).text
    #expect(result.output.contains(expected.dropFirst().dropLast()), "\(result.output)\n\(expected)")

    let json = try result.object()
    #expect(json["listed"] as? Int == 4)
    #expect(json["disclaimer"] as? String == Wording.disclaimer)
    #expect((json["model"] as? [String: String])?["name"] == "toy")
    #expect(json["trainingList"] is NSNull)
    #expect(result.output.hasSuffix("}\n"))
  }

  @Test func aColumnOfConfirmationsMakesGroups() throws {
    let words = fourImages().words
    let table = try #require(folder.text(of: "labels.csv"))
    let confirmed = zip(table.split(separator: "\n"), ["dx_type", "histo", "", "histo", "follow_up"])
      .map { "\($0),\($1)\n" }.joined()
    folder.write(confirmed, to: "labels.csv")
    let groups = #""confirmation":[{"name":"follow_up","n":1,"status":"insufficient"},"#
    #expect(runEvaluate(words + ["--format", "json"]).output.contains(groups))
    #expect(runEvaluate(words).output.contains("\nconfirmation  histo"))
    folder.write(confirmed.replacing("note", with: "dx_type"), to: "labels.csv")
    #expect(runEvaluate(words).errors.contains("the column 'dx_type' occurs more than once"))
  }

  @Test func theFirstFolderWithTheImageWins() throws {
    let (labels, folders, _) = fourImages()
    let forwards = runTool("evaluate", "--labels", labels, "--images=\(folders[0])", "--images=\(folders[1])")
    let backwards = runTool(
      "evaluate", "--labels", labels, "--images=\(folders[1])", "--images=\(folders[0])")
    #expect(forwards.output.contains(folders[0] + "        2  insufficient"))
    #expect(backwards.output.contains(folders[0] + "        1  insufficient"))
  }

  @Test(arguments: ["text", "json"]) func threadsDoNotShow(format: String) {
    let words = fourImages().words
    let outputs = ["1", "2", "7"].map { threads in
      runEvaluate(words + ["--threads", threads, "--format", format]).output
    }
    #expect(outputs[0] == outputs[1])
    #expect(outputs[0] == outputs[2])
    #expect(outputs[0].contains(Wording.disclaimer))
  }

  @Test func imagesThatFailAreNamedAndCounted() throws {
    let (labels, folders, words) = fourImages()
    folder.write("hello", to: "first/bad.jpg")
    folder.write(pnm(), to: "first/below.jpg")
    folder.write(
      Self.header + "absent,L9,df,,,\nbelow,L1,nv,,,\nbad,L2,nv,,,\nlast,L3,nv,,,\n", to: "labels.csv")
    let result = runEvaluate(words + ["--format", "json"])
    #expect(result.status == .failure)
    let lines = result.errors.split(separator: "\n")
    try #require(lines.count == 3, "\(result.errors)")
    // Two images of one name: neither is taken for it.
    #expect(
      lines[0] == """
        Error: \(labels): line 3: the row 'below' could be that of \(folders[0])/below.jpg and of \
        \(folders[0])/deep/below.PNM
        """)
    #expect(lines[1] == "Error: \(labels): line 2: no folder given has an image of the name 'absent'")
    #expect(
      lines[2].hasPrefix(
        "Error: \(folders[0])/bad.jpg: not a PNG, JPEG, PNM, BMP, DICOM, WebP, TIFF, HEIC or AVIF image"))
    let json = try result.object()
    #expect(json["n"] as? Int == 1)
    #expect(json["listed"] as? Int == 4)
    #expect(json["macroAUROC"] is NSNull)

    folder.write(Self.header + "absent,L9,df,,,\n", to: "labels.csv")
    let nothing = runTool("evaluate", "--labels", labels, "--images", folders[0])
    nothing.expect(.failure, part: "labels.csv: no row is that of one of the ")
    #expect(nothing.errors.contains("; its row is 'absent'"))
  }

  /// A folder that is given twice, and images that the list does not name, change nothing.
  @Test func otherImagesChangeNothing() throws {
    let (_, folders, words) = fourImages()
    let before = runEvaluate(words)
    folder.write(pnm(), to: "first/zzz/unlisted.ppm")
    folder.write(pnm(), to: "first/zzz/z/unlisted.ppm")
    let after = runEvaluate(words + ["--images", folders[1]])
    #expect(after.status == .success && after.errors == before.errors)
    #expect(after.output == before.output)
  }

  /// Images whose lesion is not told are lesions of their own.
  @Test func aMissingLesionIsOneOfItsOwn() throws {
    let words = fourImages().words
    let rows = "twice,L1,nv,,,\nbelow,,mel,,,\nother,NA,akiec,,,\nlast,-,nv,,,\n"
    folder.write(Self.header + rows, to: "labels.csv")
    let result = runEvaluate(words + ["--format", "json"])
    #expect(result.status == .success && result.errors == "", "\(result.errors)")
    let found = try result.object()
    #expect(found["n"] as? Int == 4 && found["lesions"] as? Int == 4)
  }

  @Test(arguments: [
    ("twice,L1,NVX,,,\n", "line 2: column 'dx': the value 'NVX' is invalid."),
    (",L1,nv,,,\nNA,L2,nv,,,\n", "the table has no row of an image"),
    ("twice,L1,nv,131,,\n", "line 2: column 'age': the value '131' is invalid."),
    ("twice,L1,nv,,x,\n", "line 2: column 'sex': the value 'x' is invalid."),
    ("twice,L1,nv,,1,\n", "column 'sex' has codes and no words: '1'"),
    ("a,L1,nv,,,\n", "no row is that of one of the "),
    ("a,L1,nv,,,\na,L1,nv,,,\n", "line 3: the image_id 'a' was already on line 2"),
    ("a,L1,nv\n", "line 2: 3 fields, where the header has 6"),
    ("", "the table has no row below its header"),
  ])
  func aBadRowIsNamed(rows: String, message: String) {
    let (labels, folders, _) = fourImages()
    folder.write(Self.header + rows, to: "labels.csv")
    let result = runTool("evaluate", "--labels", labels, "--images", folders[0])
    result.expect(.failure, "Error: \(labels): \(message)")
  }

  @Test func aBadRowIsLeftOutAndTheOthersAreEvaluated() throws {
    let (labels, folders, _) = fourImages()
    let rows = (0..<7).map { "x\($0),L\($0),NVX,,,\n" }.joined()
    folder.write(Self.header + rows + "twice,L1,nv,,,\nbelow,L2,MEL,NA,w,\n,L3,nv,old,,\n", to: "labels.csv")
    let result = runTool("evaluate", "--labels", labels, "--images", folders[0], "--format", "json")
    #expect(result.status == .failure)
    let lines = result.errors.split(separator: "\n")
    try #require(lines.count == 7, "\(result.errors)")
    #expect(lines[0].hasPrefix("Error: \(labels): line 2: column 'dx': the value 'NVX' is invalid."))
    #expect(lines[6] == "Note: in \(labels), 1 row has no image and is left out.")
    #expect(lines[5] == "Error: \(labels): 2 more rows cannot be used")
    let json = try result.object()
    #expect(json["n"] as? Int == 2 && json["listed"] as? Int == 9)
  }

  @Test func aMissingColumnIsNamed() {
    let (labels, folders, _) = fourImages()
    folder.write("image_id,lesion_id,age,sex,localization\na,L1,,,\n", to: "labels.csv")
    let result = runTool("evaluate", "--labels", labels, "--images", folders[0])
    #expect(
      result.errors == "Error: \(labels): the column 'dx' is missing; the header has 'image_id', "
        + "'lesion_id', 'age', 'sex', 'localization'\n")
  }

  @Test func foldersMustBeFoldersWithImages() {
    let (labels, folders, _) = fourImages()
    let readme = folder.write("x", to: "docs/readme.md")
    for (path, message) in [
      (readme, "is a file, not a folder"), (folder.path + "/gone", "no such file or folder"),
      (folder.path + "/docs", "the folder holds no image"),
    ] {
      let result = runTool("evaluate", "--labels", labels, "--images", folders[0], "--images", path)
      result.expect(.failure, "Error: \(path): \(message)")
    }
  }

  @Test func labelsAndImagesAreRequired() {
    let noImages = runTool("evaluate", "--labels", "x.csv")
    noImages.expect(.usage, "Error: Missing expected option '--images <folder>'")
    #expect(runTool("evaluate", "--images", ".").status == .usage)
    #expect(runTool("evaluate", "x.csv", "--labels", "x.csv", "--images", ".").status == .usage)
  }

  @Test(arguments: [
    ("elsewhere,L2,training", "L2"), ("other,other name,training", "L2"),
    ("a,L3,training\nb,L1,training\nc,L0,training", "L1"),
  ])
  func lesionsThatWereTrainedOnAreRefused(list: String, first: String) throws {
    let (labels, _, words) = fourImages()
    let split = folder.write("image_id,lesion_id,split\n\(list)\n", to: "model/training/split.csv")
    let model = ["--model", "\(folder.path)/model", "--format", "json"]
    let refused = runEvaluate(words + model)
    let count = first == "L1" ? 2 : 1
    refused.expect(
      .failure,
      """
      Error: \(labels): the model was trained on \(count) of its lesions, the first of them '\(first)' \
      (\(split));
      """)

    let allowed = runEvaluate(words + model + ["--allow-training-lesions"])
    #expect(allowed.status == .success)
    let seen = try #require(allowed.object()["trainingList"] as? [String: Int])
    #expect(seen == ["trainingLesions": count, "validationLesions": 0])
  }

  @Test func whatTheModelHasSeenIsSaid() throws {
    let words = fourImages().words
    let model = ["--model", "\(folder.path)/model"]
    #expect(runEvaluate(words).output.contains("Training list    none with the model"))

    folder.write("image_id,lesion_id,split\nx,L8,training\n", to: "model/training/split.csv")
    #expect(
      runEvaluate(words + model).output.contains(
        "Training list    no lesion and no image of these names was trained on\n"))

    folder.write(
      "lesion_id,split,image_id\nL8,training,x\nL1,validation,twice\nL1,validation,below\n",
      to: "model/training/split.csv")
    let validated = runEvaluate(words + model)
    #expect(validated.status == .success)
    #expect(validated.output.contains("selected or calibrated on 1 of these lesions"))

    // An image that is known by its own name, and a lesion that a cross-validation kept aside.
    folder.write(
      "lesion_id,split,image_id\nL8,training,x\nL9,validation,below\nL1,fold,twice\n",
      to: "model/training/split.csv")
    let byImage = runEvaluate(words + model)
    #expect(byImage.status == .success)
    #expect(byImage.output.contains("selected or calibrated on 1 of these lesions"), "\(byImage.output)")

    folder.write("image_id,lesion_id,split\nx,L1,training\n", to: "model/training/split.csv")
    let trained = runEvaluate(words + model + ["--allow-training-lesions"])
    #expect(trained.output.contains("WARNING          the model was trained on 1 of these lesions"))

    // A link that should lead to a list.
    let list = "\(folder.path)/model/training/split.csv"
    try FileManager.default.removeItem(atPath: list)
    try FileManager.default.createSymbolicLink(atPath: list, withDestinationPath: "/nowhere/split.csv")
    #expect(
      runEvaluate(words + model).errors == "Error: \(list): is a link to something that is not there\n")
    try FileManager.default.removeItem(atPath: list)
    // The same lesion under another name.
    folder.write("image_id,lesion_id,split\nx,L1,duplicate\n", to: "model/training/split.csv")
    #expect(runEvaluate(words + model).errors.contains("the model was trained on 1 of its lesions"))

    folder.write("image_id,lesion_id,split\nx,L1,train\n", to: "model/training/split.csv")
    let unclear = runEvaluate(words + model)
    #expect(unclear.status == .failure)
    #expect(unclear.errors.contains("split.csv: line 2: column 'split': the value 'train' is invalid."))
  }

  /// Gives two of the images copies under other names: one that the model was trained on, one of its validation.
  func writeSeenCopies() throws -> [String] {
    for (seed, other, name) in [(UInt64(1), "other", "a"), (2, "last", "b")] {
      let picture = PixelImage.spots(width: 160, height: 120, seed: seed)
      folder.write(picture.pnm, to: "second/\(other).ppm")
      folder.write(picture.mirrored.resized(width: 120, height: 90).pnm, to: "seen/\(name).ppm")
    }
    let list = folder.write(
      "image_id,lesion_id,split\na,L8,training\nb,L9,validation\n", to: "model/training/split.csv")
    folder.write("{}", to: "model/config.json")
    #expect(runTool("duplicates", "\(folder.path)/seen", "--fingerprints", list).status == .success)
    return ["--model", "\(folder.path)/model"]
  }

  @Test func photographsThatWereTrainedOnUnderOtherNamesAreFound() throws {
    let words = fourImages().words
    let plain = try runEvaluate(words + ["--format", "json"]).object()
    #expect(plain["unseen"] == nil)
    let model = try writeSeenCopies()

    let text = runEvaluate(words + model)
    #expect(text.status == .success, "\(text.errors)")
    let wanted = [
      "WARNING          1 of 4 photographs was trained on (by pixels); figures without their lesions follow\n",
      "Note             1 of 4 photographs was used to select or calibrate the model (by pixels): the figures may",
      "\n3 images of lesions not trained on ",
    ]
    for wanted in wanted { #expect(text.output.contains(wanted), "\(text.output)") }
    let json = try runEvaluate(words + model + ["--format", "json"]).object()
    #expect(
      json["trainingList"] as? [String: Int] == [
        "trainingLesions": 0, "validationLesions": 0, "trainingPhotographs": 1, "validationPhotographs": 1,
      ])
    #expect(json["n"] as? Int == 4)
    let unseen = try #require(json["unseen"] as? [String: Any])
    #expect(unseen["n"] as? Int == 3 && unseen["lesions"] as? Int == 2 && unseen["accuracy"] != nil)
    let csv = runEvaluate(words + model + ["--format", "csv"])
    #expect(csv.output.contains("\nunseen,all,,accuracy,"))

    // What the names tell is told by the names alone.
    folder.write(
      "image_id,lesion_id,split\na,L2,training\nb,L3,validation\n", to: "model/training/split.csv")
    let named = try runEvaluate(words + model + ["--format", "json", "--allow-training-lesions"]).object()
    #expect(named["trainingList"] as? [String: Int] == ["trainingLesions": 1, "validationLesions": 1])
    #expect(named["unseen"] == nil)

    // A photograph without any contrast has no fingerprint.
    folder.write(
      PixelImage(width: 60, height: 50, pixels: [UInt8](repeating: 90, count: 9000)).pnm,
      to: "first/twice.ppm")
    let flat = try runEvaluate(words + model + ["--format", "json", "--allow-training-lesions"]).object()
    #expect((flat["trainingList"] as? [String: Int])?["uncomparedPhotographs"] == 1)
    #expect(
      runEvaluate(words + model + ["--allow-training-lesions"]).output.contains(
        "1 of 4 photographs shows too little to be compared"))
  }

  func runEvaluate(_ words: [String]) -> ToolResult { runTool(words: ["evaluate"] + words) }

  @Test func textShowsTheFiguresTheMatrixAndWhatIsAbsent() {
    let result = runTool(words: ["evaluate"] + fourImages().words, usesMetadata: false)
    for part in [
      "Model            toy 0.0.1, SHA-256 0123456789abcdef\n",
      "Images           4 of 4 evaluated, of 3 lesions\n",
      "no image of bcc, bkl, df, vasc: means over classes leave them out\n",
      "Warning          3 images: ", "\nBalanced accuracy  ", "\nConfusion matrix: labels down",
      "\nclass        n  expected     recall", "\nbcc          0 ", "\nNegative log-likelihood  ",
      "\nshare at risk      moderate or high",
      "\nakiec, bcc, mel             ", "\nage     missing",
    ] {
      #expect(result.output.contains(part), "'\(part)' is not in\n\(result.output)")
    }
    #expect(result.output.hasSuffix("\n\n\(Wording.disclaimer)\n"))
  }
}
