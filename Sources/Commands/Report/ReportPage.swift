import DermaFusion
import Files
import SystemModule

/// A report as one HTML page that needs nothing else: pictures are in it, and there are no scripts.
struct ReportPage {
  /// The images that are shown, in the order in which they were given.
  let entries: [ReportEntry]
  /// The summary of all images, shown or not.
  let summary: BatchSummary
  /// Names of images that could not be read, with the reasons.
  let failures: [Sentence]
  /// The levels that are shown; nil: all.
  var selections: [ReportSelection]? = nil
  /// The day on which it was made; empty: not to be told.
  var date = ""
  /// The heading; nil: one that says what the page is.
  var title: String? = nil
  /// True if what images show, and what the model answers, is seen only after a click.
  var hidesAnswers = false
  var language = Language.english

  /// In the index and below it alike, the images that a person should look at come first.
  private var sortedEntries: [ReportEntry] {
    // The order of the risk would give the answers away.
    if hidesAnswers { return entries }
    let places = entries.map { ReportSelection($0.result).place }
    return entries.indices.sorted { (places[$0], $0) < (places[$1], $1) }.map { entries[$0] }
  }

  var html: String {
    let hasIndex = entries.count > 1
    let sections = sortedEntries.enumerated().map {
      ReportSection(
        entry: $0.element, number: $0.offset + 1, hasIndex: hasIndex, hidesAnswers: hidesAnswers,
        language: language
      )
    }
    return """
      <!DOCTYPE html>
      <html lang="\(language.rawValue)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="generator" content="DermaFusion \(DermaFusionVersion.current)">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
      <title>\(HTML.escaped(documentTitle))</title>
      <style>
      \(ReportStyle.text(pages: language["reportFile.pages"]))
      </style>
      </head>
      <body>
      <header>
      \(disclaimer)
      <h1>\(HTML.escaped(heading))</h1>
      \(hidesAnswers ? "" : counts)\(shown)
      </header>
      <main\(hidesAnswers ? " class=\"lesson\"" : "")>
      \(hasIndex ? index(sections) : "")
      \(sections.map { $0.html }.joined(separator: "\n"))
      \(failureList)\(hidesAnswers ? answerSheet : "")
      </main>
      <footer><p>\(HTML.escaped(made)) \(HTML.escaped(language["reportFile.sees"]))</p></footer>
      </body>
      </html>

      """
  }

  /// In English word for word; in another language also what it means there.
  private var disclaimer: String {
    let english = "<p class=\"notice\" role=\"note\">\(HTML.escaped(Wording.disclaimer))</p>"
    if language == .english { return english }
    return """
      <div class="notice" role="note"><p>\(HTML.escaped(language["disclaimer.text"]))</p>
      <p>\(HTML.escaped(language["disclaimer.original"])) <span lang="en">\(HTML.escaped(Wording.disclaimer))</span></p></div>
      """
  }

  private var made: String {
    let version = DermaFusionVersion.current
    return date.isEmpty
      ? language["reportFile.made", values: ["version": version]]
      : language["reportFile.madeOn", values: ["version": version, "date": date]]
  }

  /// Values are put in last, so that a brace in a name stays as it is.
  private var documentTitle: String {
    if let title { return language["reportFile.titled", values: ["title": title]] }
    return language[
      "reportFile.title", count: Double(entries.count), values: ["name": entries.first?.name ?? ""]]
  }

  private var heading: String { title ?? language["reportFile.heading", count: Double(entries.count)] }

  private var counts: String {
    guard summary.count + summary.failedCount > 1 else { return "" }
    return "<p>\(HTML.escaped(summary.sentences(in: language).joined(separator: " ")))</p>"
  }

  /// That images are left out.
  private var shown: String {
    guard let selections else { return "" }
    let levels = selections.map { language["reportFile.levels.\($0.rawValue)"] }.joined(separator: ", ")
    let sentence = language[
      "reportFile.shown", count: Double(summary.count),
      values: ["levels": levels, "shown": "\(entries.count)"]]
    return "\n<p>\(HTML.escaped(sentence))</p>"
  }

  private func index(_ sections: [ReportSection]) -> String {
    let items = sections.map { section in
      let result = section.entry.result
      return """
        <li><a href="#\(section.anchor)"><img src="\(HTML.jpegAddress(section.entry.thumbnail))" alt="" width="72" height="72">\
        <span><span class="name">\(HTML.escaped(section.entry.name))</span>\(hidesAnswers ? "" : answer(result))\
        </span></a></li>
        """
    }
    return """
      <nav class="card" id="index" aria-labelledby="index-name"><h2 id="index-name">\(HTML.escaped(language["reportFile.index"]))</h2>
      <ol class="index">
      \(items.joined(separator: "\n"))
      </ol></nav>
      """
  }

  /// The last sheet of a printed lesson. On a screen, each photograph has its answers.
  private var answerSheet: String {
    let rows = sortedEntries.map { entry in
      let label = entry.label.map { language.name($0) } ?? ""
      return """
        <tr><th scope="row">\(HTML.escaped(entry.name))</th><td>\(HTML.escaped(label))</td>\
        <td>\(HTML.escaped(language.headline(entry.result)))</td>\
        <td>\(HTML.escaped(language.risk(entry.result).word))</td></tr>
        """
    }
    return """

      <section class="card answer-sheet"><h2>\(HTML.escaped(language["reportFile.answerSheet"]))</h2>
      <table>
      \(rows.joined(separator: "\n"))
      </table></section>
      """
  }

  private func answer(_ result: Classification) -> String {
    """
    <br>\(HTML.escaped(language.headline(result)))\
    <span class="verdict">\(RiskIcon.svg(result.risk))\(HTML.escaped(language.risk(result).word))</span>
    """
  }

  private var failureList: String {
    if failures.isEmpty { return "" }
    let items = failures.map { "<li>\(HTML.escaped(language.words(of: $0)))</li>" }.joined(separator: "\n")
    return
      "<section class=\"card\"><h2>\(HTML.escaped(language["reportFile.without"]))</h2>\n<ul class=\"warnings\">\n\(items)\n</ul></section>"
  }
}
