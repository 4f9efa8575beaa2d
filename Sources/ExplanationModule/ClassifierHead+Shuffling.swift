import NetworkModule
import TensorModule

extension ClassifierHead {
  /// The same head with the weights of its dense layers in another order: their distribution stays, what they learned is
  /// gone.
  func shuffled(using generator: inout SplitMix64) -> ClassifierHead {
    switch self {
    case .dense(let layer): return .dense(layer.shuffled(using: &generator))
    case .fusion(var head):
      head.hidden = head.hidden.shuffled(using: &generator)
      head.classifier = head.classifier.shuffled(using: &generator)
      return .fusion(head)
    }
  }
}

extension Dense {
  fileprivate func shuffled(using generator: inout SplitMix64) -> Dense {
    var weight = weight
    for last in stride(from: weight.count - 1, to: 0, by: -1) {
      weight.swapAt(last, generator.index(below: last + 1))
    }
    let bias = self([Float](repeating: 0, count: matrix.depth))
    return Dense(weight: weight, bias: bias, activation: activation, kernels: matrix.kernels)
  }
}
