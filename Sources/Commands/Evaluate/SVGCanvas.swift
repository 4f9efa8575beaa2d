import DermaFusion
import Files

/// A drawing written as SVG, the same bytes for the same drawing. The origin is at the top left, in pixels.
struct SVGCanvas {
  enum Anchor: String {
    case start, middle, end
  }

  let width: Double
  let height: Double
  private var elements: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  /// - Parameter title: read out where the drawing cannot be seen.
  func text(title: String) -> String {
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

  mutating func rectangle(
    x: Double, y: Double, width: Double, height: Double, fill: String, stroke: String = "none"
  ) {
    elements.append(
      """
      <rect x="\(Self.number(x))" y="\(Self.number(y))" width="\(Self.number(width))" \
      height="\(Self.number(height))" fill="\(fill)" stroke="\(stroke)"/>
      """)
  }

  mutating func circle(x: Double, y: Double, radius: Double, fill: String) {
    elements.append(
      "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\" fill=\"\(fill)\"/>"
    )
  }

  /// A filled area without an edge, the last corner joined to the first.
  mutating func area(_ points: [(x: Double, y: Double)], colour: String, opacity: Double) {
    let places = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
    elements.append(
      "<polygon points=\"\(places)\" fill=\"\(colour)\" fill-opacity=\"\(Self.number(opacity))\"/>")
  }

  /// - Parameter dashes: lengths of strokes and gaps in turn; empty for a whole line.
  mutating func line(
    _ points: [(x: Double, y: Double)], colour: String, width: Double = 1, dashes: String = ""
  ) {
    let places = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
    let dashing = dashes.isEmpty ? "" : " stroke-dasharray=\"\(dashes)\""
    elements.append(
      """
      <polyline points="\(places)" fill="none" stroke="\(colour)" stroke-width="\(Self.number(width))"\(dashing)/>
      """)
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
  }

  /// At most two digits after the point.
  private static func number(_ value: Double) -> String {
    JSONValue.decimal((value * 100).rounded() / 100)
  }
}
