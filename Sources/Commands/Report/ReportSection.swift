import DermaFusion
import Files

/// What a report says of one image.
struct ReportSection {
  let entry: ReportEntry
  /// Makes names of the page's elements unique.
  let number: Int
  /// Whether there is an index to go back to.
  let hasIndex: Bool

  private var result: Classification { entry.result }

  /// `image-3`
  var anchor: String { "image-\(number)" }

  var html: String {
    """
    <section class="card" id="\(anchor)" aria-labelledby="\(anchor)-name">
    <h2 id="\(anchor)-name">\(HTML.escaped(entry.name))</h2>
    <div class="columns">
    <div class="stack">
    \(pictures)
    </div>
    <div class="stack">
    <p class="lead">\(HTML.escaped(result.summary))</p>
    \(risk)
    \(probabilities)
    \(warnings)
    \(facts)
    </div>
    </div>
    \(hasIndex ? "<p class=\"back\"><a href=\"#index\">Back to all images</a></p>\n" : "")</section>
    """
  }

  // MARK: - Pictures

  private var pictures: String {
    let sentence = entry.mapSentence.map { HTML.escaped($0) } ?? ""
    guard let heatmap = entry.heatmap else {
      return """
        <figure><img src="\(HTML.jpegAddress(entry.photograph))" alt="\(photographText)" width="400" height="400">
        <figcaption class="soft">\(sentence)</figcaption></figure>
        """
    }
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
      <figure class="heat"><img src="\(HTML.jpegAddress(heatmap))" alt="\(heatmapText)">
      <figcaption>\(sentence)</figcaption></figure>
      </div>
      </fieldset>
      <div class="scale"><span class="ramp" style="background: linear-gradient(to right, \(entry.ramp.joined(separator: ", ")))"></span>
      <span>0</span><span>0.25</span><span>0.5</span><span>0.75</span><span>1</span>
      <span class="label">Support for the class</span></div>
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
