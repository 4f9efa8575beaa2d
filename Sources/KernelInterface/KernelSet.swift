/// The instruction sets that the kernels are compiled for.
package enum InstructionSet: String, Sendable, CaseIterable {
  /// SSE2 on x86-64, NEON on ARM: what every CPU of the architecture runs.
  case baseline
  /// AVX2 with fused multiply-add.
  case avx2
  /// These and AVX-VNNI, products of 8-bit integers.
  case avxvnni
  /// AVX-512 F, VL, BW and DQ.
  case avx512
  /// These and AVX-512 VNNI, products of 8-bit integers.
  case avx512vnni
  /// On ARM, NEON and the products of 8-bit integers of ARMv8.2.
  case dotprod
  /// In WebAssembly, 128-bit vectors and the products of 8-bit integers of relaxed SIMD.
  case relaxedsimd

  /// True if a product and its sum are rounded once. The Float32 kernels of all these sets give the same bits.
  package var hasFusedProducts: Bool {
    #if arch(x86_64)
      self != .baseline
    #elseif arch(arm64)
      true
    #else
      false
    #endif
  }
}

/// The hot loops of one instruction set. A kernel never allocates, never starts a thread and never validates.
///
/// Its arguments keep pointers, which are marked `@_nonEphemeral`: the compiler warns where an array is converted to one,
/// since that pointer is valid during the initialiser's call only.
///
/// A class, because every packed layer holds it: a copy of so many functions would be a kilobyte of code in each place.
package final class KernelSet: Sendable {
  /// The products of an instruction set.
  package struct Products: Sendable {
    package let float32: ProductKernels
    package let int8: ProductKernels
    /// See ``ElementType/bfloat16``; nil without an instruction for it.
    package let bfloat16: ProductKernels?

    package init(float32: ProductKernels, int8: ProductKernels, bfloat16: ProductKernels?) {
      self.float32 = float32
      self.int8 = int8
      self.bfloat16 = bfloat16
    }

    /// Those of a type of values; nil where there are none.
    package subscript(type: ElementType) -> ProductKernels? {
      switch type {
      case .float32: float32
      case .int8: int8
      case .bfloat16: bfloat16
      }
    }
  }

  package let instructionSet: InstructionSet
  /// True if the compiler was given the flags that let it use that instruction set.
  package let isBuiltForInstructionSet: Bool
  /// Floats in a vector: channel strides are multiples of it.
  package let vectorWidth: Int
  /// Rows that the matrix kernel computes at a time in a panel of two vectors; row counts that it divides cost least.
  package let rowTile: Int
  package let products: Products
  package let depthwiseRow: @Sendable (DepthwiseRow) -> Void
  package let maxPoolingRow: @Sendable (MaxPoolingRow) -> Void
  package let winogradInput: @Sendable (WinogradInput) -> Void
  package let winogradOutput: @Sendable (WinogradOutput) -> Void
  package let scaleColumns: @Sendable (ColumnScaling) -> Void
  package let scaleRows: @Sendable (RowScaling) -> Void
  package let addRows: @Sendable (RowSum) -> Void
  package let activate: @Sendable (ActivationPass) -> Void
  package let activateExactly: @Sendable (ExactPass) -> Void
  package let round: @Sendable (RoundingPass) -> Void
  package let applyDerivative: @Sendable (DerivativePass) -> Void
  package let activateKeepingSlopes: @Sendable (SlopePass) -> Void
  package let addProducts: @Sendable (ProductSum) -> Void
  package let writeMask: @Sendable (MaskPass) -> Void
  package let applyMask: @Sendable (MaskPass) -> Void
  package let normalizeRows: @Sendable (RowNormalization) -> Void
  package let softmaxRows: @Sendable (RowSoftmax) -> Void
  /// Runs `repetitions` rounds of 12 or more independent multiply-adds and returns the floating-point operations
  /// done: what this CPU can reach at best.
  package let peakProbe: @Sendable (_ repetitions: Int) -> Int

  package init(
    instructionSet: InstructionSet, isBuiltForInstructionSet: Bool, vectorWidth: Int, rowTile: Int,
    products: Products,
    depthwiseRow: @escaping @Sendable (DepthwiseRow) -> Void,
    maxPoolingRow: @escaping @Sendable (MaxPoolingRow) -> Void,
    winogradInput: @escaping @Sendable (WinogradInput) -> Void,
    winogradOutput: @escaping @Sendable (WinogradOutput) -> Void,
    scaleColumns: @escaping @Sendable (ColumnScaling) -> Void,
    scaleRows: @escaping @Sendable (RowScaling) -> Void,
    addRows: @escaping @Sendable (RowSum) -> Void,
    activate: @escaping @Sendable (ActivationPass) -> Void,
    activateExactly: @escaping @Sendable (ExactPass) -> Void,
    round: @escaping @Sendable (RoundingPass) -> Void,
    applyDerivative: @escaping @Sendable (DerivativePass) -> Void,
    activateKeepingSlopes: @escaping @Sendable (SlopePass) -> Void,
    addProducts: @escaping @Sendable (ProductSum) -> Void,
    writeMask: @escaping @Sendable (MaskPass) -> Void,
    applyMask: @escaping @Sendable (MaskPass) -> Void,
    normalizeRows: @escaping @Sendable (RowNormalization) -> Void,
    softmaxRows: @escaping @Sendable (RowSoftmax) -> Void,
    peakProbe: @escaping @Sendable (Int) -> Int
  ) {
    self.instructionSet = instructionSet
    self.isBuiltForInstructionSet = isBuiltForInstructionSet
    self.vectorWidth = vectorWidth
    self.rowTile = rowTile
    self.products = products
    self.depthwiseRow = depthwiseRow
    self.maxPoolingRow = maxPoolingRow
    self.winogradInput = winogradInput
    self.winogradOutput = winogradOutput
    self.scaleColumns = scaleColumns
    self.scaleRows = scaleRows
    self.addRows = addRows
    self.activate = activate
    self.activateExactly = activateExactly
    self.round = round
    self.applyDerivative = applyDerivative
    self.activateKeepingSlopes = activateKeepingSlopes
    self.addProducts = addProducts
    self.writeMask = writeMask
    self.applyMask = applyMask
    self.normalizeRows = normalizeRows
    self.softmaxRows = softmaxRows
    self.peakProbe = peakProbe
  }
}

/// The type of a matrix product's values. They lie in words of 32 bits that hold
/// ``ProductKernels/valuesPerWord`` neighbours of the depth each, the first in the lowest bits.
package enum ElementType: String, Sendable, CaseIterable {
  /// Float32 by Float32; sums are Float32. A word is a value.
  case float32
  /// Unsigned 8-bit in `A` by signed 8-bit in `B`; sums are Int32 and exact, so no bit depends on the order.
  ///
  /// Neighbours of one sign in `B`, `B[2i, n]` and `B[2i + 1, n]`, add up to at most 128 in magnitude: two products then fit
  /// in 16 bits.
  case int8
  /// bfloat16 by bfloat16, two in a word; sums are Float32. The product of a word's second values is added first, then that
  /// of the first ones, and each sum is rounded.
  case bfloat16
}

/// The kernels of an instruction set for products of one type of values.
package struct ProductKernels: Sendable {
  /// Values in a word of 32 bits. 8-bit values: 4 bytes if one instruction adds up the products of four, otherwise
  /// 2 numbers of 16 bits.
  package let valuesPerWord: Int
  /// The difference between a level and its value in a word of `A`: 128 if an instruction multiplies signed bytes only, otherwise
  /// 0. The bias of a column makes up for it: it has this number times the sum of that column of `B` added.
  package let levelOffset: Int
  package let multiply: @Sendable (MatrixProduct) -> Void
  /// Computes a ``PackingPass``; nil where a word is a Float32.
  package let pack: (@Sendable (PackingPass) -> Void)?
  /// Nil where no instruction adds up the products of four bytes of any weights.
  package let windows: Windows?

  /// A depthwise convolution of levels from 0 to 255 and weights of 8 bits, four pixels of a row at a time.
  package struct Windows: Sendable {
    /// Makes the words of a row.
    package let pack: @Sendable (LevelWindowPass) -> Void
    /// Computes an output row from rows of words, padding included, of windows that ``takes(kernelSize:stride:)``.
    ///
    /// The weight is words of four taps, `[kernelSize, 4 / stride, 2, weightStride]`: of an output whose first pixel is byte
    /// `output * stride` of a word, the taps on that word and on the next, zeros elsewhere. The bias is Int32. There are
    /// neither sums nor an activation.
    package let computeRow: @Sendable (DepthwiseRow) -> Void

    package init(
      pack: @escaping @Sendable (LevelWindowPass) -> Void,
      computeRow: @escaping @Sendable (DepthwiseRow) -> Void
    ) {
      self.pack = pack
      self.computeRow = computeRow
    }

    /// True if there are kernels for a window.
    package static func takes(kernelSize: Int, stride: Int) -> Bool {
      [3, 5].contains(kernelSize) && [1, 2].contains(stride)
    }
  }

  package init(
    valuesPerWord: Int, levelOffset: Int = 0, multiply: @escaping @Sendable (MatrixProduct) -> Void,
    pack: (@Sendable (PackingPass) -> Void)?, windows: Windows? = nil
  ) {
    self.valuesPerWord = valuesPerWord
    self.levelOffset = levelOffset
    self.multiply = multiply
    self.pack = pack
    self.windows = windows
  }
}
