/// A line of text in a figure and the rectangle that it takes up, in pixels from the upper left.
package struct PlacedText: Sendable, Equatable {
  package let text: String
  package let x: Float
  package let y: Float
  package let width: Float
  package let height: Float
  /// Of the type, in pixels an em.
  package let size: Float
  package let color: FigureColor
}
