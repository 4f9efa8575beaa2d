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
