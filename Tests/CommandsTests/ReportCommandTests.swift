import Foundation
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Figures
@testable import Files

@Suite struct ReportCommandTests {
  let folder = TemporaryFolder()
  private static let classifier = Result { try LightDetector.classifier() }

  /// Runs the command with a network made by hand, whose maps are those of light.
  private func report(_ words: [String]) throws -> ToolResult {
    runTool(words: ["report"] + words, classifier: try Self.classifier.get())
  }

  /// The page of a report of these images, as it is written.
  private func page(_ words: [String], status: Int32 = 0) throws -> String {
    let path = folder.path + "/report.html"
    let result = try report(["--output", path] + words)
    #expect(result.status.rawValue == status, "\(result.errors)")
    #expect(result.output == "")
    return try #require(folder.text(of: "report.html"))
  }

  @Test func aPageHoldsEverythingAndNeedsNothing() throws {
    let image = folder.write(pnm(), to: "A.ppm")
    let page = try page([image, "--age", "55", "--sex", "male"])
    let model = try Self.classifier.get().model
    #expect(page.contains("\(model.name) \(model.version)") && page.contains(model.sha256))
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
    let body = try #require(page.firstRange(of: "<body>"))
    let disclaimer = try #require(
      page[body.upperBound...].firstRange(of: HTML.escaped(Wording.disclaimer)))
    let heading = try #require(page.firstRange(of: "<h1>"))
    #expect(body.upperBound < disclaimer.lowerBound && disclaimer.upperBound < heading.lowerBound)
    for part in [
      "Classification suggests", "This is not a diagnosis.", "55\u{A0}years", "Male", "not given", "A.ppm",
    ] {
      #expect(page.contains(part), "\(part) is not in the page")
    }
    for part in ["<script", "http:", "https:", "javascript:", "@import", "<link"] {
      #expect(!page.contains(part), "\(part) is in the page")
    }
    let again = try report([image, "--age", "55", "--sex", "male", "--output", folder.path + "/again.html"])
    #expect(again.status == .success)
    #expect(folder.text(of: "again.html") == page)
  }

  @Test func namesAreText() throws {
    let image = folder.write(pnm(), to: "<b>&\"'.ppm")
    let page = try page([image])
    #expect(page.contains("&lt;b&gt;&amp;&quot;&#39;.ppm"))
    #expect(!page.contains("<b>"))
    #expect(HTML.escaped("a\u{1B}b\u{202E}c\u{E9}") == "a\\u{1B}b\\u{202E}c\u{E9}")
  }

  @Test func severalImagesHaveAnIndexAndFailuresAreNamed() throws {
    let images = (0..<3).map { folder.write(pnm(seed: $0 * 40), to: "\($0).ppm") }
    let page = try page(images + [folder.path + "/missing.ppm"], status: 1)
    for number in 1...3 {
      #expect(page.contains("href=\"#image-\(number)\"") && page.contains("id=\"image-\(number)\""))
    }
    #expect(page.contains("3 images: "))
    #expect(page.contains("1 failed.") && page.contains("missing.ppm: no such file or folder"))
    // Once on the screen; the style sheet sets it under each printed page.
    let body = page.components(separatedBy: "</style>")[1]
    #expect(body.components(separatedBy: HTML.escaped(Wording.disclaimer)).count == 2)
    #expect(page.contains("@bottom-left { content: \"\(Wording.disclaimer)\";"))
  }

  @Test func theIndexBeginsWithTheHighestRisk() throws {
    let images = (0..<6).map { folder.write(pnm(seed: $0 * 40), to: "\($0).ppm") }
    let page = try page(images)
    let index = try #require(
      page.components(separatedBy: "id=\"index\"").last?.components(separatedBy: "</nav>").first)
    let verdicts = index.components(separatedBy: "class=\"verdict\"").dropFirst().map { item in
      ["High", "Moderate", "abstains", "No risk", "Low"].firstIndex { item.contains($0) } ?? -1
    }
    #expect(verdicts.count == 6 && verdicts == verdicts.sorted(), "\(verdicts)")
    // The images stand below in the order of the index.
    let names = { (part: String, start: String) in
      part.components(separatedBy: start).dropFirst().map { $0.prefix { $0 != "<" } }
    }
    let below = try #require(page.components(separatedBy: "</nav>").last)
    let listed = names(index, "class=\"name\">")
    let shown = below.components(separatedBy: "-name\">").dropFirst().map { $0.prefix { $0 != "<" } }
    #expect(listed == shown.filter { $0 != "\n" })
  }

  /// The likeliest of very many classes may have next to no probability, which no language calls 0 percent.
  @Test(arguments: [
    (Language.english, "(less than 1% confidence)"), (.german, "(weniger als 1\u{A0}% Konfidenz)"),
    (.french, "(confiance inférieure à 1\u{202F}%)"),
  ])
  func aConfidenceBelowOnePercentIsNotNought(language: Language, words: String) {
    let labels = Labels((0..<256).map { .init(id: "n\($0)", name: "N\($0)", malignancy: nil) })
    let equal = ClassScores([Float](repeating: 1 / 256, count: 256), labels: labels)
    let result = Classification(
      logits: equal, probabilities: equal, metadata: .unknown, warnings: [], imageSHA256: nil,
      model: ModelIdentity(name: "m", version: "1", sha256: "ab"))
    #expect(result.summary(in: language).contains(words))
  }

  /// Every text is there: a missing one would end the program.
  @Test(arguments: Language.allCases)
  func aPageSpeaksOneLanguage(language: Language) throws {
    let images = (0..<6).map { folder.write(pnm(seed: $0 * 40), to: "\($0).ppm") }
    let labels = folder.write("image_id,dx\n0,mel\n2,nv\n", to: "labels.csv")
    let words =
      images + [
        "--language", language.rawValue, "--age", "1.5", "--sex", "female", "--site", "lower extremity",
        "--labels",
        labels, "--class", "all", "--only", "high,moderate,low,abstained,unjudged",
      ]
    let page = try page(words + [folder.path + "/missing.ppm"], status: 1)
    #expect(page.contains("<html lang=\"\(language.rawValue)\">"))
    let body = page.components(separatedBy: "</style>")[1]
    #expect(body.components(separatedBy: HTML.escaped(Wording.disclaimer)).count == 2)
    #expect(page.contains("@bottom-left { content: \"\(Wording.disclaimer)\";"))
    let own: [Language: [String]] = [
      .english: [
        "Classification suggests", "1.5\u{A0}years", "Place on the body",
        "Labelled: <strong>Melanoma</strong>",
        "Back to all", "missing.ppm: no such file or folder", "counter(page) \" of \" counter(pages)",
      ],
      .german: [
        "Die Klassifikation legt", "1,5\u{A0}Jahre", "Weiblich", "<dd>Bein</dd>",
        "Laut Tabelle: <strong>Melanom</strong>", "6 Bilder: ",
        "missing.ppm: keine solche Datei und kein solcher Ordner", "Es gilt der englische Wortlaut",
        "\u{A0}%",
        "counter(page) \" von \" counter(pages)",
      ],
      .french: [
        "La classification suggère", "1,5\u{A0}an<", "Féminin", "<dd>jambe</dd>",
        "Selon le tableau\u{A0}: <strong>Mélanome</strong>", "6 images\u{A0}: ",
        "missing.ppm\u{A0}: fichier ou dossier introuvable",
        "La version anglaise fait foi",
        "\u{202F}%", "\u{A0}: GradCAM", "counter(page) \" sur \" counter(pages)",
      ],
    ]
    for (other, words) in own {
      for word in words { #expect(page.contains(word) == (other == language), "\(word) in \(language)") }
    }
    for brace in ["{name}", "{count}", "{percent}", "{image}", "{date}", "{levels}"] {
      #expect(!body.contains(brace), "\(brace)")
    }
  }

  @Test func everyClassCanHaveAMap() throws {
    let images = (0..<2).map { folder.write(pnm(seed: $0 * 40), to: "\($0).ppm") }
    let one = try page([images[0]])
    let all = try page([images[0], "--class", "all"])
    let count = try Self.classifier.get().labels.count
    #expect(!one.contains("class=\"maps\""))
    let grid = try #require(
      all.components(separatedBy: "class=\"maps\"").last?.components(separatedBy: "</div>").first)
    #expect(grid.components(separatedBy: "<figure>").count == count)
    #expect(all.contains("Heatmap over the photograph 0.ppm: the regions that support "))
    let melanoma = try page([images[0], "--class", "mel"])
    let isMelanomas =
      melanoma.contains("the regions that support Melanoma")
      || (one.contains("the regions that support ") && melanoma.contains("no place supports this class"))
    #expect(isMelanomas && !melanoma.contains("class=\"maps\""))
    let wrong = try report([images[0], "--class", "wart", "--output", folder.path + "/x.html"])
    #expect(wrong.status == .usage && wrong.errors.contains("'wart'"), "\(wrong.errors)")
    #expect(
      try report([images[0], "--language", "xx", "--output", folder.path + "/x.html"]).status == .usage)
  }

  @Test func onlyImagesOfTheNamedRisksAreShownAndTheOthersCounted() throws {
    let images = (0..<6).map { folder.write(pnm(seed: $0 * 40), to: "\($0).ppm") }
    let all = try page(images)
    var shown = 0
    for selection in ReportSelection.allCases {
      let page = try page(images + ["--only", selection.rawValue])
      let count = page.components(separatedBy: "<section class=\"card\" id=\"image-").count - 1
      #expect(page.contains("with the result \(selection.rawValue): \(count) of 6. The others are left out."))
      shown += count
    }
    #expect(shown == 6)
    let everything = try page(images + ["--only", "low,MODERATE,high,abstained,unjudged"])
    #expect(
      everything.components(separatedBy: "<section").count == all.components(separatedBy: "<section").count)
    let wrong = try report(images + ["--only", "high,", "--output", folder.path + "/x.html"])
    #expect(
      wrong.status == .usage && wrong.errors.contains("The value 'high,' is invalid for '--only <levels>'."))
  }

  @Test(arguments: ["report.pdf", "report.PDF", "report.png", "report.csv"])
  func aNameOfAnotherKindOfFileIsRefused(name: String) throws {
    let image = folder.write(pnm(), to: "A.ppm")
    let result = try report([image, "--output", "\(folder.path)/\(name)"])
    result.expect(.usage, part: "please provide a name that ends in .html")
    #expect(folder.contents(of: name) == nil)
  }

  @Test func imagesOfOneNameAreToldApartByTheirPaths() throws {
    let images = ["a.ppm", "left/a.ppm", "b.ppm"].map { folder.write(pnm(), to: $0) }
    let page = try page(images)
    #expect(page.contains(images[0]) && page.contains(images[1]), "two files are called a.ppm")
    #expect(page.contains("b.ppm") && !page.contains(images[2]))
  }

  /// For a lesson: what images show stands beside the answers, and neither can be seen before a click.
  @Test func answersCanBeHiddenBesideWhatImagesShow() throws {
    let images = (0..<3).map { folder.write(pnm(seed: 40 * $0), to: "i\($0).ppm") }
    let labels = folder.write("image_id,dx\ni0,mel\ni2,nv\n", to: "labels.csv")
    let words = images + ["--labels", labels, "--title", "Lesson <1>"]
    let open = try page(words)
    #expect(open.contains("<h1>Lesson &lt;1&gt;</h1>") && open.contains("<title>Lesson &lt;1&gt; - "))
    #expect(open.components(separatedBy: "class=\"truth\"").count == 3)
    #expect(open.contains("Labelled: <strong>Melanoma</strong>"))
    let hidden = try page(words + ["--hide-answers"])
    let sheets = hidden.components(separatedBy: "<section class=\"card answer-sheet\">")
    #expect(sheets.count == 2 && sheets[1].components(separatedBy: "<tr>").count == 4)
    // In the order of the photographs, which is not that of the risks.
    var sheet = sheets[1][...]
    for word in ["i0.ppm", "<td>Melanoma</td>", "%", "i1.ppm", "<td></td>", "i2.ppm", "Melanocytic nevi"] {
      let place = try #require(sheet.firstRange(of: word), "\(word) in \(sheet)")
      sheet = sheet[place.upperBound...]
    }
    #expect(!open.contains("answer-sheet\">") && !open.contains("class=\"lines\""))
    #expect(sheets[0].components(separatedBy: "class=\"lines\"").count == 4)
    let parts = sheets[0].components(separatedBy: "<details class=\"answers\">")
    #expect(parts.count == 4)
    // The part outside of the details.
    let shown = ([parts[0]] + parts.dropFirst().map { $0.components(separatedBy: "\n</details>").last ?? "" })
      .joined()
    for word in ["Labelled", "suggests", "risk classification", "Risk", "class=\"heat\"", "%"] {
      let body = try #require(shown.firstRange(of: "<body>"))
      #expect(!shown[body.upperBound...].contains(word), "\(word) can be seen")
    }
    #expect(shown.components(separatedBy: "alt=\"Photograph i").count == 4)
    #expect(shown.contains(HTML.escaped(Wording.disclaimer)))
  }

  @Test func everyElementIsClosed() throws {
    let images = (0..<2).map { folder.write(pnm(seed: $0), to: "\($0).ppm") }
    let page = try page(images)
    let void: Set = ["meta", "img", "input", "br", "path", "!DOCTYPE"]
    var open: [String] = []
    for tag in page.components(separatedBy: "<").dropFirst() {
      // Not what the style sheet compares.
      let name = String(tag.prefix { $0.isLetter || $0.isNumber || $0 == "/" || $0 == "!" })
      if name.hasPrefix("/") {
        #expect(open.popLast() == String(name.dropFirst()), "</\(name.dropFirst())> closes another element")
      } else if !void.contains(name) {
        open.append(name)
      }
    }
    #expect(open == [])
  }

  @Test func aReportReplacesNothingThatIsRead() throws {
    let image = folder.write(pnm(), to: "A.ppm")
    let result = try report([image, "--output", image])
    #expect(result.status == .usage)
    #expect(folder.contents(of: "A.ppm") == pnm())
  }

  @Test func base64IsThatOfRFC4648() {
    for (text, encoded) in [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ] {
      #expect(HTML.base64(Array(text.utf8)) == encoded)
    }
    #expect(HTML.base64([0xFB, 0xFF, 0xBF]) == "+/+/")
  }

  private static let palette = Fixtures.root.appendingPathComponent("Sources/BrowserPage/palette.json")

  /// The browser page's colours are the report's and the figures'.
  @Test(
    .enabled(
      if: FileManager.default.fileExists(atPath: palette.path), "there is no browser page to compare with"))
  func coloursAreThoseOfThePage() throws {
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.palette)) as? [String: Any]
    let colors = try #require(object?["risk"] as? [String: String])
    for level in ["low", "moderate", "high", "none"] {
      let color = try #require(colors[level])
      #expect(
        ReportStyle.text(pages: "").contains("--\(level): \(color);"), "\(level) is \(color) on the page")
      let sign = try #require([RiskSign.low, .moderate, .high, .none].first { "\($0)" == level })
      let hex = [sign.color.red, sign.color.green, sign.color.blue].map { String(format: "%02x", $0) }
        .joined()
      #expect("#" + hex == color, "\(level) is #\(hex) in figures")
    }
  }
}
