import Files
import SystemModule
import Testing

@testable import DermaFusion

@Suite struct RowAssignmentTests {
  /// A file may have the name by which tables say that there is no value.
  @Test(arguments: [false, true]) func aRowOfAFileNamedNAIsThatImages(joinsPatients: Bool) throws {
    let text = "image,patient_id,age,sex\nNA,7,5,\nnull,7,,w\n"
    let rows = try MetadataTable(
      Array(text.utf8), path: "p.csv", reading: PatientReading(joinsPatients: joinsPatients)
    ).rows(of: [ListedImage("NA.png")])
    let sex: Sex? = joinsPatients ? .female : nil
    #expect(try rows.entry(ofImage: "NA.png") == .init(ageInYears: 5, sex: sex, site: nil))
    let notes = rows.notes.map(\.description).filter { $0.contains("left out") }
    let note = "in p.csv, 1 row has no image and is left out. --join-patient"
    #expect(joinsPatients ? notes.isEmpty : notes.count == 1 && notes[0].hasPrefix(note), "\(notes)")
  }

  /// The names in a table of one column.
  static func names(_ rows: [String]) -> TableNames {
    let text = "name,x\n" + rows.map { CSVCell.quoted($0) + ",1\n" }.joined()
    do {
      let table = try CSVTable(Array(text.utf8), path: "t.csv")
      return try table.names(table.column("name"))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func matches(
    _ images: [String], _ rows: [String], in folder: String? = nil
  ) -> RowAssignment {
    RowAssignment(images: images.map { ListedImage($0) }, rows: names(rows), folder: folder)
  }

  /// Each image's row, `-` for none, or `!` where it is refused.
  private func match(_ images: [String], _ rows: [String], in folder: String? = nil) -> [String] {
    words(Self.matches(images, rows, in: folder), rows)
  }

  private func words(_ matches: RowAssignment, _ rows: [String]) -> [String] {
    matches.outcomes.map { outcome in
      switch outcome {
      case .row(let row): rows[row]
      case .none: "-"
      case .refused: "!"
      }
    }
  }

  @Test func anImageIsFoundInEachForm() {
    // By its name; with its ending; by its path and the end of it, also by a path of Windows and by one that begins earlier.
    #expect(match(["d/a.jpg"], ["a"]) == ["a"])
    #expect(match(["d/a.jpg"], ["a.jpg"]) == ["a.jpg"])
    #expect(match(["d/a.jpg"], ["d/a.jpg"]) == ["d/a.jpg"])
    #expect(match(["d/a.jpg"], ["d/a"]) == ["d/a"])
    #expect(match(["c/d/a.jpg"], ["d/a.jpg"]) == ["d/a.jpg"])
    #expect(match(["d/a.jpg"], ["C:\\x\\d\\a.jpg"]) == ["C:\\x\\d\\a.jpg"])
    #expect(match(["./d/a.jpg"], ["x/d/a.jpg"]) == ["x/d/a.jpg"])
    #expect(match(["d/IM0001"], ["x/d/IM0001"]) == ["x/d/IM0001"])
    #expect(match(["d/a.jpg"], ["e/a.jpg"]) == ["-"])
    #expect(match(["d/a.jpg"], ["a.png"]) == ["-"])
    // In another letter case, with another form of the same letter, and both.
    #expect(match(["d/A.JPG"], ["a"]) == ["a"])
    #expect(match(["D/A.JPG"], ["d/a.jpg"]) == ["d/a.jpg"])
    #expect(match(["D/A.JPG"], ["x\\d\\a"]) == ["x\\d\\a"])
    #expect(match(["mu\u{308}ller.jpg"], ["m\u{FC}ller"]) == ["m\u{FC}ller"])
    #expect(match(["MU\u{308}LLER.jpg"], ["m\u{FC}ller.jpg"]) == ["m\u{FC}ller.jpg"])
    #expect(match(["x/\u{212A}.jpg"], ["x/k"]) == ["x/k"])
    // Standard input has no name.
    #expect(match(["-"], ["-"]) == ["-"])
  }

  /// The stronger of each two forms decides, whichever image or row comes first.
  @Test func aStrongerFormGoesBeforeAWeakerOne() {
    let image = "/w/D/\u{C9}b.jpg"
    let rows = [image, "\u{C9}b.jpg", "\u{C9}b", "D/\u{C9}b.jpg", "\u{E9}B.jpg", "E\u{301}b.jpg"]
    for (place, strong) in rows.enumerated() {
      for weak in rows[(place + 1)...] {
        let found = [match([image], [strong, weak], in: "/v"), match([image], [weak, strong], in: "/v")]
        #expect(
          found.map { $0.map { Array($0.utf8) } } == [[Array(strong.utf8)], [Array(strong.utf8)]],
          "\(strong), \(weak)")
      }
    }
    // Two images that one row may mean.
    #expect(match(["x.jpg", "x.jpg.jpg"], ["x.jpg"]) == ["x.jpg", "-"])
    #expect(match(["f/x.jpg.jpg", "f/x.jpg", "f/x.png"], ["f/x.jpg", "x"]) == ["-", "f/x.jpg", "x"])
    #expect(match(["X.JPG.JPG", "X.JPG"], ["x.jpg"]) == ["-", "x.jpg"])
    #expect(match(["A.jpg", "a.jpg"], ["a"]) == ["-", "a"])
    #expect(match(["a.jpg", "A.jpg"], ["A", "a"]) == ["a", "A"])
    #expect(match(["e\u{301}.jpg", "\u{C9}.jpg"], ["\u{E9}"]) == ["-", "\u{E9}"])
    #expect(match(["z/d/a.jpg.jpg", "y/d/a.jpg"], ["d/a.jpg"]) == ["-", "d/a.jpg"])
  }

  @Test func aPathIsReadAsItIsWritten() {
    let folder = "/home/p1"
    for image in ["a.jpg", "./a.jpg", ".//a.jpg", "/home/p1/a.jpg"] {
      for row in ["./a.jpg", "/home/p1/a.jpg", "//home/./p1/a.jpg", "p1/a.jpg", "p1\\a", "D:\\x\\p1\\a.jpg"] {
        let isKnown = !row.hasPrefix("D:") || !image.hasPrefix("/")
        #expect(match([image], [row], in: folder) == [isKnown ? row : "-"], "\(image), \(row)")
      }
    }
    #expect(
      match(["../p2/a.jpg", "../../a.jpg"], ["/home/p2/a.jpg", "/a.jpg"], in: folder) == [
        "/home/p2/a.jpg", "/a.jpg",
      ])
    #expect(match(["a.jpg", "f/a.jpg"], ["a.jpg", "f/a.jpg"], in: folder) == ["a.jpg", "f/a.jpg"])
    // Also with rows below a folder that was given, whichever of the two a row could name.
    let images = [ListedImage("f/a.jpg", below: "a.jpg"), ListedImage("f/f/a.jpg", below: "f/a.jpg")]
    for (rows, expected) in [
      (["a.jpg", "f/a.jpg"], ["a.jpg", "f/a.jpg"]), (["f/f/a.jpg", "f/a.jpg"], ["f/a.jpg", "f/f/a.jpg"]),
      (["f/a.jpg"], ["!", "!"]),
    ] {
      let found = RowAssignment(images: images, rows: Self.names(rows), folder: folder)
      #expect(words(found, rows) == expected, "\(rows)")
    }
  }

  @Test func aRowOfAnotherFolderIsNoImages() {
    for row in [
      "p2/a.jpg", "x/p1/a.jpg", "/p1/a.jpg", "/x/home/p1/a.jpg", "p2\\a", "D:\\p2\\a.jpg", "\\\\s\\p2\\A.jpg",
    ] {
      for image in ["a.jpg", "./a.jpg", "/home/p1/a.jpg"] {
        #expect(match([image], [row], in: "/home/p1") == ["-"], "\(image), \(row)")
      }
    }
    #expect(match(["p1/a.jpg"], ["/study2/p1/a.jpg", "x"], in: "/study1") == ["-"])
    #expect(match(["p1/a.jpg"], ["study2\\p1\\a.jpg"], in: "/study1") == ["-"])
    // On a page nobody knows where the image lies.
    #expect(match(["a.jpg"], ["p2/a.jpg"]) == ["p2/a.jpg"])
    #expect(match(["a.jpg", "p2/a.jpg"], ["x/p2/a.jpg"]) == ["-", "x/p2/a.jpg"])
  }

  @Test func theEarlierFolderGoesBeforeWithinAForm() {
    func match(_ images: [(String, String, Int)], _ rows: [String]) -> [String] {
      let images = images.map { ListedImage($0.0, below: $0.1, rank: $0.2) }
      return words(RowAssignment(images: images, rows: Self.names(rows), folder: "/w"), rows)
    }
    #expect(match([("f2/a.jpg", "a.jpg", 1), ("f1/a.jpg", "a.jpg", 0)], ["a"]) == ["-", "a"])
    #expect(
      match([("f1/img1.jpg", "img1.jpg", 0), ("f2/IMG1.jpg", "IMG1.jpg", 1)], ["IMG1"]) == ["-", "IMG1"])
    #expect(
      match([("f1/a.jpg.png", "a.jpg.png", 0), ("f2/s/a.jpg", "s/a.jpg", 1)], ["a.jpg"]) == ["-", "a.jpg"])
    #expect(
      match([("f1/a.jpg", "a.jpg", 0), ("f1/s/a.jpg", "s/a.jpg", 0), ("f2/a.jpg", "a.jpg", 1)], ["a"])
        == ["!", "!", "-"])
    // A file that is found in both is one.
    #expect(match([("f/s/a.jpg", "s/a.jpg", 0), ("./f/s/a.jpg", "a.jpg", 1)], ["a"]) == ["a", "a"])
  }

  @Test func oneFileIsOneHoweverOftenItIsNamed() {
    let images = ["d/a.jpg", "d/a.jpg", "./d//a.jpg", "/w/d/a.jpg", "e/a.jpg"]
    #expect(match(images, ["d/a", "e/a"], in: "/w") == ["d/a", "d/a", "d/a", "d/a", "e/a"])
    #expect(match(images, ["a"], in: "/w") == ["!", "!", "!", "!", "!"])
    #expect(match(Array(images.prefix(4)), ["a"], in: "/w") == ["a", "a", "a", "a"])
  }

  @Test func blanksAndApostrophesArePartOfAName() {
    #expect(match(["q.jpg", "q .jpg", " .jpg"], ["q ", " "]) == ["-", "q ", " "])
    #expect(match(["=x.jpg", "'=x.jpg"], ["'=x"]) == ["-", "'=x"])
    #expect(match(["a\\b.jpg"], ["a\\b"]) == ["a\\b"])
    #expect(match(["..jpg", "a..jpg"], [".", "a."]) == [".", "a."])
  }

  @Test func aNumberIsNoEnding() {
    let images = ["d/1.2.840.113619.2.5", "d/1.2.840.113619.2.50", "d/2.25.7.dcm"]
    #expect(match(images, ["1.2.840.113619.2", "2.25", "2.25.7"]) == ["-", "-", "2.25.7"])
    #expect(
      match(images, ["1.2.840.113619.2.50", "x/d/1.2.840.113619.2.5"]) == [
        "x/d/1.2.840.113619.2.5", "1.2.840.113619.2.50", "-",
      ])
  }

  /// Anything but the ending of an image belongs to the name.
  @Test func onlyTheEndingOfAnImageIsCutOff() {
    let whole = ["1.2.5", "patient.Smith", "Dr. No", "a.", ".jpg", ".5", "a.jpg.bak", "a.\u{212A}", "a.j2"]
    #expect(whole.map { $0.imageIdentifier } == whole)
    let cut = ["d/a.b.JPG", "a.jpg.png", "e\u{301}.Dcm"].map { $0.imageIdentifier }
    #expect(cut == ["a.b", "a.jpg", "e\u{301}"])
    let patients = ["d/patient.Smith", "d/patient.Jones"]
    #expect(match(patients, ["patient.Jones", "patient.Smith"]) == ["patient.Smith", "patient.Jones"])
    #expect(match(patients, ["patient"]) == ["-", "-"])
    #expect(match([patients[0]], ["patient", "Smith"]) == ["-"])
    #expect(match(["a.b.jpg", "a.c.jpg"], ["a.b", "a"]) == ["a.b", "-"])
  }

  @Test func whatCannotBeToldIsRefused() {
    #expect(match(["d/a.jpg", "e/a.jpg", "b.jpg"], ["a", "b"]) == ["!", "!", "b"])
    #expect(match(["d/a.jpg", "e/a.jpg"], ["e/a", "d/a"]) == ["d/a", "e/a"])
    #expect(match(["d/a.jpg"], ["x/d/a.jpg", "y/d/a.jpg"]) == ["!"])
    #expect(match(["a.jpg"], ["a.jpg", "./a.jpg"]) == ["!"])
    #expect(match(["Ab.jpg"], ["AB", "ab"]) == ["!"])
    #expect(match(["d/a.jpg"], ["A", "A.JPG"]) == ["!"])
    // What is refused takes part in no weaker form.
    #expect(match(["d/a.jpg", "e/a.jpg"], ["a", "d/a"]) == ["!", "!"])
    let both = Self.matches(["d/a.jpg"], ["x/d/a.jpg", "y/d/a"])
    let reason: Sentence = "the rows 'x/d/a.jpg' and 'y/d/a' could both be that of d/a.jpg"
    #expect(both.outcomes == [.refused(reason)])
    #expect(both.outcome(ofRow: 0) == (nil, reason) && both.outcome(ofRow: 1) == (nil, reason))
    #expect(both.notes(table: "t.csv") == [])
    let matches = Self.matches(["d/a.jpg", "e/a.jpg"], ["b", "a"])
    #expect(matches.outcomes[1] == .refused("the row 'a' could be that of d/a.jpg and of e/a.jpg"))
    #expect(matches.outcome(ofRow: 0) == (nil, nil))
    #expect(matches.outcome(ofRow: 1) == (nil, "the row 'a' could be that of d/a.jpg and of e/a.jpg"))
  }

  @Test func notesNameTheForm() {
    let matches = Self.matches(
      ["a.jpg", "B.jpg", "C.png", "d.png", "x/e.png"], ["d", "a.jpg", "c", "b", "x/e"])
    #expect(
      matches.notes(table: "t.csv") == [
        "in t.csv, 1 image was found by the name with the ending: a.jpg by 'a.jpg'.",
        "in t.csv, 1 image was found by the end of the path: x/e.png by 'x/e'.",
        "in t.csv, 2 images were found in another letter case: B.jpg by 'b', ...",
      ])
    #expect(
      Self.matches(["x/a.jpg"], ["a", "x/a.jpg"]).notes(table: "t.csv") == [
        "in t.csv, 1 image was found by the path: x/a.jpg by 'x/a.jpg'.",
        "in t.csv, 1 row is left out, because the image has a row that names it more exactly: "
          + "'a' beside 'x/a.jpg' for x/a.jpg.",
      ])
  }

  @Test func aTableWithoutARowOfAnImageIsRefused() {
    let hint = ". Please name each image by its file's name or its path in the column 'name'."
    func error(_ images: [String], _ rows: [String]) -> String? {
      #expect(throws: DermaFusionError.self) { try Self.matches(images, rows).requireRow() }?.message
    }
    #expect(error(["d/a.jpg"], ["b"]) == "t.csv: no row is that of d/a.jpg; its row is 'b'\(hint)")
    #expect(
      error(["d/a.jpg", "c"], ["b", "e"])
        == "t.csv: no row is that of one of the 2 images, the first of them d/a.jpg; the first of its 2 rows is 'b'\(hint)"
    )
    #expect(error(["a"], []) == "t.csv: the table has no row below its header")
    #expect(throws: Never.self) { try Self.matches(["d/a.jpg", "e/a.jpg"], ["a"]).requireRow() }
  }
}
