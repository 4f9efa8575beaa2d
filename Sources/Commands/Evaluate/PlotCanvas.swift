import Figures
import Files
import ImageFiles

/// A drawing of plain shapes, written as SVG or PDF: the same bytes for the same drawing. The origin is at the top left, in pixels.
struct PlotCanvas {
  enum Anchor: String {
    case start, middle, end
  }

  typealias Point = (x: Double, y: Double)

  let width: Double
  let height: Double
  private var elements: [String] = []
  /// The same shapes as PDF has them.
  private var operators: [String] = []
  private var opacities: [Double] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  mutating func rectangle(
    x: Double, y: Double, width: Double, height: Double, fill: String, stroke: String? = nil
  ) {
    elements.append(
      """
      <rect x="\(Self.number(x))" y="\(Self.number(y))" width="\(Self.number(width))" \
      height="\(Self.number(height))" fill="\(fill)" stroke="\(stroke ?? "none")"/>
      """)
    let path = "\(Self.numbers(x, y, width, height)) re"
    operators.append("\(Self.levels(fill)) rg \(path) f")
    if let stroke { operators.append("\(Self.levels(stroke)) RG 1 w \(path) S") }
  }

  mutating func circle(x: Double, y: Double, radius: Double, fill: String) {
    elements.append(
      "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\" fill=\"\(fill)\"/>"
    )
    // A quarter by a cubic curve with its handles at this part of the radius.
    let handle = radius * 0.5523
    let quarters = [(1.0, 0.0), (0, 1), (-1, 0), (0, -1), (1, 0)]
    let curves = zip(quarters, quarters.dropFirst()).map { from, to in
      Self.numbers(
        x + from.0 * radius + to.0 * handle, y + from.1 * radius + to.1 * handle,
        x + to.0 * radius + from.0 * handle, y + to.1 * radius + from.1 * handle, x + to.0 * radius,
        y + to.1 * radius)
        + " c"
    }
    operators.append(
      "\(Self.levels(fill)) rg \(Self.numbers(x + radius, y)) m \(curves.joined(separator: " ")) f")
  }

  /// A filled area without an edge, the last corner joined to the first.
  mutating func area(_ points: [Point], colour: String, opacity: Double) {
    elements.append(
      "<polygon points=\"\(Self.places(points))\" fill=\"\(colour)\" fill-opacity=\"\(Self.number(opacity))\"/>"
    )
    if points.isEmpty { return }
    if !opacities.contains(opacity) { opacities.append(opacity) }
    operators.append(
      "q /\(Self.name(opacity)) gs \(Self.levels(colour)) rg \(Self.path(points)) h f Q")
  }

  /// - Parameter dashes: lengths of strokes and gaps in turn; empty for a whole line.
  mutating func line(_ points: [Point], colour: String, width: Double = 1, dashes: String = "") {
    let dashing = dashes.isEmpty ? "" : " stroke-dasharray=\"\(dashes)\""
    elements.append(
      """
      <polyline points="\(Self.places(points))" fill="none" stroke="\(colour)" stroke-width="\(Self.number(width))"\(dashing)/>
      """)
    if points.isEmpty { return }
    operators.append(
      "q \(Self.levels(colour)) RG \(Self.number(width)) w [\(dashes)] 0 d \(Self.path(points)) S Q")
  }

  mutating func label(
    _ text: String, x: Double, y: Double, anchor: Anchor = .start, size: Double = 13,
    colour: String = "#111111", isBold: Bool = false, isUpright: Bool = false
  ) {
    let weight = isBold ? " font-weight=\"bold\"" : ""
    let place = "\(Self.number(x)) \(Self.number(y))"
    let turn = isUpright ? " transform=\"rotate(-90 \(place))\"" : ""
    elements.append(
      """
      <text x="\(Self.number(x))" y="\(Self.number(y))" text-anchor="\(anchor.rawValue)" \
      font-size="\(Self.number(size))" fill="\(colour)"\(weight)\(turn)>\(HTML.escaped(text))</text>
      """)
    let shift =
      switch anchor {
      case .start: 0.0
      case .middle: Helvetica.width(of: text) * size / 2
      case .end: Helvetica.width(of: text) * size
      }
    // The page's y axis points down, that of a letter up.
    let matrix =
      isUpright
      ? "0 -1 -1 0 \(Self.numbers(x, y + shift))" : "1 0 0 -1 \(Self.numbers(x - shift, y))"
    operators.append(
      """
      BT /\(isBold ? "Bold" : "Plain") \(Self.number(size)) Tf \(Self.levels(colour)) rg \(matrix) Tm \
      \(PDFFile.text(text)) Tj ET
      """)
  }

  /// - Parameter title: read out where the drawing cannot be seen.
  func svg(title: String) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.number(width))" height="\(Self.number(height))" \
    viewBox="0 0 \(Self.number(width)) \(Self.number(height))" role="img" \
    font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#111111">
    <title>\(HTML.escaped(title))</title>
    <rect width="100%" height="100%" fill="#ffffff"/>
    \(elements.joined(separator: "\n"))
    </svg>

    """
  }

  /// A page in Helvetica, which every reader of PDF has. Letters beyond ASCII stand as `\u{416}`.
  func pdf(title: String, disclaimer: String) -> [UInt8] {
    // Points of a 72nd of an inch from pixels of a 96th.
    let scale = 0.75
    let contents =
      ["\(Self.numbers(scale, 0, 0, -scale, 0, height * scale)) cm"] + operators
    let font = "/Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont"
    let states = opacities.map { "/\(Self.name($0)) << /ca \(Self.number($0)) >>" }
    return PDFFile.bytes(
      width: width * scale, height: height * scale,
      resources: """
        /Font << /Plain << \(font) /Helvetica >> /Bold << \(font) /Helvetica-Bold >> >> \
        /ExtGState << \(states.joined(separator: " ")) >>
        """,
      contents: contents.joined(separator: "\n"), information: [("Title", title), ("Disclaimer", disclaimer)])
  }

  private static func name(_ opacity: Double) -> String { "Opacity\(Int((opacity * 1000).rounded()))" }

  private static func places(_ points: [Point]) -> String {
    points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
  }

  private static func path(_ points: [Point]) -> String {
    points.enumerated().map { "\(numbers($1.x, $1.y)) \($0 == 0 ? "m" : "l")" }.joined(separator: " ")
  }

  private static func numbers(_ values: Double...) -> String { values.map(number).joined(separator: " ") }

  /// `#D55E00` as three numbers from 0 to 1.
  private static func levels(_ colour: String) -> String {
    let value = Int(colour.dropFirst(), radix: 16) ?? 0
    return [16, 8, 0].map { (Double(value >> $0 & 255) / 255).fixed(digits: 3) }.joined(separator: " ")
  }

  private static func number(_ value: Double) -> String {
    JSONValue.decimal((value * 100).rounded() / 100)
  }
}

/// The widths of Helvetica's letters, by Adobe's font metrics: text is placed by its middle or its end.
private enum Helvetica {
  /// From the blank to the tilde, in thousandths of the size.
  private static let widths = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667,
    556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556,
    500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,
    500, 334,
    260, 334, 584,
  ]

  /// The width of a text in a size of 1.
  static func width(of text: String) -> Double {
    text.inASCII.utf8.reduce(0) { $0 + Double(widths[Int($1) - 32]) / 1000 }
  }
}
