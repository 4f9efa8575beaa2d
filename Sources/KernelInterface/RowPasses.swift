/// The arguments of a layer norm of each row: `output[r, c] = n[r, c] * scale[c] + offset[c]` with
/// `n[r, c] = (values[r, c] - mean of the row) / sqrt(variance of the row + epsilon)`, the variance of the population.
///
/// With a gradient `g` of the output, the output is the gradient of the values instead:
/// `(s[r, c] - mean(s) - n[r, c] * mean(s n)) / sqrt(variance + epsilon)` with `s = g * scale`, means over the row.
package struct RowNormalization {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart. Behind the columns are zeros up to whole vectors.
  package var values: UnsafePointer<Float>
  /// The results, in the same layout.
  package var output: UnsafeMutablePointer<Float>
  /// A gradient in the same layout, or nil.
  package var gradient: UnsafePointer<Float>?
  package var rowCount: Int
  package var columnCount: Int
  /// Whole vectors, of all.
  package var rowStride: Int
  /// One value for each column, zeros up to whole vectors.
  package var scale: UnsafePointer<Float>
  /// As the scale.
  package var offset: UnsafePointer<Float>
  package var epsilon: Float

  package init(
    @_nonEphemeral values: UnsafePointer<Float>, @_nonEphemeral output: UnsafeMutablePointer<Float>,
    @_nonEphemeral gradient: UnsafePointer<Float>? = nil, rowCount: Int, columnCount: Int, rowStride: Int,
    @_nonEphemeral scale: UnsafePointer<Float>, @_nonEphemeral offset: UnsafePointer<Float>, epsilon: Float
  ) {
    self.values = values
    self.output = output
    self.gradient = gradient
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.scale = scale
    self.offset = offset
    self.epsilon = epsilon
  }
}

/// The arguments of a softmax of each row where it lies: `values[r, c] = exp(values[r, c] - greatest of the row)`, and
/// `factors[r] = 1 / sum of the row`, which makes probabilities of them.
///
/// With a gradient `g` of the probabilities, which the values then are, it becomes the gradient of what the softmax was taken
/// of: `g[r, c] = values[r, c] * (g[r, c] - sum over k of values[r, k] * g[r, k])`.
package struct RowSoftmax {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart. Behind the columns zeros are written up to whole vectors.
  package var values: UnsafeMutablePointer<Float>
  /// A gradient in the same layout, or nil.
  package var gradient: UnsafeMutablePointer<Float>?
  package var rowCount: Int
  package var columnCount: Int
  /// Whole vectors, of both.
  package var rowStride: Int
  /// One value for each row; not written with a gradient.
  package var factors: UnsafeMutablePointer<Float>

  package init(
    @_nonEphemeral values: UnsafeMutablePointer<Float>,
    @_nonEphemeral gradient: UnsafeMutablePointer<Float>? = nil, rowCount: Int, columnCount: Int,
    rowStride: Int, @_nonEphemeral factors: UnsafeMutablePointer<Float>
  ) {
    self.values = values
    self.gradient = gradient
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.factors = factors
  }
}
