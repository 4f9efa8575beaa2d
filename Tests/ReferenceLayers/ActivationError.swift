/// The largest errors of an activation's results over many arguments.
public struct ActivationError: Sendable {
  /// The largest relative error from the bound on.
  public private(set) var relative = 0.0
  /// The argument it was found at.
  public private(set) var argument: Float = 0
  /// The largest absolute error below the bound.
  public private(set) var absoluteBelow = 0.0
  /// The argument it was found at.
  public private(set) var argumentBelow: Float = 0

  /// Compares results with the function in Double. NaN and infinities count as infinite errors.
  ///
  /// - Parameter accurateFrom: The least argument for which the relative error counts.
  public static func largest(
    of results: [Float], at arguments: [Float], activation: ReferenceActivation, accurateFrom: Double
  ) -> ActivationError {
    precondition(
      results.count == arguments.count, "\(results.count) results for \(arguments.count) arguments")
    var worst = ActivationError()
    for i in arguments.indices {
      let expected = activation(Double(arguments[i]))
      var difference = abs(Double(results[i]) - expected)
      if difference.isNaN { difference = .infinity }
      if Double(arguments[i]) < accurateFrom {
        if difference > worst.absoluteBelow {
          worst.absoluteBelow = difference
          worst.argumentBelow = arguments[i]
        }
      } else if difference > worst.relative * abs(expected) {
        worst.relative = difference / abs(expected)
        worst.argument = arguments[i]
      }
    }
    return worst
  }
}
