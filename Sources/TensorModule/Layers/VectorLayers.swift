package import KernelInterface
import SystemModule

/// A dense layer on one vector: `activation(weight * x + bias)`.
package struct Dense: Sendable {
  /// `[inputs, outputs]`, packed.
  package let matrix: PackedMatrix
  /// Applied to each output.
  package let activation: Activation
  /// `[outputs, inputs]`, row-major: gradients run through it the other way.
  package let weight: [Float]
  /// True if products are added up in Double, where each is exact: then every machine gives the same bits, whether it
  /// fuses products or not.
  package let isExact: Bool
  private let bias: [Float]

  /// - Parameters:
  ///   - weight: `[outputs, inputs]`, row-major: PyTorch's layout.
  ///   - bias: `[outputs]`.
  ///   - isExact: See ``isExact``.
  package init(
    weight: [Float], bias: [Float], activation: Activation = .identity, isExact: Bool = false,
    kernels: KernelSet
  ) {
    matrix = PackedMatrix(
      weight: weight, columnCount: bias.count, depth: weight.count / bias.count, bias: bias, kernels: kernels)
    self.activation = activation
    self.weight = weight
    self.isExact = isExact
    self.bias = bias
  }

  /// - Parameter x: `[inputs]`
  /// - Returns: `[outputs]`
  package func callAsFunction(_ x: [Float]) -> [Float] { compute(x, activation: activation) }

  /// The outputs before the activation.
  ///
  /// - Parameter x: `[inputs]`
  /// - Returns: `[outputs]`
  package func preActivation(_ x: [Float]) -> [Float] { compute(x, activation: .identity) }

  private func compute(_ x: [Float], activation: Activation) -> [Float] {
    precondition(x.count == matrix.depth, "\(x.count) values for a dense layer of \(matrix.depth) inputs")
    let stride = matrix.kernels.padded(matrix.columnCount)
    return [Float](unsafeUninitializedCapacity: stride) { output, count in
      if isExact {
        for index in 0..<stride {
          output.initializeElement(at: index, to: index < bias.count ? exactSum(x, output: index) : 0)
        }
        matrix.kernels.activateExactly(
          ExactPass(
            values: output.baseAddress!, valueStride: stride, output: output.baseAddress!,
            outputStride: stride, rowCount: 1, columnCount: stride, scales: nil, activation: activation))
        count = matrix.columnCount
        return
      }
      matrix.multiply(
        a: x, aStride: x.count, rowCount: 1, into: output.baseAddress!, cStride: stride,
        activation: activation)
      count = matrix.columnCount
    }
  }

  /// Eight sums of every eighth product, then their sum, then the bias, rounded once.
  private func exactSum(_ x: [Float], output: Int) -> Float {
    let count = x.count
    return x.withUnsafeBufferPointer { x in
      weight.withUnsafeBufferPointer { weight in
        let (x, row) = (x.baseAddress!, weight.baseAddress! + output * count)
        var sums = SIMD8<Double>()
        var k = 0
        while k + 8 <= count {
          let values = UnsafeRawPointer(x + k).loadUnaligned(as: SIMD8<Float>.self)
          let weights = UnsafeRawPointer(row + k).loadUnaligned(as: SIMD8<Float>.self)
          sums += SIMD8<Double>(values) * SIMD8<Double>(weights)
          k += 8
        }
        for lane in 0..<count - k { sums[lane] += Double(x[k + lane]) * Double(row[k + lane]) }
        var total = 0.0
        for lane in 0..<8 { total += sums[lane] }
        return Float(total + Double(bias[output]))
      }
    }
  }
}

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

/// Layer normalisation of one vector: `(x - mean) / sqrt(variance + epsilon) * scale + offset`, as PyTorch's
/// `LayerNorm`: the variance is that of the population. Statistics are summed in Double.
package struct LayerNormalization: Sendable {
  /// Multiplies the normalised values (PyTorch's `weight`).
  package let scale: [Float]
  /// Added last (PyTorch's `bias`).
  package let offset: [Float]
  /// Added to the variance.
  package let epsilon: Double

  /// Parameters for vectors as long as the two arrays.
  package init(scale: [Float], offset: [Float], epsilon: Double) {
    precondition(scale.count == offset.count, "layer norm arrays of \(scale.count) and \(offset.count)")
    self.scale = scale
    self.offset = offset
    self.epsilon = epsilon
  }

  /// The mean and 1 / sqrt(variance + epsilon).
  package func statistics(_ x: [Float]) -> (mean: Double, inverseDeviation: Double) {
    precondition(x.count == scale.count, "\(x.count) values for a layer norm of \(scale.count)")
    let mean = x.reduce(0) { $0 + Double($1) } / Double(x.count)
    let variance = x.reduce(0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / Double(x.count)
    return (mean, 1 / (variance + epsilon).squareRoot())
  }

  /// - Returns: As many values as `x` has.
  package func callAsFunction(_ x: [Float]) -> [Float] {
    let (mean, inverseDeviation) = statistics(x)
    return x.indices.map { i in
      Float((Double(x[i]) - mean) * inverseDeviation * Double(scale[i]) + Double(offset[i]))
    }
  }
}

extension LayerNormalization {
  /// The gradient with respect to the input.
  ///
  /// With `n = (x - mean) / deviation` and `g = outputGradient * scale`:
  /// `(g - mean(g) - n * mean(g * n)) / deviation`, because the mean and the deviation depend on every input.
  ///
  /// - Parameters:
  ///   - outputGradient: As many values as `x` has.
  ///   - x: The input of the layer.
  package func inputGradient(_ outputGradient: [Double], at x: [Float]) -> [Double] {
    precondition(
      outputGradient.count == x.count, "a gradient of \(outputGradient.count) for \(x.count) inputs")
    let (mean, inverseDeviation) = statistics(x)
    let count = Double(x.count)
    let normalized = x.map { (Double($0) - mean) * inverseDeviation }
    let scaled = x.indices.map { outputGradient[$0] * Double(scale[$0]) }
    let scaledMean = scaled.reduce(0, +) / count
    var projection = 0.0
    for i in x.indices { projection += scaled[i] * normalized[i] / count }
    return x.indices.map { (scaled[$0] - scaledMean - normalized[$0] * projection) * inverseDeviation }
  }
}

/// A table that gives each of a few values a vector.
package struct Embedding: Sendable {
  /// `[values, size]`
  package let table: Tensor

  /// - Precondition: The table has two dimensions.
  package init(table: Tensor) {
    precondition(table.shape.count == 2, "an embedding table of shape \(table.shape)")
    self.table = table
  }

  /// Row `index` of the table.
  package func callAsFunction(_ index: Int) -> [Float] {
    precondition(
      (0..<table.shape[0]).contains(index), "index \(index) into an embedding of shape \(table.shape)")
    return Array(table.values[index * table.shape[1]..<(index + 1) * table.shape[1]])
  }
}

/// Logits to probabilities.
package enum Softmax {
  /// `exp(logit / temperature)` over the sum of all, computed in Double; the largest logit is subtracted first, so no
  /// finite logits overflow.
  ///
  /// - Parameter temperature: Above 0; above 1 evens the probabilities out.
  package static func probabilities(_ logits: [Float], temperature: Double = 1) -> [Float] {
    precondition(temperature > 0, "a temperature of \(temperature)")
    let largest = logits.max() ?? 0
    let exponentials = logits.map { Mathematics.exp((Double($0) - Double(largest)) / temperature) }
    let sum = exponentials.reduce(0, +)
    return exponentials.map { Float($0 / sum) }
  }
}
