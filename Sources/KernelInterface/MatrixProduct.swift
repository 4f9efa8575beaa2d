/// The function applied to each element as a kernel stores it.
package enum Activation: UInt8, Sendable, CaseIterable {
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
  /// x P(X <= x) of a standard normal X, the exact form with erf. No network in 8 bits has it: it has no ``ExactPass``.
  case gelu

  /// The coefficients of the polynomial p with P(X > x) = 1 / (2 p(x)^16) for x of at least 0; x times this is within 7e-8.
  ///
  /// The form is Abramowitz and Stegun's 7.1.28 with one term more, fitted for the least error of x P(X > x).
  @inlinable
  package static var normalTail: InlineArray<8, Float> {
    [
      1, 0.049_868_368, 0.021_131_596, 0.003_305_087_6, 2.711_221_7e-6, 7.093_892e-5, -1.147_797_1e-6,
      7.304_584e-7,
    ]
  }
}

/// The arguments of a matrix kernel:
/// `C[m, n] = activation(scale[n] * (bias[n] + sum over k of A[m, k] B[k, n]) + residual[m, n])`.
///
/// `A` and `B` hold words of 32 bits, see ``ElementType``; strides and depths are in words. `C` and the residual are
/// row-major Float32, their rows whole vectors. `B` is packed in panels (see ``PanelLayout``). Every element of `C` is one
/// sum over `k` in ascending order, so how rows and panels are divided among calls never changes a bit.
package struct MatrixProduct {
  /// First word of `A`.
  package var a: UnsafeRawPointer
  /// Words from one row of `A` to the next.
  package var aStride: Int
  /// First panel of `B`.
  package var panels: UnsafeRawPointer
  /// One sum for each column of `C`, padded to whole vectors.
  package var bias: UnsafeRawPointer
  /// First element of `C`. Must not overlap `A` or the residual.
  package var c: UnsafeMutablePointer<Float>
  /// Floats from one row of `C` to the next.
  package var cStride: Int
  /// Rows of `A` and `C` to compute, in each run of them.
  package var rowCount: Int
  /// Runs of rows.
  package var runCount = 1
  /// Words from one run to the next in `A`.
  package var runAStride = 0
  /// Rows of `B` from one run to the next; 0 if all have the same.
  package var runDepth = 0
  /// Rows of the packed matrix, of which `B` may be some.
  package var matrixDepth: Int
  /// The first row of `B` in the packed matrix.
  package var firstRow = 0
  /// Floats from one run to the next in `C` and the residual, which may have something else in between.
  package var runStride = 0
  /// Pieces that each row of `A` lies in, one after another in the sums.
  package var segmentCount = 1
  package var segmentDepth: Int
  /// Words from one piece of a row to the next. Pieces of different rows may overlap.
  package var segmentStride = 0
  /// True if the columns are those of two groups, three vectors of floats in one panel. The second half of them is multiplied by
  /// values that lie half as many words further in a row as there are columns.
  package var isPair = false
  /// The panels to compute: columns `2 * vectorWidth * panelRange.lowerBound ...` of `C`.
  package var panelRange: Range<Int>
  package var layout: PanelLayout
  /// The value of a step of a sum, one for each column, padded to whole vectors. Sums that are whole numbers need
  /// it, others have none.
  package var scale: UnsafePointer<Float>?
  /// Added before the activation, or nil. Has the row stride of `C`.
  package var residual: UnsafePointer<Float>?
  /// Applied last; to sums that are whole numbers in a fixed order, see ``ExactPass``.
  package var activation = Activation.identity
  /// Makes levels of the values; for sums that are whole numbers, without a residual.
  package var levels: Levels?

  /// The whole number within the limits nearest to `value * factor`, halves to the even one, as a float. The product is
  /// rounded to Float.
  package struct Levels: Sendable, Equatable {
    /// Multiplies a value after an activation. Without an activation it is part of the scale, and not looked at.
    package var factor: Float
    /// The least level, a whole number.
    package var least: Float
    /// The greatest level, a whole number.
    package var greatest: Float

    package init(factor: Float, least: Float, greatest: Float) {
      self.factor = factor
      self.least = least
      self.greatest = greatest
    }
  }

  /// The product of one run of rows that lie in one piece. The rest can be set.
  package init(
    @_nonEphemeral a: UnsafeRawPointer, aStride: Int, @_nonEphemeral panels: UnsafeRawPointer,
    @_nonEphemeral bias: UnsafeRawPointer,
    @_nonEphemeral c: UnsafeMutablePointer<Float>, cStride: Int, rowCount: Int, depth: Int,
    layout: PanelLayout
  ) {
    self.a = a
    self.aStride = aStride
    self.panels = panels
    self.bias = bias
    self.c = c
    self.cStride = cStride
    self.rowCount = rowCount
    segmentDepth = depth
    matrixDepth = depth
    panelRange = 0..<layout.panelCount
    self.layout = layout
  }

  /// The length of the sums in words.
  @inlinable
  package var depth: Int { segmentCount &* segmentDepth }
}

/// The cut of a packed matrix's columns into panels.
///
/// A panel is `depth` rows of two vectors; when the number of vectors is odd the last panel has three, because a
/// single vector would leave the multipliers waiting for loads. A matrix of one vector is one panel of one.
/// Panel `p` starts `p * 2 * vectorWidth * depth` floats after the first.
package struct PanelLayout: Sendable, Equatable {
  /// Vectors in a row of the matrix: `ceil(columns / vectorWidth)`.
  package let vectorCount: Int

  @inlinable
  package init(columnCount: Int, vectorWidth: Int) {
    vectorCount = (columnCount + vectorWidth - 1) / vectorWidth
  }

  @inlinable
  package var panelCount: Int { max(vectorCount / 2, 1) }

  /// The vectors in a row of the given panel: 1, 2 or 3.
  @inlinable
  package func vectorCount(ofPanel panel: Int) -> Int {
    panel == panelCount - 1 ? vectorCount - 2 * panel : 2
  }
}

/// The arguments of a packing: floats to the words of a product's `A`.
///
/// - 8-bit: `words[r, c] = min(max(round(values[r, c] * factors[c] + zeroPoint), 0), 255)`. The product is rounded to Float,
///   the sum to the nearest whole number, halves to the even one.
/// - bfloat16: `values[r, c] * factors[c]`, rounded to Float and then to the nearest bfloat16, halves to the even one.
package struct PackingPass {
  /// `[rowCount, columnCount]`, rows `valueStride` floats apart.
  package var values: UnsafePointer<Float>
  package var valueStride: Int
  package var rowCount: Int
  /// Columns, whole vectors of floats.
  package var columnCount: Int
  /// The first row's words, one after another.
  package var words: UnsafeMutablePointer<Int32>
  /// Words from one row to the next.
  package var wordStride: Int
  /// One value for each column. Of bfloat16 nil stands for ones.
  package var factors: UnsafePointer<Float>?
  /// The level of 0 in 8 bits: a whole number of 0...255.
  package var zeroPoint: Float

  package init(
    @_nonEphemeral values: UnsafePointer<Float>, valueStride: Int, rowCount: Int, columnCount: Int,
    @_nonEphemeral words: UnsafeMutablePointer<Int32>, wordStride: Int,
    @_nonEphemeral factors: UnsafePointer<Float>?, zeroPoint: Float
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
