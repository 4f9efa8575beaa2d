import Files
import SystemModule

/// What a network's 1x1 convolutions, most of its work, multiply.
public enum Precision: String, Sendable, CaseIterable {
  /// Float32: the reference.
  case float32
  /// bfloat16, added up as Float32: about twice as fast, where the CPU has AVX-512 BF16. Probabilities change by some
  /// thousandths.
  case bfloat16
}

extension ModelFolder {
  /// The model as it is, or to be computed in another precision.
  func computed(in precision: Precision?) throws(DermaFusionError) -> ModelFolder {
    switch precision {
    case nil: self
    case .float32: try computed(in: ModelConfiguration.Precision.float32)
    case .bfloat16: try computed(in: ModelConfiguration.Precision.bfloat16)
    }
  }
}
