import Files
import Foundation
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion

/// `--language` of the commands that give results.
@Suite struct LanguageCommandTests {
  private let folder = TemporaryFolder()
  private static let classifier = Result { try LightDetector.classifier() }

  private func run(_ words: String...) throws -> ToolResult {
    runTool(words: words, classifier: try Self.classifier.get())
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// Numbers, ids and keys do not depend on the language, and English is what no option gives.
  @Test func sentencesOfJSONAreInTheLanguageAndNothingElse() throws {
    let image = folder.write(pnm(), to: "Ä b.ppm")
    let plain = try run("classify", image, "--format", "json")
    #expect(try run("classify", image, "--format", "json", "--language", "en").output == plain.output)
    let english = try object(plain.output)
    #expect(english["language"] == nil && english["disclaimerTranslation"] == nil)
    for language in [Language.german, .french] {
      let text = try run("classify", image, "--format", "json", "--language", language.rawValue).output
      var result = try object(text)
      #expect(result["disclaimer"] as? String == Wording.disclaimer)
      #expect(result.removeValue(forKey: "language") as? String == language.rawValue)
      #expect(result.removeValue(forKey: "disclaimerTranslation") as? String == language["disclaimer.text"])
      let summary = try #require(result["summary"] as? String)
      #expect(summary.contains(language["result.notDiagnosis"]), "\(summary)")
      result["summary"] = english["summary"]
      #expect(NSDictionary(dictionary: result) == NSDictionary(dictionary: english))
    }
  }

  @Test func aPersonReadsOneLanguageAndTheEnglishDisclaimer() throws {
    let images = (0..<3).map { folder.write(pnm(seed: $0 * 40), to: "\($0).ppm") }
    let one = try run("classify", images[0], "--age", "1.5", "--timing", "--tta", "--language", "de").output
    for word in [
      "  Risiko  ", "  Angaben  ", "Alter 1,5, Geschlecht fehlt", "  Modell  ", "  Zeit  ", "\u{A0}%",
    ] {
      #expect(one.contains(word), "\(word): \(one)")
    }
    for word in ["Risk", "Metadata", "Views", "Model ", "Time", "Melanoma", "suggests", "less than"] {
      #expect(!one.contains(word), "\(word): \(one)")
    }
    #expect(one.contains(Language.german["disclaimer.text"]) && one.contains(Wording.disclaimer))
    let many = try run("classify", images[0], images[1], images[2], "--language", "fr").output
    #expect(
      many.hasPrefix("Image") && many.contains("Remarque") && many.contains("3 images\u{A0}: "), "\(many)")
    #expect(many.contains(Language.french["table.notDiagnosis"]) && many.contains(Wording.disclaimer))
    #expect(!many.contains("Risk") && !many.contains("Classes: "))
    let wrong = try run("classify", images[0], "--language", "xx")
    #expect(wrong.status == .usage && wrong.errors.contains("'en', 'de' or 'fr'"), "\(wrong.errors)")
  }

  /// The failures of a model and of an image, on standard error.
  @Test func failuresAreInTheLanguage() throws {
    folder.write("[]", to: "bad/config.json")
    let (model, image) = (folder.path + "/bad", folder.write("nothing", to: "a.png"))
    for (language, ofModel, ofImage) in [
      ("en", #""the configuration" must be an object, and is an array"#, "not a PNG"),
      ("de", "die Konfiguration muss ein Objekt sein und ist ein Array", "kein Bild in "),
      ("fr", "la configuration doit être un objet, et est un tableau", "ce n’est pas une image "),
    ] {
      for command in ["classify", "gradcam", "report"] {
        let output = folder.path + "/out"
        let words = [command, image, "--language", language, "--quiet", "--output", output]
        let refused = runTool(words: words + ["--model", model], loading: loadingFolders)
        #expect(refused.status == .failure)
        let colon = language == "fr" ? "\u{A0}:" : ":"
        #expect(refused.errors == "Error: \(model)/config.json\(colon) \(ofModel)\n")
        let failed = runTool(words: words, classifier: try Self.classifier.get())
        #expect(failed.status == .failure)
        #expect(failed.errors.contains("a.png\(colon) \(ofImage)"))
      }
    }
  }

  @Test func aTableNamesItsLanguageAndIsContinuedInIt() throws {
    let image = folder.write(pnm(), to: "a.ppm")
    for format in ["csv", "json"] {
      let path = folder.path + "/r.\(format)"
      let words = ["classify", image, "--format", format, "--output", path, "--resume"]
      func resumed(_ language: String) throws -> ToolResult {
        try run(
          words[0], words[1], words[2], words[3], words[4], words[5], words[6], "--language", language)
      }
      #expect(try resumed("de").status == .success)
      let written = folder.contents(of: "r.\(format)")
      let text = String(decoding: written ?? [], as: UTF8.self)
      #expect(text.contains("Diagnose") && text.contains(Wording.disclaimer), "\(text)")
      for other in ["fr", "en"] {
        let refused = try resumed(other)
        #expect(refused.status == .failure && refused.errors.contains("r.\(format)"), "\(refused.errors)")
      }
      #expect(try resumed("de").status == .success)
      #expect(folder.contents(of: "r.\(format)") == written)
    }
  }

  @Test func aHeatmapIsExplainedInTheLanguage() throws {
    let image = folder.write(pnm(), to: "a.ppm")
    func map(_ language: String, _ format: String) throws -> (text: String, picture: [UInt8]) {
      let path = folder.path + "/\(language).png"
      let result = try run(
        "gradcam", image, "--trust", "--quiet", "--output", path, "--format", format, "--language", language)
      #expect(result.status == .success, "\(result.errors)")
      return (result.output, folder.contents(of: "\(language).png") ?? [])
    }
    let (english, german) = (try map("en", "text"), try map("de", "text"))
    #expect(english.text.contains("Deletion: ") && !german.text.contains("Deletion"))
    #expect(german.text.contains("Verdecken: ") && german.text.contains("  Verfahren  "), "\(german.text)")
    #expect(german.text.contains(Wording.disclaimer) && german.text.contains("KEIN Medizinprodukt"))
    #expect(english.picture != german.picture)
    // The picture's own texts are ASCII: both say the same in English.
    let carries = { (picture: [UInt8]) in
      String(decoding: picture, as: UTF8.self).contains(Wording.disclaimer)
    }
    #expect(carries(english.picture) && carries(german.picture))
    let json = try object(map("fr", "json").text)
    let maps = try #require(json["maps"] as? [[String: Any]])
    let trust = try #require(maps[0]["trust"] as? [String: Any])
    #expect((trust["words"] as? [String])?[0].hasPrefix("Cacher\u{A0}: ") == true, "\(trust)")
    #expect(json["disclaimer"] as? String == Wording.disclaimer && json["language"] as? String == "fr")
  }
}
