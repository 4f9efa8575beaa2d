import KernelInterface
import NetworkModule
import TensorModule

extension ClassifierHead {
  /// The same head with the weights of its dense layers in another order: their distribution stays, what they learned is
  /// gone.
  func shuffled(using generator: inout SplitMix64) -> ClassifierHead {
    var head = self
    head.hidden = hidden?.shuffled(using: &generator)
    switch output {
    case .dense(let layer): head.output = .dense(layer.shuffled(using: &generator))
    case .fusion(var fusion):
      fusion.hidden = fusion.hidden.shuffled(using: &generator)
      fusion.classifier = fusion.classifier.shuffled(using: &generator)
      head.output = .fusion(fusion)
    }
    return head
  }
}

extension Dense {
  fileprivate func shuffled(using generator: inout SplitMix64) -> Dense {
    var weight = weight
    for last in stride(from: weight.count - 1, to: 0, by: -1) {
      weight.swapAt(last, generator.index(below: last + 1))
    }
    let bias = preActivation([Float](repeating: 0, count: matrix.depth))
    return Dense(weight: weight, bias: bias, activation: activation, kernels: matrix.kernels)
  }
}
