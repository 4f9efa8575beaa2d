import DermaFusion
import Files

/// One image of a report.
struct ReportSection {
  let entry: ReportEntry
  /// Makes names of the page's elements unique.
  let number: Int
  /// True if there is an index to go back to.
  let hasIndex: Bool
  /// See ``ReportPage/hidesAnswers``.
  let hidesAnswers: Bool
  let language: Language

  private var result: Classification { entry.result }

  /// `image-3`
  var anchor: String { "image-\(number)" }

  var html: String {
    """
    <section class="card" id="\(anchor)" aria-labelledby="\(anchor)-name">
    <h2 id="\(anchor)-name">\(HTML.escaped(entry.name))</h2>
    <div class="columns">
    <div class="stack">
    \(hidesAnswers ? photograph(caption: "") + Self.lines : pictures)
    </div>
    <div class="stack">
    \(hidesAnswers ? "<details class=\"answers\"><summary>\(text("reportFile.answers"))</summary>\n\(heatmap)\n\(answers)\n</details>" : answers)
    </div>
    </div>
    \(hasIndex ? "<p class=\"back\"><a href=\"#index\">\(text("reportFile.back"))</a></p>\n" : "")</section>
    """
  }

  /// Ruled lines to write on, on paper.
  private static let lines =
    "\n<div class=\"lines\" aria-hidden=\"true\"><div></div><div></div><div></div></div>"

  private func text(_ key: String) -> String { HTML.escaped(language[key]) }

  private var answers: String {
    """
    \(truth)<p class="lead">\(HTML.escaped(result.summary(in: language)))</p>
    \(risk)
    \(probabilities)
    \(warnings)
    \(facts)
    """
  }

  /// The label in the table, beside what the model answers.
  private var truth: String {
    guard let label = entry.label else { return "" }
    let agreement =
      result.answer.map { " " + text($0.prediction == label ? "reportFile.first" : "reportFile.another") }
      ?? ""
    let name = "<strong>\(HTML.escaped(language.name(label)))</strong>"
    return
      "<p class=\"truth\">\(text("reportFile.labelled").replacing("{name}", with: name))\(agreement)</p>\n"
  }

  // MARK: - Pictures

  private var pictures: String {
    guard let map = entry.maps.first, map.picture != nil else {
      return photograph(caption: entry.noMaps ?? entry.maps.first?.caption ?? "") + otherMaps
    }
    return """
      <fieldset class="views">
      <legend>\(text("reportFile.views"))</legend>
      <div class="choices">
      <label><input type="radio" class="show-heat" name="\(anchor)-view" checked> \(text("report.heatmap"))</label>
      <label><input type="radio" class="show-photograph" name="\(anchor)-view"> \(text("reportFile.photograph"))</label>
      </div>
      <div class="pictures">
      <figure class="photograph"><img src="\(HTML.jpegAddress(entry.photograph))" alt="\(photographText)">
      <figcaption>\(text("reportFile.square"))</figcaption></figure>
      \(figure(map))
      </div>
      </fieldset>
      \(scale)\(otherMaps)
      """
  }

  /// The map without a choice between it and the photograph, which is shown beside it.
  private var heatmap: String {
    guard let map = entry.maps.first, map.picture != nil else {
      return
        "<p class=\"soft\">\(HTML.escaped(entry.noMaps ?? entry.maps.first?.caption ?? ""))</p>\(otherMaps)"
    }
    return "\(figure(map))\n\(scale)\(otherMaps)"
  }

  /// Those behind the first, each with its class and its probability.
  private var otherMaps: String {
    let maps = entry.maps.dropFirst()
    if maps.isEmpty { return "" }
    let figures = maps.map { map in
      let name =
        "\(language.name(map.label)) \(Wording.percentage(result.probabilities[map.label], in: language))"
      let content =
        map.picture.map { "<img src=\"\(HTML.jpegAddress($0))\" alt=\"\(mapText(map))\">" }
        ?? "<p class=\"soft\">\(HTML.escaped(map.caption))</p>"
      return "<figure>\(content)\n<figcaption>\(HTML.escaped(name))</figcaption></figure>"
    }
    return
      "\n<div><h3>\(text("reportFile.maps"))</h3>\n<div class=\"maps\">\n\(figures.joined(separator: "\n"))\n</div></div>"
  }

  private func figure(_ map: ReportMap) -> String {
    """
    <figure class="heat"><img src="\(HTML.jpegAddress(map.picture ?? []))" alt="\(mapText(map))">
    <figcaption>\(HTML.escaped(map.caption))</figcaption></figure>
    """
  }

  private var scale: String {
    """
    <div class="scale"><span class="ramp" style="background: linear-gradient(to right, \(entry.ramp.joined(separator: ", ")))"></span>
    <span>0</span><span>0.25</span><span>0.5</span><span>0.75</span><span>1</span>
    <span class="label">\(text("heatmap.title"))</span></div>
    """
  }

  private func photograph(caption: String) -> String {
    """
    <figure><img src="\(HTML.jpegAddress(entry.photograph))" alt="\(photographText)" width="400" height="400">
    <figcaption class="soft">\(HTML.escaped(caption))</figcaption></figure>
    """
  }

  private var photographText: String {
    HTML.escaped(language["reportFile.photographOf", values: ["name": entry.name]])
  }
  private func mapText(_ map: ReportMap) -> String {
    HTML.escaped(
      language["reportFile.mapOf", values: ["name": language.name(map.label), "image": entry.name]])
  }

  // MARK: - Result

  private var risk: String {
    return """
      <p class="risk \(RiskIcon.name(result.risk))">\(RiskIcon.svg(result.risk))<span>\(HTML.escaped(language.risk(result).sentence))</span></p>
      """
  }

  /// The likeliest classes that are shown.
  private static let shownClassCount = 10

  private var probabilities: String {
    let ranked = result.probabilities.ranked
    let rows = ranked.prefix(Self.shownClassCount).map { label in
      let probability = result.probabilities[label]
      let width = (Double(probability) * 100).fixed(digits: 1)
      return """
        <tr\(label == result.prediction ? " class=\"first\"" : "")><th scope="row">\(HTML.escaped(language.name(label)))</th>\
        <td class="number">\(HTML.escaped(Wording.percentage(probability, in: language)))</td>\
        <td class="bar" aria-hidden="true"><span class="track"><span style="width: \(width)%"></span></span></td></tr>
        """
    }
    let rest = ranked.count - rows.count
    let more =
      rest > 0
      ? "<p class=\"soft\">\(HTML.escaped(language["reportFile.more", count: Double(rest)]))</p>" : ""
    let table = """
      <table class="bars"><caption>\(text("reportFile.probabilities"))</caption>
      \(rows.joined(separator: "\n"))
      </table>\(more)
      """
    guard result.abstains else { return table }
    return """
      <details><summary>\(text("reportFile.unreliable"))</summary>
      \(table)
      </details>
      """
  }

  private var warnings: String {
    let sentences = language.warnings(result)
    if sentences.isEmpty { return "" }
    let items = sentences.map { "<li>\(HTML.escaped($0))</li>" }.joined(separator: "\n")
    return "<div><h3>\(text("reportFile.warnings"))</h3>\n<ul class=\"warnings\">\n\(items)\n</ul></div>"
  }

  private var facts: String {
    let metadata = result.metadata
    let missing = "<span class=\"empty\">\(text("metadata.notGiven"))</span>"
    var rows = [
      (
        language["metadata.age"],
        metadata.ageInYears.map { HTML.escaped(language["metadata.years", count: $0]) } ?? missing
      ),
      (
        language["metadata.sex"],
        metadata.sex == .unknown ? missing : text("metadata.sexes.\(metadata.sex.rawValue)")
      ),
      (
        language["metadata.site"],
        metadata.site == .unknown ? missing : text("sites.\(metadata.site.rawValue)")
      ),
    ]
    if let set = result.answer?.conformalSet {
      let names = set.classes.prefix(Self.shownClassCount).map { language.name($0) }.joined(separator: ", ")
      let title = set.coverage.map {
        language["reportFile.set", values: ["percent": "\(Int(($0 * 100).rounded()))"]]
      }
      rows.append((title ?? language["reportFile.setUnknown"], HTML.escaped(names)))
    }
    if let hash = result.imageSHA256 { rows.append((language["facts.imageHash"], "<code>\(hash)</code>")) }
    let model = result.model
    rows.append((language["facts.model"], HTML.escaped("\(model.name) \(model.version)")))
    rows.append((language["facts.modelHash"], "<code>\(model.sha256)</code>"))
    let entries = rows.map { "<dt>\(HTML.escaped($0.0))</dt><dd>\($0.1)</dd>" }.joined(separator: "\n")
    return """
      <div><h3>\(text("reportFile.told"))</h3>
      <dl class="facts">
      \(entries)
      </dl></div>
      """
  }
}
