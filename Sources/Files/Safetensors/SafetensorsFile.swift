import SystemModule

/// A safetensors file: its tensors by name, checked as a whole before any is read.
///
/// Format (little-endian): 8 bytes giving the header's length, the header (a JSON object from names to `dtype`, `shape`
/// and `data_offsets`, and optionally `__metadata__`), then the data. Source: the safetensors project's `tensor.rs`,
/// whose rules are enforced here without exception; on top of them only F32, F16, BF16 and I8 are accepted, and
/// headers of up to 4 MB.
package struct SafetensorsFile: Sendable {
  /// The file's path or name, for errors.
  package let name: String
  /// The tensors, in the order of their data.
  package let tensors: [StoredTensor]
  /// The header's `__metadata__`; empty when it has none.
  package let metadata: [String: String]

  let file: FileContent
  private let indexByName: [String: Int]

  /// The most bytes of a file that are read. The largest network that is known here, EfficientNet-B7, has 266 million.
  static let byteLimit = 1 << 30

  /// Reads the file at a path into memory and checks it; the tensors' data are not looked at yet.
  ///
  /// - Throws: `DermaFusionError` when the path is not a readable, non-empty file or breaks a rule of the format.
  package init(path: String) throws(DermaFusionError) {
    try self.init(FileContent(path: path, limit: Self.byteLimit), name: path)
  }

  /// Checks a file's bytes, which are kept.
  ///
  /// - Parameter name: what errors call the file.
  /// - Throws: `DermaFusionError` when the bytes break a rule of the format.
  package init(bytes: [UInt8], name: String = "model.safetensors") throws(DermaFusionError) {
    guard !bytes.isEmpty else { throw DermaFusionError.empty(name).inModel }
    try self.init(FileContent(bytes), name: name)
  }

  init(_ file: FileContent, name: String) throws(DermaFusionError) {
    let header = try DermaFusionError.naming(name) { () throws(DermaFusionError) in
      try file.withBytes { (bytes) throws(DermaFusionError) in try SafetensorsHeader(parsing: bytes) }
    }
    self.file = file
    self.name = name
    metadata = header.metadata
    tensors = header.entries.map { entry in
      StoredTensor(
        name: entry.name, dataType: entry.dataType, shape: entry.shape,
        elementCount: (entry.end - entry.begin) / entry.dataType.byteCount, fileName: name, file: file,
        byteRange: header.dataStart + entry.begin..<header.dataStart + entry.end)
    }
    var indexByName: [String: Int] = [:]
    for (index, tensor) in tensors.enumerated() { indexByName[tensor.name] = index }
    self.indexByName = indexByName
  }

  /// The tensor of this name, or nil.
  package subscript(name: String) -> StoredTensor? {
    indexByName[name].map { tensors[$0] }
  }

  /// The tensor of this name and shape, as it is stored.
  ///
  /// - Throws: `DermaFusionError.missingTensor` or `.misshapenTensor`.
  package func tensor(_ name: String, shape: [Int]) throws(DermaFusionError) -> StoredTensor {
    guard let tensor = self[name] else { throw .missingTensor(file: self.name, name: name) }
    guard tensor.shape == shape else {
      throw .misshapenTensor(file: self.name, name: name, expected: shape, found: tensor.shape)
    }
    return tensor
  }
}
