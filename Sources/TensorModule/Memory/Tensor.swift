/// Float32 values with a shape, dense and row-major: the last dimension varies fastest.
package struct Tensor: Sendable, Equatable {
  /// The extent of each dimension, outermost first.
  package let shape: [Int]
  /// The values; as many as the product of the shape.
  package var values: [Float]

  /// A tensor of the given shape.
  ///
  /// - Precondition: `values` holds as many values as the shape says.
  package init(shape: [Int], values: [Float]) {
    precondition(
      shape.reduce(1, *) == values.count, "\(values.count) values do not fill the shape \(shape)")
    self.shape = shape
    self.values = values
  }

  /// Zeros.
  package init(shape: [Int]) {
    self.init(shape: shape, values: [Float](repeating: 0, count: shape.reduce(1, *)))
  }
}
