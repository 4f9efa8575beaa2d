import Files
import KernelInterface
import TensorModule

/// Rewrites of a list: each makes one operation of several, for which the kernels have one form. The values stay the same
/// but for rounding, and only where that is said.
extension OperationList {
  /// All of them for a precision.
  ///
  /// - Parameter inputLimit: The largest magnitude of the image's values.
  package mutating func fuse(for precision: Precision, inputLimit: Float) {
    foldNorms()
    fuseAdditions()
    fuseActivations()
    fuseGates()
    fuseExpansions()
    switch precision {
    case .float32: break
    case .bfloat16: multiplyInBFloat16()
    case .int8: quantize(inputLimit: inputLimit)
    }
  }

  /// Batch norms become a part of the weights before them. Rounds once more, and saves a pass.
  package mutating func foldNorms() {
    fuseFirstInputs { producer, next in
      guard let norm = next as? BatchNorm, (producer as? Convolution)?.form.addsLastInput != true else {
        return nil
      }
      return Self.changed(producer) { product in
        guard product.norm == nil, product.activation == .identity else { return false }
        product.norm = norm.norm
        return true
      }
    }
  }

  /// Sums become the epilogue of the later of the two products. The bits stay.
  package mutating func fuseAdditions() {
    let uses = useCounts
    for (value, node) in operations {
      guard let sum = node.operation as? Sum, sum.addsLastInput, sum.activation == .identity else { continue }
      let inputs = node.inputs.sorted { $0.index < $1.index }
      guard uses[inputs[1].index] == 1, let producer = nodes[inputs[1].index],
        var form = (producer.operation as? Convolution)?.form, !form.addsLastInput, !form.readsImage,
        form.groups == 1,
        form.product.activation == .identity
      else { continue }
      form.addsLastInput = true
      set(value, Convolution(form), producer.inputs + [inputs[0]], parts: producer.parts + [sum])
      set(inputs[1], nil)
    }
  }

  /// Activations become the epilogue of the product before them. The bits stay.
  package mutating func fuseActivations() {
    fuseFirstInputs { producer, next in
      guard let sum = next as? Sum, !sum.addsLastInput else { return nil }
      if let addition = producer as? Sum, addition.activation == .identity {
        return Sum(adds: addition.addsLastInput, sum.activation)
      }
      if let norm = producer as? BatchNorm, norm.activation == .identity {
        return BatchNorm(norm.norm, channels: norm.channels, sum.activation)
      }
      return Self.changed(producer) { product in
        guard product.activation == .identity else { return false }
        product.activation = sum.activation
        return true
      }
    }
  }

  /// A gate's factors multiply the weights of the linear layer after it, or its input on the way. The convolution before, if
  /// it is depthwise or in groups, adds up the means. Rounds elsewhere.
  package mutating func fuseGates() {
    let uses = useCounts
    for (value, node) in operations {
      guard let convolution = node.operation as? Convolution, convolution.form.isLinear,
        let gated = nodes[node.inputs[0].index], let gate = gated.operation as? Gate,
        uses[node.inputs[0].index] == 1, let filtered = nodes[gated.inputs[0].index],
        let filter = Self.summing(filtered.operation, for: gate, of: convolution),
        uses[gated.inputs[0].index] == 1
      else { continue }
      var (factors, form) = (gate.form, convolution.form)
      factors.product = convolution.name
      form.isGated = true
      let inputs = [gated.inputs[0], node.inputs[0]] + node.inputs.dropFirst()
      change(gated.inputs[0], filter, filtered.inputs)
      change(node.inputs[0], Gate(factors), gated.inputs)
      change(value, Convolution(form), inputs)
    }
  }

  /// The operation that also adds up its channels for a product's gate; nil if it has no such form.
  private static func summing(
    _ operation: any Operation, for gate: Gate, of product: Convolution
  ) -> (any Operation)? {
    if let depthwise = operation as? Depthwise {
      var form = depthwise.form
      form.reader = .gate(gate.name, product: product.name)
      return Depthwise(form)
    }
    guard let convolution = operation as? Convolution, convolution.form.groups > 1,
      convolution.form.product.activation.isIdempotent
    else { return nil }
    var form = convolution.form
    form.feedsGate = true
    return Convolution(form)
  }

  /// A linear layer becomes a part of the depthwise convolution after it, which expands a few rows at a time. The bits stay.
  package mutating func fuseExpansions() {
    fuseFirstInputs { producer, next in
      guard let linear = producer as? Convolution, linear.form.isLinear, !linear.form.isGated,
        !linear.form.addsLastInput, !linear.form.readsImage, let depthwise = next as? Depthwise
      else { return nil }
      var form = depthwise.form
      form.expansion = linear.form.product
      return Depthwise(form)
    }
  }

  /// Linear layers multiply bfloat16; a depthwise convolution writes the words that the one after it reads.
  package mutating func multiplyInBFloat16() {
    let uses = useCounts
    for (value, node) in operations {
      if let convolution = node.operation as? Convolution, convolution.form.isLinear {
        var form = convolution.form
        form.product.arithmetic = .bfloat16
        change(value, Convolution(form), node.inputs)
        guard let filtered = nodes[node.inputs[0].index], let depthwise = filtered.operation as? Depthwise,
          depthwise.form.reader == .any, uses[node.inputs[0].index] == 1
        else { continue }
        var filter = depthwise.form
        filter.reader = .product(convolution.name)
        change(node.inputs[0], Depthwise(filter), filtered.inputs)
      } else if let depthwise = node.operation as? Depthwise {
        var form = depthwise.form
        form.expansion?.arithmetic = .bfloat16
        change(value, Depthwise(form), node.inputs)
      }
    }
  }
}

extension OperationList {
  /// Products compute in 8 bits, and what is between two of them is written as levels.
  ///
  /// The image lies on a grid, and so do the values of ReLU6 behind a product of such values: there the sums of floats are
  /// exact, and have more digits than levels have.
  package mutating func quantize(inputLimit: Float) {
    var grids = [Value(index: 0): ExactGrid(limit: inputLimit)]
    for (value, node) in operations {
      let input = node.inputs[0]
      if let convolution = node.operation as? Convolution {
        var form = convolution.form
        if let grid = grids[input] { form.product.arithmetic = .grid(grid) } else { form.product.quantize() }
        grids[value] = grids[input] != nil && form.product.activation == .relu6 ? .relu6 : nil
        var inputs = node.inputs
        if form.product.arithmetic == .int8 {
          if form.isGated {
            // The gate writes the levels.
            inputs.removeFirst()
            form.isGated = false
          } else if !((nodes[input.index]?.operation as? Depthwise)?.form.product.arithmetic == .int8) {
            inputs[0] = insert(Quantize(form.product.name, isFine: false), [input], before: value)
          }
        }
        change(value, Convolution(form), inputs)
      } else if let depthwise = node.operation as? Depthwise {
        var (form, inputs) = (depthwise.form, node.inputs)
        let grid = form.expansion == nil ? grids[input] : nil
        if let grid { form.product.arithmetic = .grid(grid) } else { form.product.quantize() }
        form.expansion?.quantize()
        grids[value] = grid != nil && form.product.activation == .relu6 ? .relu6 : nil
        if grid == nil {
          if form.reader == .any { form.reader = reader(of: value) }
          let name = form.expansion?.name ?? form.product.name
          inputs[0] = insert(
            Quantize(name, isFine: form.expansion == nil), [input], before: value)
        }
        change(value, Depthwise(form), inputs)
      } else if let gate = node.operation as? Gate {
        var form = gate.form
        form.isQuantized = true
        change(value, Gate(form), node.inputs)
      }
    }
  }

  /// The linear layer that alone reads a value.
  private func reader(of value: Value) -> Depthwise.Reader {
    let readers = operations.filter { $0.node.inputs.contains(value) }
    guard readers.count == 1, let layer = readers[0].node.operation as? Convolution, layer.form.isLinear
    else {
      preconditionFailure("a depthwise convolution in 8 bits without a linear layer after it")
    }
    return .product(layer.name)
  }
}

extension OperationList {
  /// Makes one operation of each that has no other reader and the one that reads it first.
  ///
  /// - Parameter merge: The operation that does what both do; nil if there is none.
  private mutating func fuseFirstInputs(
    _ merge: (_ producer: any Operation, _ next: any Operation) -> (any Operation)?
  ) {
    let uses = useCounts
    for value in operations.map({ $0.value }) {
      guard let node = nodes[value.index], let first = node.inputs.first, uses[first.index] == 1,
        let producer = nodes[first.index], let both = merge(producer.operation, node.operation)
      else { continue }
      let isExpansion = node.operation is Depthwise
      set(
        value, both, producer.inputs + node.inputs.dropFirst(),
        parts: isExpansion
          ? [producer.operation] + producer.parts + node.parts
          : producer.parts + [node.operation] + node.parts)
      set(first, nil)
    }
  }

  /// The number of times that each value is read or looked at.
  private var useCounts: [Int] {
    var counts = [Int](repeating: 0, count: nodes.count)
    for (_, node) in operations { for input in node.inputs { counts[input.index] += 1 } }
    for value in marks.map({ $0.value }) + [pooled].compactMap({ $0 }) { counts[value.index] += 1 }
    return counts
  }

  private func isQuantized(_ operation: any Operation) -> Bool {
    ((operation as? Convolution)?.form.product ?? (operation as? Depthwise)?.form.product)?.arithmetic
      == .int8
  }

  /// Another form of an operation, with the parts that it has. In 8 bits there are no norms.
  private mutating func change(_ value: Value, _ operation: any Operation, _ inputs: [Value]) {
    let parts = nodes[value.index]?.parts ?? []
    set(value, operation, inputs, parts: isQuantized(operation) ? parts.filter { !($0 is BatchNorm) } : parts)
  }

  /// The operation with another product, where it is one.
  private static func changed(
    _ operation: any Operation, _ change: (inout Product) -> Bool
  ) -> (any Operation)? {
    if let convolution = operation as? Convolution {
      var form = convolution.form
      return change(&form.product) ? Convolution(form) : nil
    }
    if let depthwise = operation as? Depthwise {
      var form = depthwise.form
      return change(&form.product) ? Depthwise(form) : nil
    }
    return nil
  }
}
