import DermaFusion
import Files

/// A report as one HTML page that needs nothing else: pictures are in it, and there are no scripts.
struct ReportPage {
  /// The images that are shown.
  let entries: [ReportEntry]
  /// Of all images, shown or not.
  let summary: BatchSummary
  /// Names of images that could not be read, with the reasons.
  let failures: [String]
  /// The levels that are shown; nil: all.
  var selections: [ReportSelection]? = nil
  /// The day on which it was made; empty: not to be told.
  var date = ""
  /// The heading; nil: one that says what the page is.
  var title: String? = nil
  /// Whether what images show, and what the model answers, is seen only after a click.
  var hidesAnswers = false

  var html: String {
    let hasIndex = entries.count > 1
    let sections = entries.enumerated().map {
      ReportSection(
        entry: $0.element, number: $0.offset + 1, hasIndex: hasIndex, hidesAnswers: hidesAnswers)
    }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="generator" content="DermaFusion \(DermaFusionVersion.current)">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
      <title>\(HTML.escaped(documentTitle))</title>
      <style>
      \(ReportStyle.text)
      </style>
      </head>
      <body>
      <header>
      <p class="notice" role="note">\(HTML.escaped(Wording.disclaimer))</p>
      <h1>\(HTML.escaped(heading))</h1>
      \(hidesAnswers ? "" : counts)\(shown)
      </header>
      <main>
      \(hasIndex ? index(sections) : "")
      \(sections.map { $0.html }.joined(separator: "\n"))
      \(failureList)
      </main>
      <footer><p>Made by DermaFusion \(DermaFusionVersion.current)\(date.isEmpty ? "" : " on \(HTML.escaped(date))") on the machine that holds the images. The model sees the centre \
      square of an image and what it is told of the patient, nothing else.</p></footer>
      </body>
      </html>

      """
  }

  private var documentTitle: String {
    if let title { return "\(title) - DermaFusion report" }
    return entries.count == 1
      ? "\(entries[0].name) - DermaFusion report" : "DermaFusion report of \(entries.count) images"
  }

  private var heading: String {
    title
      ?? (entries.count == 1
        ? "Report of a dermoscopy image" : "Report of \(entries.count) dermoscopy images")
  }

  private var counts: String {
    guard summary.count + summary.failedCount > 1 else { return "" }
    return "<p>\(HTML.escaped(summary.sentences.joined(separator: " ")))</p>"
  }

  /// That images are left out.
  private var shown: String {
    guard let selections else { return "" }
    let names = selections.map(\.rawValue).joined(separator: ", ")
    return
      "\n<p>This page shows the images with the result \(HTML.escaped(names)): \(entries.count) of \(summary.count). The others are left out.</p>"
  }

  private func index(_ sections: [ReportSection]) -> String {
    let places = sections.map { ReportSelection($0.entry.result).place }
    // The order of the risk would give the answers away.
    let order =
      hidesAnswers
      ? Array(sections.indices) : sections.indices.sorted { (places[$0], $0) < (places[$1], $1) }
    let items = order.map { sections[$0] }.map { section in
      let result = section.entry.result
      return """
        <li><a href="#\(section.anchor)"><img src="\(HTML.jpegAddress(section.entry.thumbnail))" alt="" width="72" height="72">\
        <span><span class="name">\(HTML.escaped(section.entry.name))</span>\(hidesAnswers ? "" : answer(result))\
        </span></a></li>
        """
    }
    return """
      <nav class="card" id="index" aria-labelledby="index-name"><h2 id="index-name">All images</h2>
      <ol class="index">
      \(items.joined(separator: "\n"))
      </ol></nav>
      """
  }

  private func answer(_ result: Classification) -> String {
    """
    <br>\(HTML.escaped(headline(result)))\
    <span class="verdict">\(RiskIcon.svg(result.risk))\(HTML.escaped(verdict(result)))</span>
    """
  }

  /// `Melanoma 81.8%`, with the class that cannot be excluded.
  private func headline(_ result: Classification) -> String {
    guard let answer = result.answer else { return "No classification is suggested" }
    let prediction = "\(answer.prediction.name) \(Wording.percentage(answer.probability))"
    guard let concern = answer.concern, let probability = answer.concernProbability else { return prediction }
    return "\(prediction); \(concern.name) cannot be excluded (\(Wording.percentage(probability)))"
  }

  private func verdict(_ result: Classification) -> String {
    if result.abstains { return "The model abstains" }
    return result.risk.map { "\($0.rawValue.capitalizedFirst) risk classification" } ?? "Risk is not judged"
  }

  private var failureList: String {
    if failures.isEmpty { return "" }
    let items = failures.map { "<li>\(HTML.escaped($0))</li>" }.joined(separator: "\n")
    return
      "<section class=\"card\"><h2>Images without a result</h2>\n<ul class=\"warnings\">\n\(items)\n</ul></section>"
  }
}

extension String {
  /// `High` for `high`.
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// One image of a report.
struct ReportSection {
  let entry: ReportEntry
  /// Makes names of the page's elements unique.
  let number: Int
  /// Whether there is an index to go back to.
  let hasIndex: Bool
  /// See ``ReportPage/hidesAnswers``.
  let hidesAnswers: Bool

  private var result: Classification { entry.result }

  /// `image-3`
  var anchor: String { "image-\(number)" }

  var html: String {
    """
    <section class="card" id="\(anchor)" aria-labelledby="\(anchor)-name">
    <h2 id="\(anchor)-name">\(HTML.escaped(entry.name))</h2>
    <div class="columns">
    <div class="stack">
    \(hidesAnswers ? photograph(caption: "") : pictures)
    </div>
    <div class="stack">
    \(hidesAnswers ? "<details class=\"answers\"><summary>Show the answers</summary>\n\(heatmap)\n\(answers)\n</details>" : answers)
    </div>
    </div>
    \(hasIndex ? "<p class=\"back\"><a href=\"#index\">Back to all images</a></p>\n" : "")</section>
    """
  }

  private var answers: String {
    """
    \(truth)<p class="lead">\(HTML.escaped(result.summary))</p>
    \(risk)
    \(probabilities)
    \(warnings)
    \(facts)
    """
  }

  /// What the table says that the image shows, beside what the model answers.
  private var truth: String {
    guard let label = entry.label else { return "" }
    let agreement =
      result.answer.map {
        $0.prediction == label ? " The model ranks it first." : " The model ranks another class first."
      }
      ?? ""
    return "<p class=\"truth\">Labelled: <strong>\(HTML.escaped(label.name))</strong>.\(agreement)</p>\n"
  }

  // MARK: - Pictures

  private var pictures: String {
    let sentence = entry.mapSentence.map { HTML.escaped($0) } ?? ""
    guard let heatmap = entry.heatmap else { return photograph(caption: sentence) }
    return """
      <fieldset class="views">
      <legend>What is shown</legend>
      <div class="choices">
      <label><input type="radio" class="show-heat" name="\(anchor)-view" checked> Heatmap</label>
      <label><input type="radio" class="show-photograph" name="\(anchor)-view"> Photograph</label>
      </div>
      <div class="pictures">
      <figure class="photograph"><img src="\(HTML.jpegAddress(entry.photograph))" alt="\(photographText)">
      <figcaption>The centre square of the image, which is all that the model sees.</figcaption></figure>
      \(figure(heatmap, caption: sentence))
      </div>
      </fieldset>
      \(scale)
      """
  }

  /// The map without a choice between it and the photograph, which is shown beside it.
  private var heatmap: String {
    let sentence = entry.mapSentence.map { HTML.escaped($0) } ?? ""
    guard let heatmap = entry.heatmap else { return "<p class=\"soft\">\(sentence)</p>" }
    return "\(figure(heatmap, caption: sentence))\n\(scale)"
  }

  private func figure(_ heatmap: [UInt8], caption: String) -> String {
    """
    <figure class="heat"><img src="\(HTML.jpegAddress(heatmap))" alt="\(heatmapText)">
    <figcaption>\(caption)</figcaption></figure>
    """
  }

  private var scale: String {
    """
    <div class="scale"><span class="ramp" style="background: linear-gradient(to right, \(entry.ramp.joined(separator: ", ")))"></span>
    <span>0</span><span>0.25</span><span>0.5</span><span>0.75</span><span>1</span>
    <span class="label">Support for the class</span></div>
    """
  }

  private func photograph(caption: String) -> String {
    """
    <figure><img src="\(HTML.jpegAddress(entry.photograph))" alt="\(photographText)" width="400" height="400">
    <figcaption class="soft">\(caption)</figcaption></figure>
    """
  }

  private var photographText: String { "Photograph \(HTML.escaped(entry.name))" }
  private var heatmapText: String {
    "Heatmap over the photograph \(HTML.escaped(entry.name)): the regions that support the class"
  }

  // MARK: - Result

  private var risk: String {
    let sentence =
      switch result.outcome {
      case .abstained: "Risk is not judged, since the model abstains."
      case .answer(let answer):
        answer.risk.map { Wording.sentence(for: $0) }
          ?? "Risk is not judged, since the model does not say which of its classes are malignant."
      }
    return """
      <p class="risk \(RiskIcon.name(result.risk))">\(RiskIcon.svg(result.risk))<span>\(HTML.escaped(sentence))</span></p>
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
        <tr\(label == result.prediction ? " class=\"first\"" : "")><th scope="row">\(HTML.escaped(label.name))</th>\
        <td class="number">\(HTML.escaped(Wording.percentage(probability)))</td>\
        <td class="bar" aria-hidden="true"><span class="track"><span style="width: \(width)%"></span></span></td></tr>
        """
    }
    let rest = ranked.count - rows.count
    let more = rest > 0 ? "<p class=\"soft\">\(rest) more classes are less likely than these.</p>" : ""
    let table = """
      <table class="bars"><caption>Probability of each class</caption>
      \(rows.joined(separator: "\n"))
      </table>\(more)
      """
    guard result.abstains else { return table }
    return """
      <details><summary>The probabilities, which mean little for this image</summary>
      \(table)
      </details>
      """
  }

  private var warnings: String {
    var sentences = result.warnings.map { $0.sentence }
    if let confidence = Wording.sentence(for: result.confidence) { sentences.insert(confidence, at: 0) }
    if sentences.isEmpty { return "" }
    let items = sentences.map { "<li>\(HTML.escaped($0))</li>" }.joined(separator: "\n")
    return "<div><h3>Warnings</h3>\n<ul class=\"warnings\">\n\(items)\n</ul></div>"
  }

  private var facts: String {
    let metadata = result.metadata
    let missing = "<span class=\"empty\">not given</span>"
    var rows = [
      ("Age", metadata.ageInYears.map { HTML.escaped("\(JSONValue.decimal($0)) years") } ?? missing),
      ("Sex", metadata.sex == .unknown ? missing : HTML.escaped(metadata.sex.rawValue)),
      ("Site", metadata.site == .unknown ? missing : HTML.escaped(metadata.site.rawValue)),
    ]
    if let set = result.answer?.conformalSet {
      let names = set.classes.prefix(Self.shownClassCount).map { $0.name }.joined(separator: ", ")
      rows.append(("\(Int((set.coverage * 100).rounded())) % set", HTML.escaped(names)))
    }
    if let hash = result.imageSHA256 { rows.append(("Image SHA-256", "<code>\(hash)</code>")) }
    let model = result.model
    rows.append(("Model", HTML.escaped("\(model.name) \(model.version)")))
    rows.append(("Model SHA-256", "<code>\(model.sha256)</code>"))
    let entries = rows.map { "<dt>\(HTML.escaped($0.0))</dt><dd>\($0.1)</dd>" }.joined(separator: "\n")
    return """
      <div><h3>What the model was told, and which model it was</h3>
      <dl class="facts">
      \(entries)
      </dl></div>
      """
  }
}
