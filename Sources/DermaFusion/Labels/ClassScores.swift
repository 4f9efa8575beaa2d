import TensorModule

/// One value for each class of a model.
public struct ClassScores: Sendable, Equatable {
  /// The model's classes.
  public let labels: Labels
  /// The values in the order of ``labels``.
  public let values: [Float]

  package init(_ values: [Float], labels: Labels) {
    precondition(values.count == labels.count, "\(values.count) scores for \(labels.count) classes")
    self.labels = labels
    self.values = values
  }

  /// The value of one class.
  ///
  /// - Precondition: the label is one of ``labels``.
  public subscript(label: LesionLabel) -> Float { values[label.index] }

  /// The value of the class with this id; `nil` when there is none.
  public subscript(id: String) -> Float? { labels[id].map { self[$0] } }

  /// The class with the greatest value; the first of them when several share it.
  public var highest: LesionLabel {
    var best = 0
    for index in values.indices where values[index] > values[best] { best = index }
    return labels[best]
  }

  /// The classes from the greatest value to the smallest; equal values keep the order of the classes.
  public var ranked: [LesionLabel] {
    labels.sorted { (self[$0], -$0.index) > (self[$1], -$1.index) }
  }

  /// exp(value / temperature), divided by the sum over the classes, computed in Double and rounded once.
  ///
  /// - Parameter temperature: above 0; 1 leaves the logits as they are, more makes the result less certain.
  /// - Precondition: every value is finite.
  public func softmax(temperature: Double) -> ClassScores {
    ClassScores(Softmax.probabilities(values, temperature: temperature), labels: labels)
  }
}
