import DermaFusion

/// A report as one HTML page that needs nothing else: pictures are in it, and there are no scripts.
struct ReportPage {
  /// The images that are shown.
  let entries: [ReportEntry]
  /// Of all images, shown or not.
  let summary: BatchSummary
  /// Names of images that could not be read, with the reasons.
  let failures: [String]
  /// What the shown images were picked by; nil: all are shown.
  var selections: [ReportSelection]? = nil
  /// The day on which it was made; empty: not to be told.
  var date = ""

  var html: String {
    let hasIndex = entries.count > 1
    let sections = entries.enumerated().map {
      ReportSection(entry: $0.element, number: $0.offset + 1, hasIndex: hasIndex)
    }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="generator" content="DermaFusion \(DermaFusionVersion.current)">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
      <title>\(HTML.escaped(title))</title>
      <style>
      \(ReportStyle.text)
      </style>
      </head>
      <body>
      <header>
      <p class="notice" role="note">\(HTML.escaped(Wording.disclaimer))</p>
      <h1>\(HTML.escaped(heading))</h1>
      \(counts)\(shown)
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

  private var title: String {
    entries.count == 1
      ? "\(entries[0].name) - DermaFusion report" : "DermaFusion report of \(entries.count) images"
  }

  private var heading: String {
    entries.count == 1 ? "Report of a dermoscopy image" : "Report of \(entries.count) dermoscopy images"
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
      "\n<p>Shown are the images with the result \(HTML.escaped(names)): \(entries.count) of \(summary.count). The others are left out.</p>"
  }

  private func index(_ sections: [ReportSection]) -> String {
    let places = sections.map { ReportSelection($0.entry.result).place }
    let order = sections.indices.sorted { (places[$0], $0) < (places[$1], $1) }
    let items = order.map { sections[$0] }.map { section in
      let result = section.entry.result
      return """
        <li><a href="#\(section.anchor)"><img src="\(HTML.jpegAddress(section.entry.thumbnail))" alt="" width="72" height="72">\
        <span><span class="name">\(HTML.escaped(section.entry.name))</span><br>\(HTML.escaped(headline(result)))\
        <span class="verdict">\(RiskIcon.svg(result.risk))\(HTML.escaped(verdict(result)))</span></span></a></li>
        """
    }
    return """
      <nav class="card" id="index" aria-labelledby="index-name"><h2 id="index-name">All images</h2>
      <ol class="index">
      \(items.joined(separator: "\n"))
      </ol></nav>
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
