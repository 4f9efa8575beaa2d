/// The arguments of a packing: floats to the words of a product's `A`.
///
/// - 8-bit: `words[r, c] = min(max(round(values[r, c] * factors[c] + zeroPoint), 0), 255)`. The product is rounded to Float,
///   the sum to the nearest whole number, halves to the even one.
/// - bfloat16: `values[r, c] * factors[c]`, rounded to Float and then to the nearest bfloat16, halves to the even one.
public struct PackingPass {
  /// `[rowCount, columnCount]`, rows `valueStride` floats apart.
  public var values: UnsafePointer<Float>
  /// Floats from one row to the next.
  public var valueStride: Int
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors of floats.
  public var columnCount: Int
  /// The first row's words, one after another.
  public var words: UnsafeMutablePointer<Int32>
  /// Words from one row to the next.
  public var wordStride: Int
  /// One value for each column. Of bfloat16 nil stands for ones.
  public var factors: UnsafePointer<Float>?
  /// What stands for 0 in 8 bits: a whole number of 0...255.
  public var zeroPoint: Float

  /// Collects the arguments.
  public init(
    values: UnsafePointer<Float>, valueStride: Int, rowCount: Int, columnCount: Int,
    words: UnsafeMutablePointer<Int32>, wordStride: Int, factors: UnsafePointer<Float>?, zeroPoint: Float
  ) {
    self.values = values
    self.valueStride = valueStride
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.words = words
    self.wordStride = wordStride
    self.factors = factors
    self.zeroPoint = zeroPoint
  }
}
