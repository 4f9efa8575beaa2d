import KernelInterface

extension Dense {
  /// The gradient with respect to the input: `weight^T (outputGradient * activation'(weight * x + bias))`, summed in
  /// Double.
  ///
  /// - Parameters:
  ///   - outputGradient: `[outputs]`
  ///   - x: `[inputs]`, the input of the layer.
  ///   - inputRange: The inputs whose gradient is wanted; nil: all.
  /// - Returns: One value for each input in the range.
  package func inputGradient(
    _ outputGradient: [Double], at x: [Float], inputRange: Range<Int>? = nil
  ) -> [Double] {
    let (inputs, outputs) = (matrix.depth, matrix.columnCount)
    precondition(
      outputGradient.count == outputs && x.count == inputs,
      "gradient of \(outputGradient.count) outputs and \(x.count) inputs of a dense layer [\(outputs), \(inputs)]"
    )
    let range = inputRange ?? 0..<inputs
    var gradient = outputGradient
    if activation != .identity {
      let linear = preActivation(x)
      for i in 0..<outputs { gradient[i] *= activation.derivative(at: Double(linear[i])) }
    }
    var result = [Double](repeating: 0, count: range.count)
    weight.withUnsafeBufferPointer { weight in
      result.withUnsafeMutableBufferPointer { result in
        for output in 0..<outputs {
          let row = output * inputs + range.lowerBound
          for i in 0..<result.count { result[i] += gradient[output] * Double(weight[row + i]) }
        }
      }
    }
    return result
  }
}
