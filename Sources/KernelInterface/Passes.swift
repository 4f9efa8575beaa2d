/// The arguments of a scaling of columns: `matrix[r, c] *= factors[c]`.
package struct ColumnScaling {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  package var matrix: UnsafeMutablePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  package var rowStride: Int
  /// One value for each column.
  package var factors: UnsafePointer<Float>

  package init(
    @_nonEphemeral matrix: UnsafeMutablePointer<Float>, rowCount: Int, columnCount: Int, rowStride: Int,
    @_nonEphemeral factors: UnsafePointer<Float>
  ) {
    self.matrix = matrix
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.factors = factors
  }
}

/// The arguments of a scaling of rows: `output[r, c] = matrix[r, c] * factors[r]`.
package struct RowScaling {
  /// `[rowCount, columnCount]`, dense.
  package var output: UnsafeMutablePointer<Float>
  /// `[rowCount, columnCount]`, dense.
  package var matrix: UnsafePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  /// One value for each row.
  package var factors: UnsafePointer<Float>

  package init(
    @_nonEphemeral output: UnsafeMutablePointer<Float>, @_nonEphemeral matrix: UnsafePointer<Float>,
    rowCount: Int, columnCount: Int,
    @_nonEphemeral factors: UnsafePointer<Float>
  ) {
    self.output = output
    self.matrix = matrix
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.factors = factors
  }
}

/// The arguments of a sum of rows: `sums[c] += sum over r of matrix[r, c]`, rows ascending.
package struct RowSum {
  /// One value for each column, added to.
  package var sums: UnsafeMutablePointer<Float>
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  package var matrix: UnsafePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  package var rowStride: Int

  package init(
    @_nonEphemeral sums: UnsafeMutablePointer<Float>, @_nonEphemeral matrix: UnsafePointer<Float>,
    rowCount: Int, columnCount: Int,
    rowStride: Int
  ) {
    self.sums = sums
    self.matrix = matrix
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
  }
}

/// The arguments of an activation of values where they lie: `values[i] = activation(values[i])`.
package struct ActivationPass {
  package var values: UnsafeMutablePointer<Float>
  /// Their number, whole vectors.
  package var count: Int
  package var activation: Activation

  package init(@_nonEphemeral values: UnsafeMutablePointer<Float>, count: Int, activation: Activation) {
    self.values = values
    self.count = count
    self.activation = activation
  }
}

/// The arguments of a rounding of values where they lie, to the nearest multiple of a power of two, halves to the even one:
/// `values[i] = (values[i] + magic) - magic`.
package struct RoundingPass {
  /// The values, in magnitude at most a third of the magic number.
  package var values: UnsafeMutablePointer<Float>
  package var count: Int
  /// 1.5 x 2^23 times the power of two.
  package var magic: Float

  package init(@_nonEphemeral values: UnsafeMutablePointer<Float>, count: Int, magic: Float) {
    self.values = values
    self.count = count
    self.magic = magic
  }
}

/// The arguments of an activation of which every machine gives the same bits: each operation is rounded, in one order and
/// without fused products. `output[r, c] = activation(values[r, c] * scales[c])`, or the level of that.
///
/// The sigmoid in it is within 0.0005 of the true one: a small part of a step of 8 bits.
package struct ExactPass {
  /// `[rowCount, columnCount]`, rows `valueStride` floats apart.
  package var values: UnsafePointer<Float>
  package var valueStride: Int
  /// `[rowCount, columnCount]`, rows `outputStride` floats apart; it may be the values.
  package var output: UnsafeMutablePointer<Float>
  package var outputStride: Int
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  /// One value for each column; nil for ones.
  package var scales: UnsafePointer<Float>?
  package var activation: Activation
  /// Makes levels of the values; nil leaves them as they are.
  package var levels: MatrixProduct.Levels?
  /// The sum of each column's levels is added; nil where they are not wanted. Within a pass it must be a number that Float
  /// holds: of fine levels at most 8192 rows.
  package var sums: UnsafeMutablePointer<Int32>?

  package init(
    @_nonEphemeral values: UnsafePointer<Float>, valueStride: Int,
    @_nonEphemeral output: UnsafeMutablePointer<Float>, outputStride: Int,
    rowCount: Int, columnCount: Int, @_nonEphemeral scales: UnsafePointer<Float>?, activation: Activation,
    levels: MatrixProduct.Levels? = nil, @_nonEphemeral sums: UnsafeMutablePointer<Int32>? = nil
  ) {
    self.values = values
    self.valueStride = valueStride
    self.output = output
    self.outputStride = outputStride
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.scales = scales
    self.activation = activation
    self.levels = levels
    self.sums = sums
  }
}

/// The arguments of an activation's backward pass:
/// `gradient[r, c] = (gradient[r, c] * factors[c] + offsets[c]) * activation'(preActivation[r, c])`, without what is nil.
package struct DerivativePass {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart: of the output, then of the input.
  package var gradient: UnsafeMutablePointer<Float>
  /// The activation's input, of the same layout.
  package var preActivation: UnsafePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  /// Floats from one row to the next, of both.
  package var rowStride: Int
  /// One value for each column, or nil.
  package var factors: UnsafePointer<Float>?
  /// One value for each column, or nil.
  package var offsets: UnsafePointer<Float>?
  /// Whose derivative is applied.
  package var activation: Activation

  package init(
    @_nonEphemeral gradient: UnsafeMutablePointer<Float>, @_nonEphemeral preActivation: UnsafePointer<Float>,
    rowCount: Int,
    columnCount: Int, rowStride: Int, @_nonEphemeral factors: UnsafePointer<Float>? = nil,
    @_nonEphemeral offsets: UnsafePointer<Float>? = nil, activation: Activation
  ) {
    self.gradient = gradient
    self.preActivation = preActivation
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.factors = factors
    self.offsets = offsets
    self.activation = activation
  }
}

/// The arguments of an activation of values where they lie that keeps its derivative for the backward pass:
/// `slopes[r, c] = activation'(values[r, c])`, then `values[r, c] = activation(values[r, c])`.
package struct SlopePass {
  /// `[rowCount, columnCount]`, dense.
  package var values: UnsafeMutablePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  /// Written past the caches: a multiple of a vector's size in memory.
  package var slopes: UnsafeMutablePointer<Float>
  /// Floats from one row of slopes to the next.
  package var slopeStride: Int
  package var activation: Activation

  package init(
    @_nonEphemeral values: UnsafeMutablePointer<Float>, rowCount: Int, columnCount: Int,
    @_nonEphemeral slopes: UnsafeMutablePointer<Float>, slopeStride: Int, activation: Activation
  ) {
    self.values = values
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.slopes = slopes
    self.slopeStride = slopeStride
    self.activation = activation
  }
}

/// The arguments of the two passes over the bits that a ReLU's gradient needs of the forward pass, one for each value.
///
/// - `writeMask`: `bits[r, c] = values[r, c] > 0 && values[r, c] < limit`
/// - `applyMask`: `values[r, c] *= bits[r, c]`
package struct MaskPass {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  package var values: UnsafeMutablePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  package var rowStride: Int
  /// The first row's bits. A vector's are ``byteCount(vectorWidth:)`` bytes, its first lane's the lowest one.
  package var bits: UnsafeMutableRawPointer
  /// Bytes from one row's bits to the next.
  package var bitStride: Int
  /// From here on the gradient of a value is 0; infinity without such a limit.
  package var limit: Float

  package init(
    @_nonEphemeral values: UnsafeMutablePointer<Float>, rowCount: Int, columnCount: Int, rowStride: Int,
    @_nonEphemeral bits: UnsafeMutableRawPointer, bitStride: Int, limit: Float
  ) {
    self.values = values
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.bits = bits
    self.bitStride = bitStride
    self.limit = limit
  }

  /// Bytes that the bits of a vector take.
  @inlinable
  package static func byteCount(vectorWidth: Int) -> Int { (vectorWidth + 7) / 8 }
}

/// The arguments of a sum of products: `sums[c] += sum over r of gradient[r, c] * activation(preActivation[r, c])`, rows
/// ascending.
package struct ProductSum {
  /// One value for each column, added to.
  package var sums: UnsafeMutablePointer<Float>
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  package var gradient: UnsafePointer<Float>
  /// Arguments of the activation, in the same layout.
  package var preActivation: UnsafePointer<Float>
  package var rowCount: Int
  /// Columns, whole vectors.
  package var columnCount: Int
  /// Floats from one row to the next, of both.
  package var rowStride: Int
  /// Applied to `preActivation`.
  package var activation: Activation

  package init(
    @_nonEphemeral sums: UnsafeMutablePointer<Float>, @_nonEphemeral gradient: UnsafePointer<Float>,
    @_nonEphemeral preActivation: UnsafePointer<Float>,
    rowCount: Int, columnCount: Int, rowStride: Int, activation: Activation
  ) {
    self.sums = sums
    self.gradient = gradient
    self.preActivation = preActivation
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.activation = activation
  }
}
