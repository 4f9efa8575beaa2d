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
