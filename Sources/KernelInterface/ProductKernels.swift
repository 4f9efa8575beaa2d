/// What the values of a matrix product are. They lie in words of 32 bits that hold
/// ``ProductKernels/valuesPerWord`` neighbours of the depth each, the first in the lowest bits.
public enum ElementType: String, Sendable, CaseIterable {
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
public struct ProductKernels: Sendable {
  /// Values in a word of 32 bits. Of 8-bit ones 4 bytes where one instruction adds up the products of four, else 2 numbers
  /// of 16 bits.
  public let valuesPerWord: Int
  /// By how much a value in a word of `A` is less than its level: 128 where an instruction multiplies signed bytes only, else
  /// 0. The bias of a column has so many times the sum of that column of `B` added.
  public let levelOffset: Int
  /// Computes a ``MatrixProduct``.
  public let multiply: @Sendable (MatrixProduct) -> Void
  /// Computes a ``PackingPass``; nil where a word is a Float32.
  public let pack: (@Sendable (PackingPass) -> Void)?

  /// Collects the kernels.
  public init(
    valuesPerWord: Int, levelOffset: Int = 0, multiply: @escaping @Sendable (MatrixProduct) -> Void,
    pack: (@Sendable (PackingPass) -> Void)?
  ) {
    self.valuesPerWord = valuesPerWord
    self.levelOffset = levelOffset
    self.multiply = multiply
    self.pack = pack
  }
}
