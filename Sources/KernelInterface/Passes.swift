/// The arguments of a scaling of columns: `matrix[r, c] *= factors[c]`.
public struct ColumnScaling {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  public var matrix: UnsafeMutablePointer<Float>
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors.
  public var columnCount: Int
  /// Floats from one row to the next.
  public var rowStride: Int
  /// One value for each column.
  public var factors: UnsafePointer<Float>

  /// Collects the arguments.
  public init(
    matrix: UnsafeMutablePointer<Float>, rowCount: Int, columnCount: Int, rowStride: Int,
    factors: UnsafePointer<Float>
  ) {
    self.matrix = matrix
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.rowStride = rowStride
    self.factors = factors
  }
}

/// The arguments of a scaling of rows: `output[r, c] = matrix[r, c] * factors[r]`.
public struct RowScaling {
  /// `[rowCount, columnCount]`, dense.
  public var output: UnsafeMutablePointer<Float>
  /// `[rowCount, columnCount]`, dense.
  public var matrix: UnsafePointer<Float>
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors.
  public var columnCount: Int
  /// One value for each row.
  public var factors: UnsafePointer<Float>

  /// Collects the arguments.
  public init(
    output: UnsafeMutablePointer<Float>, matrix: UnsafePointer<Float>, rowCount: Int, columnCount: Int,
    factors: UnsafePointer<Float>
  ) {
    self.output = output
    self.matrix = matrix
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.factors = factors
  }
}

/// The arguments of a sum of rows: `sums[c] += sum over r of matrix[r, c]`, rows ascending.
public struct RowSum {
  /// One value for each column, added to.
  public var sums: UnsafeMutablePointer<Float>
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  public var matrix: UnsafePointer<Float>
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors.
  public var columnCount: Int
  /// Floats from one row to the next.
  public var rowStride: Int

  /// Collects the arguments.
  public init(
    sums: UnsafeMutablePointer<Float>, matrix: UnsafePointer<Float>, rowCount: Int, columnCount: Int,
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
public struct ActivationPass {
  /// The values.
  public var values: UnsafeMutablePointer<Float>
  /// How many there are, whole vectors.
  public var count: Int
  /// What is applied.
  public var activation: Activation

  /// Collects the arguments.
  public init(values: UnsafeMutablePointer<Float>, count: Int, activation: Activation) {
    self.values = values
    self.count = count
    self.activation = activation
  }
}

/// The arguments of a rounding of values where they lie, to the nearest multiple of a power of two, halves to the even one:
/// `values[i] = (values[i] + magic) - magic`.
public struct RoundingPass {
  /// The values, in magnitude at most a third of the magic number.
  public var values: UnsafeMutablePointer<Float>
  /// How many there are.
  public var count: Int
  /// 1.5 x 2^23 times the power of two.
  public var magic: Float

  /// Collects the arguments.
  public init(values: UnsafeMutablePointer<Float>, count: Int, magic: Float) {
    self.values = values
    self.count = count
    self.magic = magic
  }
}

/// The arguments of an activation of which every machine gives the same bits: each operation is rounded, in one order and
/// without fused products. `output[r, c] = activation(values[r, c] * scales[c])`, or the level of that.
///
/// The sigmoid in it is within 0.0005 of the true one: a small part of a step of 8 bits.
public struct ExactPass {
  /// `[rowCount, columnCount]`, rows `valueStride` floats apart.
  public var values: UnsafePointer<Float>
  /// Floats from one row to the next.
  public var valueStride: Int
  /// `[rowCount, columnCount]`, rows `outputStride` floats apart; it may be the values.
  public var output: UnsafeMutablePointer<Float>
  /// Floats from one row to the next.
  public var outputStride: Int
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors.
  public var columnCount: Int
  /// One value for each column; nil for ones.
  public var scales: UnsafePointer<Float>?
  /// What is applied.
  public var activation: Activation
  /// Makes levels of the values; nil leaves them as they are.
  public var levels: MatrixProduct.Levels?
  /// The sum of each column's levels is added; nil where they are not wanted. Within a pass it must be a number that Float
  /// holds: of fine levels at most 8192 rows.
  public var sums: UnsafeMutablePointer<Int32>?

  /// Collects the arguments.
  public init(
    values: UnsafePointer<Float>, valueStride: Int, output: UnsafeMutablePointer<Float>, outputStride: Int,
    rowCount: Int, columnCount: Int, scales: UnsafePointer<Float>?, activation: Activation,
    levels: MatrixProduct.Levels? = nil, sums: UnsafeMutablePointer<Int32>? = nil
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
public struct DerivativePass {
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart: of the output, then of the input.
  public var gradient: UnsafeMutablePointer<Float>
  /// The activation's input, of the same layout.
  public var preActivation: UnsafePointer<Float>
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors.
  public var columnCount: Int
  /// Floats from one row to the next, of both.
  public var rowStride: Int
  /// One value for each column, or nil.
  public var factors: UnsafePointer<Float>?
  /// One value for each column, or nil.
  public var offsets: UnsafePointer<Float>?
  /// Whose derivative is applied.
  public var activation: Activation

  /// Collects the arguments.
  public init(
    gradient: UnsafeMutablePointer<Float>, preActivation: UnsafePointer<Float>, rowCount: Int,
    columnCount: Int, rowStride: Int, factors: UnsafePointer<Float>? = nil,
    offsets: UnsafePointer<Float>? = nil, activation: Activation
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

/// The arguments of a sum of products: `sums[c] += sum over r of gradient[r, c] * activation(preActivation[r, c])`, rows
/// ascending.
public struct ProductSum {
  /// One value for each column, added to.
  public var sums: UnsafeMutablePointer<Float>
  /// `[rowCount, columnCount]`, rows `rowStride` floats apart.
  public var gradient: UnsafePointer<Float>
  /// Of the same layout.
  public var preActivation: UnsafePointer<Float>
  /// Rows.
  public var rowCount: Int
  /// Columns, whole vectors.
  public var columnCount: Int
  /// Floats from one row to the next, of both.
  public var rowStride: Int
  /// Applied to `preActivation`.
  public var activation: Activation

  /// Collects the arguments.
  public init(
    sums: UnsafeMutablePointer<Float>, gradient: UnsafePointer<Float>, preActivation: UnsafePointer<Float>,
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
