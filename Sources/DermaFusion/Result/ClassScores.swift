import TensorModule

/// One value per class of ``LesionClass``, looked up by the class.
public struct ClassScores: Sendable, Equatable {
  /// The values in the order of ``LesionClass/allCases``.
  public let values: [Float]

  /// - Parameter values: seven values in the order of ``LesionClass/allCases``.
  public init(_ values: [Float]) {
    precondition(
      values.count == LesionClass.allCases.count,
      "\(values.count) scores for \(LesionClass.allCases.count) classes")
    self.values = values
  }

  /// The value of one class.
  public subscript(lesionClass: LesionClass) -> Float { values[lesionClass.index] }

  /// The class with the greatest value; the first of them when several share it.
  public var highest: LesionClass {
    var best = LesionClass.akiec
    for lesionClass in LesionClass.allCases where self[lesionClass] > self[best] { best = lesionClass }
    return best
  }

  /// The classes from the greatest value to the smallest; equal values keep the order of the classes.
  public var ranked: [LesionClass] {
    LesionClass.allCases.sorted { (self[$0], -$0.index) > (self[$1], -$1.index) }
  }

  /// exp(value / temperature), divided by the sum over the classes, computed in Double and rounded once.
  ///
  /// - Parameter temperature: above 0; 1 leaves the logits as they are, more makes the result less certain.
  /// - Precondition: every value is finite.
  public func softmax(temperature: Double) -> ClassScores {
    ClassScores(Softmax.probabilities(values, temperature: temperature))
  }
}
