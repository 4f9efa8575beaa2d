/// Why a model cannot classify.
public enum ClassifierError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The model's outputs, as its configuration names them, are not the seven classes in their order.
  case unexpectedClasses([String], file: String)
  /// The network's outputs are not all finite; no prediction is made from them.
  case nonFiniteLogits([Float])
  /// Activation maps are of one network, and this is an ensemble of several, which lie in these folders beside the file.
  case ensembleNotExplained(file: String, members: [String])

  /// One line naming the value and the rule.
  public var description: String {
    switch self {
    case .unexpectedClasses(let classes, let file):
      """
      \(file): the model's classes are \(classes.joined(separator: ", ")); they must be \
      \(LesionClass.allCases.map(\.rawValue).joined(separator: ", ")), in this order
      """
    case .ensembleNotExplained(let file, let members):
      """
      \(file): an activation map is of one network, and this is an ensemble; name the folder of one of its members as \
      the model (\(members.joined(separator: ", ")))
      """
    case .nonFiniteLogits(let logits):
      "the network's outputs are not finite (\(logits.map(\.description).joined(separator: ", ")))"
    }
  }
}
