/// The arguments of the matrix kernel: `C[m, n] = activation(A[m, k] B[k, n] + bias[n] + residual[m, n])`.
///
/// `A`, `C` and the residual are row-major Float32 with the row strides given (in floats); rows of `C` and of
/// the residual hold a whole number of vectors. `B` is packed in panels (see ``PanelLayout``). Every element of
/// `C` is one sum over `k` in ascending order, so how rows and panels are divided among calls never changes a bit.
public struct MatrixProduct {
  /// First element of `A`.
  public var a: UnsafePointer<Float>
  /// Floats from one row of `A` to the next.
  public var aStride: Int
  /// First panel of `B`.
  public var panels: UnsafePointer<Float>
  /// One value for each column of `C`, padded to whole vectors.
  public var bias: UnsafePointer<Float>
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
  /// Floats from one run to the next in `C` and the residual, which may have something else in between.
  public var runStride: Int
  /// Pieces that each row of `A` lies in, one after another in the sums.
  public var segmentCount: Int
  /// The length of a piece.
  public var segmentDepth: Int
  /// Floats from one piece of a row to the next. Pieces of different rows may overlap.
  public var segmentStride: Int
  /// The panels to compute: columns `2 * vectorWidth * panelRange.lowerBound ...` of `C`.
  public var panelRange: Range<Int>
  /// The layout of `B`.
  public var layout: PanelLayout
  /// Applied last.
  public var activation: Activation

  /// Collects the arguments.
  public init(
    a: UnsafePointer<Float>, aStride: Int, panels: UnsafePointer<Float>, bias: UnsafePointer<Float>,
    c: UnsafeMutablePointer<Float>, cStride: Int, residual: UnsafePointer<Float>?, rowCount: Int,
    runCount: Int, runStride: Int, segmentCount: Int, segmentDepth: Int, segmentStride: Int,
    panelRange: Range<Int>, layout: PanelLayout, activation: Activation
  ) {
    self.a = a
    self.aStride = aStride
    self.panels = panels
    self.bias = bias
    self.c = c
    self.cStride = cStride
    self.residual = residual
    self.rowCount = rowCount
    self.runCount = runCount
    self.runStride = runStride
    self.segmentCount = segmentCount
    self.segmentDepth = segmentDepth
    self.segmentStride = segmentStride
    self.panelRange = panelRange
    self.layout = layout
    self.activation = activation
  }

  /// The length of the sums.
  @inlinable
  public var depth: Int { segmentCount &* segmentDepth }
}

/// How the columns of a packed matrix are cut into panels.
///
/// A panel is `depth` rows of two vectors; when the number of vectors is odd the last panel has three, because a
/// single vector would leave the multipliers waiting for loads. A matrix of one vector is one panel of one.
/// Panel `p` starts `p * 2 * vectorWidth * depth` floats after the first.
public struct PanelLayout: Sendable, Equatable {
  /// Vectors in a row of the matrix: `ceil(columns / vectorWidth)`.
  public let vectorCount: Int

  /// The layout of a matrix of `columnCount` columns.
  @inlinable
  public init(columnCount: Int, vectorWidth: Int) {
    vectorCount = (columnCount + vectorWidth - 1) / vectorWidth
  }

  /// The number of panels.
  @inlinable
  public var panelCount: Int { max(vectorCount / 2, 1) }

  /// The vectors in a row of the given panel: 1, 2 or 3.
  @inlinable
  public func vectorCount(ofPanel panel: Int) -> Int {
    panel == panelCount - 1 ? vectorCount - 2 * panel : 2
  }
}
