package import KernelInterface
import SystemModule

extension Activation {
  /// Whether what the function gives can stand for what it got: applied once more it changes nothing, and its derivative
  /// there is the same.
  package var isIdempotent: Bool {
    switch self {
    case .identity, .relu, .relu6: true
    case .silu, .sigmoid, .hardSwish, .hardSigmoid: false
    }
  }

  /// The derivative at `x`; at a kink 0, as PyTorch has it.
  package func derivative(at x: Double) -> Double {
    switch self {
    case .identity: return 1
    case .relu: return x > 0 ? 1 : 0
    case .relu6: return x > 0 && x < 6 ? 1 : 0
    case .silu:
      // Far below, exp overflows, and the derivative has long been 0.
      if x < -700 { return 0 }
      let sigmoid = 1 / (1 + Mathematics.exp(-x))
      return sigmoid * (1 + x * (1 - sigmoid))
    case .sigmoid:
      let sigmoid = 1 / (1 + Mathematics.exp(-x))
      return sigmoid * (1 - sigmoid)
    case .hardSwish: return x <= -3 ? 0 : x >= 3 ? 1 : x / 3 + 0.5
    case .hardSigmoid: return x > -3 && x < 3 ? 1.0 / 6 : 0
    }
  }
}
