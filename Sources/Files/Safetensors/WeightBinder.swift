import SystemModule

/// Hands a file's tensors to the layers of a network by dotted name, stating the shape each must have, and knows in
/// the end which tensors no layer asked for.
///
///     let binder = WeightBinder(file)
///     let block = binder.scope("blocks.1.0")
///     let weight = try block.tensor("conv_pw.weight", shape: [96, 16, 1, 1])  // blocks.1.0.conv_pw.weight
///     try binder.requireAllBound()
///
/// All scopes of one binder share one list of what was asked for. Safe to use from several threads.
package struct WeightBinder: Sendable {
  /// The dotted name of this scope; empty at the top.
  package let path: String
  /// The path or name of the file, for errors.
  package var fileName: String { file.name }
  private let file: SafetensorsFile
  private let bound: BoundNames

  private final class BoundNames: Sendable {
    let names = Locked<Set<String>>([])
  }

  /// A binder over all tensors of a file.
  package init(_ file: SafetensorsFile) {
    path = ""
    self.file = file
    bound = BoundNames()
  }

  private init(path: String, in parent: WeightBinder) {
    self.path = path
    file = parent.file
    bound = parent.bound
  }

  /// The binder for names below this one's.
  package func scope(_ name: String) -> WeightBinder {
    WeightBinder(path: fullName(name), in: self)
  }

  /// A tensor's values as Float32, the last dimension running fastest.
  ///
  /// - Throws: where there is none, it has another shape or type, or a value is not finite.
  package func tensor(_ name: String, shape: [Int]) throws(DermaFusionError) -> [Float] {
    try storedTensor(name, shape: shape).floats()
  }

  /// A tensor as it is stored, for a packer that converts it itself with `StoredTensor.convert(into:)`.
  ///
  /// - Throws: where there is none, or it has another shape or type. Non-finite values are found by the conversion.
  package func storedTensor(_ name: String, shape: [Int]) throws(DermaFusionError) -> StoredTensor {
    try stored(name, shape: shape, isInteger: false)
  }

  /// The values of a tensor of 8-bit integers.
  ///
  /// - Throws: where there is none, or it has another shape or type.
  package func integers(_ name: String, shape: [Int]) throws(DermaFusionError) -> [Int8] {
    try stored(name, shape: shape, isInteger: true).integers()
  }

  private func stored(
    _ name: String, shape: [Int], isInteger: Bool
  ) throws(DermaFusionError) -> StoredTensor {
    let fullName = fullName(name)
    let tensor = try file.tensor(fullName, shape: shape)
    guard (tensor.dataType == .int8) == isInteger else {
      throw .invalidModel(
        "\(file.name): the tensor \(quoted(fullName)) has the data type \(quoted(tensor.dataType.rawValue)), and the "
          + "network needs \(isInteger ? "I8" : "F32, F16 or BF16")")
    }
    bound.names.withLock { _ = $0.insert(fullName) }
    return tensor
  }

  /// Checks that every tensor of the file was asked for, in whichever scope.
  ///
  /// - Throws: naming those that were not, in the order of their data.
  package func requireAllBound() throws(DermaFusionError) {
    let names = bound.names.withLock { $0 }
    let surplus = file.tensors.map { $0.name }.filter { !names.contains($0) }
    guard let first = surplus.first else { return }
    let list = surplus.prefix(3).map(quoted).joined(separator: ", ") + (surplus.count > 3 ? ", ..." : "")
    throw .invalidModel(
      "\(file.name): the network has no place for "
        + (surplus.count == 1 ? "the tensor \(quoted(first))" : "\(surplus.count) tensors: \(list)"))
  }

  private func fullName(_ name: String) -> String {
    path.isEmpty ? name : "\(path).\(name)"
  }
}
