/// The arguments of the int8 matrix kernel:
/// `C[m, n] = ending(Float(bias[n] + sum over k of A[m, k] B[k, n]) * scale[n])`.
///
/// `A` is unsigned 8-bit, `B` signed 8-bit, the sums are Int32 and exact, so no bit depends on the order. Both lie in words
/// of 32 bits that hold ``KernelSet/valuesPerWord`` values of the depth each, the first in the lowest bits.
/// Neighbours of one sign in `B`, `B[2i, n]` and `B[2i + 1, n]`, add up to at most 128 in magnitude: two products then fit in
/// 16 bits. `B` is cut into panels as ``PanelLayout`` says, a word where that says a float.
public struct QuantizedProduct {
  /// First word of `A`.
  public var a: UnsafePointer<Int32>
  /// Words from one row of `A` to the next.
  public var aStride: Int
  /// Words of a row that are multiplied: the depth in words, rounded up.
  public var wordCount: Int
  /// First panel of `B`.
  public var panels: UnsafePointer<Int32>
  /// One value for each column of `C`, padded to whole vectors.
  public var bias: UnsafePointer<Int32>
  /// One value for each column of `C`, padded to whole vectors.
  public var scale: UnsafePointer<Float>
  /// First element of `C`. Must not overlap `A` or the residual.
  public var c: UnsafeMutablePointer<Float>
  /// Floats from one row of `C` to the next.
  public var cStride: Int
  /// Added before the activation, or nil. Has the row stride of `C`.
  public var residual: UnsafePointer<Float>?
  /// Rows of `A` and `C` to compute, in each run of them.
  public var rowCount: Int
  /// Runs of rows. In `A` they follow each other.
  public var runCount: Int
  /// Floats from one run to the next in `C` and the residual.
  public var runStride: Int
  /// The panels to compute.
  public var panelRange: Range<Int>
  /// The layout of `B`.
  public var layout: PanelLayout
  /// Applied last.
  public var ending: Ending

  /// What becomes of a sum times its scale.
  public enum Ending: Sendable, Equatable {
    /// The residual is added where there is one, and the activation applied: identity, ReLU or ReLU6.
    case values(Activation)
    /// The nearest whole number of 0...255, halves to the even one, as a float. There is no residual.
    case levels
  }

  /// Collects the arguments.
  public init(
    a: UnsafePointer<Int32>, aStride: Int, wordCount: Int, panels: UnsafePointer<Int32>,
    bias: UnsafePointer<Int32>, scale: UnsafePointer<Float>, c: UnsafeMutablePointer<Float>, cStride: Int,
    residual: UnsafePointer<Float>?, rowCount: Int, runCount: Int, runStride: Int, panelRange: Range<Int>,
    layout: PanelLayout, ending: Ending
  ) {
    self.a = a
    self.aStride = aStride
    self.wordCount = wordCount
    self.panels = panels
    self.bias = bias
    self.scale = scale
    self.c = c
    self.cStride = cStride
    self.residual = residual
    self.rowCount = rowCount
    self.runCount = runCount
    self.runStride = runStride
    self.panelRange = panelRange
    self.layout = layout
    self.ending = ending
  }
}

/// The arguments of a quantisation: `words[r, c] = min(max(round(values[r, c] * factors[c] + zeroPoint), 0), 255)`. The
/// product is rounded to Float, the sum to the nearest whole number, halves to the even one.
public struct QuantizationPass {
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
  /// One value for each column.
  public var factors: UnsafePointer<Float>
  /// What stands for 0: a whole number of 0...255.
  public var zeroPoint: Float

  /// Collects the arguments.
  public init(
    values: UnsafePointer<Float>, valueStride: Int, rowCount: Int, columnCount: Int,
    words: UnsafeMutablePointer<Int32>, wordStride: Int, factors: UnsafePointer<Float>, zeroPoint: Float
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
