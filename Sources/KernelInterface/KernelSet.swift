/// The instruction sets that the kernels are compiled for.
public enum InstructionSet: String, Sendable, CaseIterable {
  /// SSE2 on x86-64, NEON on ARM: what every CPU of the architecture runs.
  case baseline
  /// AVX2 with fused multiply-add.
  case avx2
  /// AVX-512 F, VL, BW and DQ.
  case avx512
}

/// The hot loops of one instruction set. A kernel never allocates, never starts a thread and never validates.
public struct KernelSet: Sendable {
  /// The instruction set the kernels are written for.
  public let instructionSet: InstructionSet
  /// Whether the compiler was given the flags that let it use that instruction set.
  public let isBuiltForInstructionSet: Bool
  /// Floats in a vector: channel strides are multiples of it.
  public let vectorWidth: Int
  /// Rows that the matrix kernel computes at a time in a panel of two vectors; row counts that it divides cost least.
  public let rowTile: Int
  /// Computes a ``MatrixProduct``.
  public let multiply: @Sendable (MatrixProduct) -> Void
  /// Computes a ``DepthwiseRow``.
  public let depthwiseRow: @Sendable (DepthwiseRow) -> Void
  /// Computes a ``MaxPoolingRow``.
  public let maxPoolingRow: @Sendable (MaxPoolingRow) -> Void
  /// `matrix[r, c] *= factors[c]`: rows, columns (whole vectors), row stride.
  public let scaleColumns:
    @Sendable (
      _ matrix: UnsafeMutablePointer<Float>, _ rowCount: Int, _ columnCount: Int, _ rowStride: Int,
      _ factors: UnsafePointer<Float>
    ) -> Void
  /// `output[r, c] = matrix[r, c] * factors[r]`, both dense with whole vectors in a row.
  public let scaleRows:
    @Sendable (
      _ output: UnsafeMutablePointer<Float>, _ matrix: UnsafePointer<Float>, _ rowCount: Int,
      _ columnCount: Int, _ factors: UnsafePointer<Float>
    ) -> Void
  /// `sums[c] += sum over r of matrix[r, c]`, rows ascending: rows, columns (whole vectors), row stride.
  public let addRows:
    @Sendable (
      _ sums: UnsafeMutablePointer<Float>, _ matrix: UnsafePointer<Float>, _ rowCount: Int,
      _ columnCount: Int, _ rowStride: Int
    ) -> Void
  /// `values[i] = activation(values[i])` over whole vectors.
  public let activate:
    @Sendable (_ values: UnsafeMutablePointer<Float>, _ count: Int, _ activation: Activation) -> Void
  /// `gradient[r, c] = (gradient[r, c] * factors[c] + offsets[c]) * activation'(preActivation[r, c])`, without what is
  /// nil: rows, columns (whole vectors), the row stride of both.
  public let applyDerivative:
    @Sendable (
      _ gradient: UnsafeMutablePointer<Float>, _ preActivation: UnsafePointer<Float>, _ rowCount: Int,
      _ columnCount: Int, _ rowStride: Int, _ factors: UnsafePointer<Float>?,
      _ offsets: UnsafePointer<Float>?, _ activation: Activation
    ) -> Void
  /// `sums[c] += sum over r of gradient[r, c] * activation(preActivation[r, c])`, rows ascending: rows, columns (whole
  /// vectors), the row stride of both.
  public let addProducts:
    @Sendable (
      _ sums: UnsafeMutablePointer<Float>, _ gradient: UnsafePointer<Float>,
      _ preActivation: UnsafePointer<Float>, _ rowCount: Int, _ columnCount: Int, _ rowStride: Int,
      _ activation: Activation
    ) -> Void
  /// Runs `repetitions` rounds of 12 or more independent multiply-adds and returns the floating-point operations
  /// done: what this CPU can reach at best.
  public let peakProbe: @Sendable (_ repetitions: Int) -> Int

  /// Collects the kernels of one instruction set.
  public init(
    instructionSet: InstructionSet, isBuiltForInstructionSet: Bool, vectorWidth: Int, rowTile: Int,
    multiply: @escaping @Sendable (MatrixProduct) -> Void,
    depthwiseRow: @escaping @Sendable (DepthwiseRow) -> Void,
    maxPoolingRow: @escaping @Sendable (MaxPoolingRow) -> Void,
    scaleColumns:
      @escaping @Sendable (UnsafeMutablePointer<Float>, Int, Int, Int, UnsafePointer<Float>) -> Void,
    scaleRows:
      @escaping @Sendable (
        UnsafeMutablePointer<Float>, UnsafePointer<Float>, Int, Int, UnsafePointer<Float>
      ) -> Void,
    addRows:
      @escaping @Sendable (UnsafeMutablePointer<Float>, UnsafePointer<Float>, Int, Int, Int) -> Void,
    activate: @escaping @Sendable (UnsafeMutablePointer<Float>, Int, Activation) -> Void,
    applyDerivative:
      @escaping @Sendable (
        UnsafeMutablePointer<Float>, UnsafePointer<Float>, Int, Int, Int, UnsafePointer<Float>?,
        UnsafePointer<Float>?, Activation
      ) -> Void,
    addProducts:
      @escaping @Sendable (
        UnsafeMutablePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, Int, Int, Int, Activation
      ) -> Void,
    peakProbe: @escaping @Sendable (Int) -> Int
  ) {
    self.instructionSet = instructionSet
    self.isBuiltForInstructionSet = isBuiltForInstructionSet
    self.vectorWidth = vectorWidth
    self.rowTile = rowTile
    self.multiply = multiply
    self.depthwiseRow = depthwiseRow
    self.maxPoolingRow = maxPoolingRow
    self.scaleColumns = scaleColumns
    self.scaleRows = scaleRows
    self.addRows = addRows
    self.activate = activate
    self.applyDerivative = applyDerivative
    self.addProducts = addProducts
    self.peakProbe = peakProbe
  }
}
