import Files
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
  public subscript(label: LesionLabel) -> Float {
    let isKnown = labels.indices.contains(label.index) && labels[label.index] == label
    precondition(isKnown, "\(label.id) is not one of these \(labels.count) classes")
    return values[label.index]
  }

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

extension ClassScores: CustomStringConvertible {
  /// The three greatest values: `nv 0.87, mel 0.05, bkl 0.04`.
  public var description: String {
    ranked.prefix(3).map { "\($0.id) \(Double(self[$0]).fixed(digits: 2))" }.joined(separator: ", ")
  }
}

#if !hasFeature(Embedded)
  extension ClassScores: Codable {
    private enum CodingKeys: String, CodingKey { case labels, values }

    /// What breaks a rule of this type is an error.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      labels = try container.decode(Labels.self, forKey: .labels)
      values = try container.decode([Float].self, forKey: .values)
      guard values.count == labels.count else {
        throw DecodingError.dataCorruptedError(
          forKey: .values, in: container,
          debugDescription: "\(values.count) values for \(labels.count) labels")
      }
    }
  }
#endif
