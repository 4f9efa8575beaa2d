/// The function applied to each element as a kernel stores it.
public enum Activation: UInt8, Sendable, CaseIterable {
  /// x
  case identity
  /// max(x, 0)
  case relu
  /// min(max(x, 0), 6)
  case relu6
  /// x / (1 + exp(-x)), also called swish.
  case silu
  /// 1 / (1 + exp(-x))
  case sigmoid
  /// x * min(max(x + 3, 0), 6) / 6
  case hardSwish
  /// min(max(x + 3, 0), 6) / 6
  case hardSigmoid
}
