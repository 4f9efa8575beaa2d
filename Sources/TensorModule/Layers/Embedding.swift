/// A table that gives each of a few values a vector.
package struct Embedding: Sendable {
  /// `[values, size]`
  package let table: Tensor

  /// - Precondition: The table has two dimensions.
  package init(table: Tensor) {
    precondition(table.shape.count == 2, "an embedding table of shape \(table.shape)")
    self.table = table
  }

  /// Row `index` of the table.
  package func callAsFunction(_ index: Int) -> [Float] {
    precondition(
      (0..<table.shape[0]).contains(index), "index \(index) into an embedding of shape \(table.shape)")
    return Array(table.values[index * table.shape[1]..<(index + 1) * table.shape[1]])
  }
}
