/// A paragraph of text.
package struct FigureParagraph {
  package enum Role: Sendable {
    case heading, strong, body, small
  }

  /// Of characters that the typeface has.
  let text: String
  let role: Role
  /// Before its first line.
  let sign: RiskSign?

  package init(_ text: String, _ role: Role = .body, sign: RiskSign? = nil) {
    self.text = Typeface.drawable(text)
    self.role = role
    self.sign = sign
  }
}
