import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Files

@Suite struct ClassificationOutputTests {
  func result(
    _ logits: [Float] = [0, 0.5, 1, -2, 1.5, 4, -9], metadata: PatientMetadata = .unknown,
    warnings: [ClassificationWarning] = [], modelName: String = "lite2"
  ) -> Classification {
    Classification(
      logits: ClassScores(logits), temperature: 1, metadata: metadata, warnings: warnings, imageSHA256: "00",
      model: ModelIdentity(name: modelName, version: "1.0.0", sha256: String(repeating: "ab", count: 32)))
  }

  @Test func textForATerminalIsRankedAndWrapped() throws {
    let metadata = try PatientMetadata(ageInYears: 55, sex: .male)
    let text = ClassificationText(width: 80, usesColour: false)
      .text(
        ReportedResult(result(metadata: metadata, warnings: [.smallImage]), imageName: "a/lesion.jpg"),
        imageName: "a/lesion.jpg")
    #expect(
      text == """
        a/lesion.jpg

        Classification suggests Melanocytic nevi (85% confidence). This is not a
        diagnosis. Please consult a dermatologist.

          Melanocytic nevi               84.5%  █████████████████████████▍
          Melanoma                        6.9%  ██▏
          Benign keratosis-like lesions   4.2%  █▎
          Basal cell carcinoma            2.6%  ▊
          Actinic keratoses               1.5%  ▌
          Dermatofibroma                  0.2%  ▏
          Vascular lesions               <0.1%

          Risk        Low risk classification, consult a dermatologist for confirmation.
          Metadata    age 55, male, site missing
          Warning     The image is smaller than 100x100 pixels; fine structures are
                      lost.
          Model       lite2 1.0.0, SHA-256 abababababababab

        DermaFusion is a research and educational tool. It is NOT a medical device and
        has NOT been approved by the FDA or any regulatory authority. Results should NOT
        be used for self-diagnosis. Always consult a qualified dermatologist for skin
        concerns.

        """)
  }

  @Test func noLineForATerminalIsLongerThanItsWidth() {
    let evenly = result([0, 0, 0, 0, 0, 0, 0], warnings: ClassificationWarning.allCases)
    for width in [60, 80, 100] {
      let text = ClassificationText(width: width, usesColour: false)
        .text(ReportedResult(evenly, imageName: "x", timing: ClassificationTiming()), imageName: "x")
      for line in text.split(separator: "\n") where !line.contains("█") {
        #expect(line.count <= width, "\(line)")
      }
      #expect(text.contains("  Confidence  Confidence is low: no class reaches 20%.\n"))
    }
  }

  @Test func sentencesStayWholeWhereNoPersonLooks() {
    let result = result([0, 0, 0, 0, 9, 0, 0])
    let text = ClassificationText(width: nil, usesColour: false).text(
      ReportedResult(result, imageName: "x"), imageName: "x")
    #expect(text.contains("\n" + Wording.disclaimer + "\n"))
    #expect(text.contains("\n" + result.summary + "\n"))
    #expect(result.summary.hasSuffix("An urgent consultation with a dermatologist is advised."))
  }

  @Test func colourIsAddedAndChangesNoWord() {
    let result = result([0, 0, 0, 0, 9, 0, 0])
    let plain = ClassificationText(width: 80, usesColour: false).text(
      ReportedResult(result, imageName: "x"), imageName: "x")
    let coloured = ClassificationText(width: 80, usesColour: true).text(
      ReportedResult(result, imageName: "x"), imageName: "x")
    #expect(!plain.contains("\u{1B}"))
    #expect(coloured.contains("\u{1B}[31mHigh risk"))
    #expect(coloured.replacing(/\u{1B}\[[0-9]+m/, with: "") == plain)
  }

  @Test func theTableHasAColumnForEverything() throws {
    let result = result(
      metadata: try PatientMetadata(ageInYears: 0.5, site: .upperExtremity),
      warnings: [.smallImage, .nearBlack], modelName: "my \"net\", v2")
    let row = ClassificationCSV(labels: .ham10000).row(ReportedResult(result, imageName: "a,b.png"))
    let lines = ClassificationCSV(labels: .ham10000).header + row
    #expect(
      lines
        == "image_id,image,class,name,probability,akiec,bcc,bkl,df,mel,nv,vasc,risk,concern,urgent,confidence,"
        + "age,sex,site,missing,warnings,model,modelVersion,modelSHA256,summary,disclaimer,"
        + "abstain,abstainReasons,conformalSet,instructionSet,precision\n" + row)
    let table = try CSVTable(Array(lines.utf8), path: "t")
    let p = result.probabilities.values
    var fields = ["a,b", "a,b.png", "nv", "Melanocytic nevi", "\(p[5])"]
    fields += p.map { "\($0)" }
    fields += ["low", "", "false", "normal"]
    fields += ["0.5", "unknown", "upper extremity", "sex", "small_image near_black"]
    fields += ["my \"net\", v2", "1.0.0", String(repeating: "ab", count: 32)]
    fields += [result.summary, Wording.disclaimer, "false", "", "", "", ""]
    #expect(table.rows.map(\.fields) == [fields])
    #expect(row.hasPrefix("\"a,b\",\"a,b.png\",nv,Melanocytic nevi,"))
    #expect(row.contains(",\"my \"\"net\"\", v2\","))
  }

  @Test func noTwoColumnsHaveOneName() throws {
    let labels = Labels(
      ["risk", "views", "image", "mole"].map { .init(id: $0, name: $0, malignancy: nil) })
    let header = ClassificationCSV(labels: labels, options: .timing).header
    let columns = try CSVTable(Array(header.utf8), path: "t").header
    #expect(columns.count == Set(columns).count, "\(columns)")
    #expect(columns[5..<9] == ["probability_risk", "views", "probability_image", "mole"])
  }

  @Test func whereTheModelAbstainsNoClassAndNoRiskAreShown() throws {
    let logits = ClassScores([0, 0, 0, 0, 1, 5, 0])
    let result = Classification(
      logits: logits, temperature: 1, model: ModelIdentity(name: "m", version: "1", sha256: "00"),
      abstention: Abstention(
        reasons: [.blurred], conformalSet: Abstention.ConformalSet(classes: [.nv], coverage: 0.9)))
    let csv =
      ClassificationCSV(labels: .ham10000).header
      + ClassificationCSV(labels: .ham10000).row(ReportedResult(result, imageName: "x"))
    let table = try CSVTable(Array(csv.utf8), path: "t")
    for name in ["class", "name", "probability", "risk", "conformalSet"] {
      #expect(try table.rows[0][table.column(name)] == "", "\(name)")
    }
    #expect(try table.rows[0][table.column("abstain")] == "true")
    #expect(try table.rows[0][table.column("nv")] == "\(result.probabilities.values[5])")
    let text = ClassificationText(width: nil, usesColour: true).text(
      ReportedResult(result, imageName: "x"), imageName: "x")
    let lines = text.split(separator: "\n")
    #expect(
      lines[1].hasPrefix("No classification is suggested: the model abstains. The image is badly blurred."))
    #expect(text.contains("  Risk        not judged, since the model abstains\n"))
    for word in ["suggests", "Low risk", "90 % set", "\u{1B}[1m  "] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  /// A table of several images has one disclaimer below it.
  @Test func everyFormCarriesTheDisclaimer() {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "A.ppm")
    for (format, count) in [("text", 1), ("json", 2), ("csv", 2)] {
      let output = runTool("classify", image, image, "--format", format).output
      #expect(words(output).ranges(of: words(Wording.disclaimer)).count == count, "\(format)")
    }
  }

  /// Without the line breaks that a table's width asks for.
  private func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test func forbiddenPhrasesAppearInNoHelpAndNoText() {
    let texts =
      [Tool.dermafusion.help] + Tool.dermafusion.commands.map(Tool.dermafusion.help)
      + [[9, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 9, 0], [0, 0, 0, 0, 9, 0, 0], [0, 0, 0, 0, 0, 0, 0]].map {
        ClassificationText(width: nil, usesColour: false).text(
          ReportedResult(result($0, warnings: ClassificationWarning.allCases), imageName: "x"), imageName: "x"
        )
      }
    for text in texts {
      let allowed = ["this is not a diagnosis", "self-diagnosis"]
      let remaining = allowed.reduce(text.lowercased().replacing("\n", with: " ")) {
        $0.replacing($1, with: "")
      }
      for phrase in ["you have", "this is", "diagnos", "definitely", "safe", "nothing to worry"] {
        #expect(!remaining.contains(phrase), "\(phrase) in \(text)")
      }
    }
  }
}
