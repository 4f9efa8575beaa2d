import DermaFusion
import Testing

@Suite struct ImageMatchesTests {
  /// Of each image the row's name, `-` for none, or `!` where it is refused.
  private func match(_ images: [String], _ rows: [String]) -> [String] {
    ImageMatches(images: images, rows: rows).outcomes.map { outcome in
      switch outcome {
      case .row(let row): rows[row]
      case .none: "-"
      case .refused: "!"
      }
    }
  }

  @Test func anImageIsFoundByTheFirstFormThatFits() {
    // By its name; with its ending; by the end of the path, also of a path of Windows and of one that begins earlier.
    #expect(match(["d/a.jpg"], ["a"]) == ["a"])
    #expect(match(["d/a.jpg"], ["a.jpg"]) == ["a.jpg"])
    #expect(match(["d/a.jpg"], ["d/a.jpg"]) == ["d/a.jpg"])
    #expect(match(["d/a.jpg"], ["d/a"]) == ["d/a"])
    #expect(match(["d/a.jpg"], ["C:\\x\\d\\a.jpg"]) == ["C:\\x\\d\\a.jpg"])
    #expect(match(["./d/a.jpg"], ["x/d/a.jpg"]) == ["x/d/a.jpg"])
    #expect(match(["d/IM0001"], ["x/d/IM0001"]) == ["x/d/IM0001"])
    #expect(match(["d/a.jpg"], ["e/a.jpg"]) == ["-"])
    #expect(match(["d/a.jpg"], ["a.png"]) == ["-"])
    // In another letter case, with another form of the same letter, and both.
    #expect(match(["d/A.JPG"], ["a"]) == ["a"])
    #expect(match(["D/A.JPG"], ["d/a.jpg"]) == ["d/a.jpg"])
    #expect(match(["mu\u{308}ller.jpg"], ["m\u{FC}ller"]) == ["m\u{FC}ller"])
    #expect(match(["MU\u{308}LLER.jpg"], ["m\u{FC}ller.jpg"]) == ["m\u{FC}ller.jpg"])
    // Standard input has no name.
    #expect(match(["-"], ["-"]) == ["-"])
  }

  @Test func blanksAndApostrophesArePartOfAName() {
    #expect(match(["q.jpg", "q .jpg", " .jpg"], ["q ", " "]) == ["-", "q ", " "])
    #expect(match(["=x.jpg", "'=x.jpg"], ["'=x"]) == ["-", "'=x"])
  }

  @Test func aNumberIsNoEnding() {
    let images = ["d/1.2.840.113619.2.5", "d/1.2.840.113619.2.50", "d/2.25.7.dcm"]
    #expect(match(images, ["1.2.840.113619.2", "2.25", "2.25.7"]) == ["-", "-", "2.25.7"])
    #expect(
      match(images, ["1.2.840.113619.2.50", "x/d/1.2.840.113619.2.5"]) == [
        "x/d/1.2.840.113619.2.5", "1.2.840.113619.2.50", "-",
      ])
  }

  /// What is no ending of an image belongs to the name.
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

  @Test func aRowOfAnEarlierFormIsNoOtherImages() {
    #expect(match(["a.jpg", "A.jpg"], ["a"]) == ["a", "-"])
    #expect(match(["a.jpg", "A.jpg"], ["A", "a"]) == ["a", "A"])
    // The name of one is the name of another with its ending.
    #expect(match(["a.jpg", "a.jpg.png"], ["a.jpg"]) == ["-", "a.jpg"])
  }

  @Test func whatCannotBeToldIsRefused() {
    #expect(match(["d/a.jpg", "e/a.jpg", "b.jpg"], ["a", "b"]) == ["!", "!", "b"])
    #expect(match(["d/a.jpg", "e/a.jpg"], ["e/a", "d/a"]) == ["d/a", "e/a"])
    #expect(match(["d/a.jpg"], ["x/d/a.jpg", "y/d/a.jpg"]) == ["!"])
    #expect(match(["Ab.jpg"], ["AB", "ab"]) == ["!"])
    // One row by its name, another by its ending or its path. A row in another letter case may be another file's.
    #expect(match(["d/a.jpg"], ["a", "a.jpg"]) == ["!"])
    #expect(match(["d/a.jpg", "b.jpg"], ["b", "d/a.jpg", "a"]) == ["!", "b"])
    #expect(match(["d/a.jpg"], ["A", "A.JPG"]) == ["!"])
    #expect(match(["d/a.jpg", "e/a.jpg", "f/a.jpg.png"], ["a", "d/a.jpg", "a.jpg"]) == ["!", "!", "a.jpg"])
    #expect(match(["d/a.jpg"], ["a", "A.JPG", "e/a.jpg"]) == ["a"])
    let both = ImageMatches(images: ["d/a.jpg"], rows: ["a.jpg", "a"])
    #expect(both.outcomes == [.refused("the rows 'a' and 'a.jpg' could both be that of d/a.jpg")])
    #expect(both.imageOfRow == [nil, nil] && both.refusalOfRow.allSatisfy { $0 != nil })
    #expect(both.notes(table: "t.csv") == [])
    let matches = ImageMatches(images: ["d/a.jpg", "e/a.jpg"], rows: ["b", "a"])
    #expect(matches.outcomes[1] == .refused("the row 'a' could be that of d/a.jpg and of e/a.jpg"))
    #expect(matches.refusalOfRow == [nil, "the row 'a' could be that of d/a.jpg and of e/a.jpg"])
    #expect(matches.imageOfRow == [nil, nil])
    // The same path twice is one image.
    #expect(match(["d/a.jpg", "d/a.jpg"], ["a"]) == ["a", "a"])
  }

  @Test func notesNameTheForm() {
    let matches = ImageMatches(images: ["a.jpg", "B.jpg", "C.png", "d.png"], rows: ["d", "a.jpg", "c", "b"])
    #expect(
      matches.notes(table: "t.csv") == [
        "in t.csv, 1 image was found by its name with the ending: a.jpg by 'a.jpg'.",
        "in t.csv, 2 images were found in another letter case: B.jpg by 'b', ...",
      ])
  }
}
