import SystemModule

/// A safetensors file, or the shards of one: its tensors by name, checked as a whole before any is read.
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

  /// One, or the shards in the order of their names.
  let files: [FilePages]
  private let indexByName: [String: Int]

  /// The most bytes of a file that are read. The largest networks that are known here, ViT-L's, have 1,218 million in float32.
  package static let byteLimit = 3 << 29

  /// Reads the file at a path into memory and checks it; the tensors' data are not looked at yet.
  ///
  /// - Parameter hasCounters: whether the batch norms' counts of batches, whole numbers that no network needs, may be there.
  package init(
    path: String, hasCounters: Bool = false, limit: Int = Self.byteLimit
  ) throws(DermaFusionError) {
    try self.init(ModelFiles.read(path, limit: limit), name: path, hasCounters: hasCounters)
  }

  /// The bytes of the file, or of all shards.
  var byteCount: Int { files.reduce(0) { $0 + $1.withBytes { $0.count } } }

  /// Checks a file's bytes, which are kept. Errors call the file by the name.
  package init(
    bytes: [UInt8], name: String = "model.safetensors", hasCounters: Bool = false
  ) throws(DermaFusionError) {
    guard !bytes.isEmpty else { throw DermaFusionError.empty(name).inModel }
    try self.init(FilePages(bytes), name: name, hasCounters: hasCounters)
  }

  init(_ file: FilePages, name: String, hasCounters: Bool) throws(DermaFusionError) {
    let header = try DermaFusionError.naming(name) { () throws(DermaFusionError) in
      try file.withBytes { (bytes) throws(DermaFusionError) in
        try SafetensorsHeader(parsing: bytes, hasCounters: hasCounters)
      }
    }
    let tensors = header.entries.compactMap { entry in
      entry.dataType.map { dataType in
        StoredTensor(
          name: entry.name, dataType: dataType, shape: entry.shape,
          elementCount: (entry.end - entry.begin) / dataType.byteCount, fileName: name, file: file,
          byteRange: header.dataStart + entry.begin..<header.dataStart + entry.end)
      }
    }
    self.init(tensors, name: name, metadata: header.metadata, files: [file])
  }

  /// Joins the files that hold the tensors of one model, which the file of this name lists.
  init(shards: [SafetensorsFile], name: String) throws(DermaFusionError) {
    var places: [String: String] = [:]
    for tensor in shards.flatMap({ $0.tensors }) {
      if let first = places.updateValue(tensor.fileName, forKey: tensor.name) {
        throw .invalidModel("\(tensor.fileName): the tensor \(quoted(tensor.name)) is in \(first) too")
      }
    }
    self.init(
      shards.flatMap { $0.tensors }, name: name, metadata: [:], files: shards.flatMap { $0.files })
  }

  private init(_ tensors: [StoredTensor], name: String, metadata: [String: String], files: [FilePages]) {
    self.name = name
    self.metadata = metadata
    self.tensors = tensors
    self.files = files
    var indexByName: [String: Int] = [:]
    for (index, tensor) in tensors.enumerated() { indexByName[tensor.name] = index }
    self.indexByName = indexByName
  }

  package subscript(name: String) -> StoredTensor? {
    indexByName[name].map { tensors[$0] }
  }

  package func tensor(_ name: String, shape: [Int]) throws(DermaFusionError) -> StoredTensor {
    guard let tensor = self[name] else {
      throw .invalidModel("\(self.name): the tensor \(quoted(name)) is missing\(hint(for: name))")
    }
    guard tensor.shape == shape else {
      if let channels = Self.otherInputChannels(tensor.shape, expected: shape) {
        throw .invalidModel(
          "\(self.name): the tensor \(quoted(name)) is of a network for images of \(DermaFusionError.channels(channels)), and photographs have 3 (red, green, blue); the network must be trained on those"
        )
      }
      throw .invalidModel(
        "\(self.name): the tensor \(quoted(name)) has shape \(SafetensorsHeader.inWords(tensor.shape)), and the "
          + "network needs \(SafetensorsHeader.inWords(shape))")
    }
    return tensor
  }
}

extension SafetensorsFile {
  /// Takes the prefix of a module around the network off the names of all tensors; nil where one has a name without it.
  func withoutPrefix(_ prefix: String) -> SafetensorsFile? {
    guard tensors.allSatisfy({ $0.name.hasPrefix(prefix) }) else { return nil }
    return SafetensorsFile(
      tensors.map { $0.named(String(decoding: $0.name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)) },
      name: name, metadata: metadata,
      files: files)
  }

  /// The remedy where a tensor lies under a module's prefix, or where a `Sequential` took the place of its layer.
  private func hint(for name: String) -> Sentence {
    guard let found = tensors.first(where: { $0.name.hasSuffix(".\(name)") })?.name else {
      let layer = name.split(separator: ".").dropLast().joined(separator: ".") + "."
      let inner = tensors.filter {
        $0.name.hasPrefix(layer) && $0.name.hasSuffix(".weight") && $0.shape.count == 2
      }
      guard inner.count == 1 else { return "" }
      return
        "; there is \(quoted(inner[0].name)), to which python -m dermafusion_training export gives that name (--checkpoint FOLDER --output NEW)"
    }
    return
      "; there is \(quoted(found)), whose prefix python -m dermafusion_training export takes off (--checkpoint FOLDER --output NEW)"
  }

  /// The channels of the images that a first convolution of this shape looks at; nil where its shape differs otherwise.
  private static func otherInputChannels(_ found: [Int], expected: [Int]) -> Int? {
    guard found.count == 4, expected.count == 4, expected[1] == 3, found[1] != 3 else { return nil }
    var likeExpected = found
    likeExpected[1] = 3
    return likeExpected == expected ? found[1] : nil
  }
}

/// The header of a safetensors file, parsed and checked against the size of the file.
struct SafetensorsHeader {
  /// The most bytes that it may have. The safetensors project allows 100 MB, which take 1.8 GB of memory to parse; that of the
  /// largest network that is known here, EfficientNet-B7, has a tenth of a megabyte.
  static let byteLimit = 4 << 20

  /// The header's entry on one tensor; offsets count bytes from the data's start.
  struct Entry {
    let name: String
    /// Nil for a count of batches, which nobody reads.
    let dataType: TensorDataType?
    let shape: [Int]
    let begin: Int
    let end: Int

    var elementByteCount: Int { dataType?.byteCount ?? SafetensorsHeader.counterByteCount }
  }

  /// The ending of the names of the batch norms' counts of batches, and the type that PyTorch gives them.
  private static let (counterSuffix, counterType, counterByteCount) = (".num_batches_tracked", "I64", 8)

  private(set) var entries: [Entry] = []
  private(set) var metadata: [String: String] = [:]
  let dataStart: Int

  init(parsing file: Span<UInt8>, hasCounters: Bool = false) throws(DermaFusionError) {
    let range = try Self.headerRange(of: file)
    dataStart = range.upperBound

    let header: JSONValue
    do throws(DermaFusionError) {
      header = try JSONParser.parse(file.extracting(range))
    } catch {
      throw .invalidModel("in the header, \(error.fault)")
    }
    guard case .object(let object) = header else { preconditionFailure("'{' begins an object") }
    entries.reserveCapacity(object.members.count)
    for member in object.members {
      if member.key == "__metadata__" {
        metadata = try Self.parseMetadata(member.value)
      } else {
        entries.append(try Self.parseEntry(member.key, member.value, hasCounters: hasCounters))
      }
    }
    // Among tensors that begin at one place, those without any element come first.
    entries.sort { ($0.begin, $0.end) < ($1.begin, $1.end) }
    try checkOffsets(dataSize: file.count - dataStart)
  }

  private static func headerRange(of file: Span<UInt8>) throws(DermaFusionError) -> Range<Int> {
    guard file.count >= 8 else {
      throw .invalidModel(
        "the file has \(file.count) bytes, and a safetensors file begins with eight that give its header's length"
      )
    }
    let pointer = "version https://git-lfs".utf8
    if file.count > pointer.count, zip(0..., pointer).allSatisfy({ file[$0] == $1 }) {
      throw .invalidModel("this is a pointer of Git LFS in the place of the file; run git lfs pull")
    }
    // Little-endian.
    let length = (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(file[$1]) }
    guard length <= byteLimit else {
      throw .invalidModel(
        "the header's length is given as \(length) bytes, and at most \(byteLimit) are allowed")
    }
    let available = file.count - 8
    guard length <= available else {
      throw .invalidModel("the header should have \(length) bytes, and the file has \(available) more")
    }
    guard length > 0 else { throw .invalidModel("the header is empty") }
    guard file[8] == UInt8(ascii: "{") else {
      throw .invalidModel("the header begins with the byte \(file[8]) instead of '{'")
    }
    return 8..<8 + Int(length)
  }

  private static func parseMetadata(_ value: JSONValue) throws(DermaFusionError) -> [String: String] {
    func failure(_ key: String) -> DermaFusionError {
      .invalidModel("the header's __metadata__ must map strings to strings, and \(quoted(key)) does not")
    }
    // The reader of the safetensors project takes null for a header without the key.
    if value == .null { return [:] }
    guard case .object(let object) = value else { throw failure("__metadata__") }
    var metadata: [String: String] = [:]
    for member in object.members {
      guard case .string(let text) = member.value else { throw failure(member.key) }
      metadata[member.key] = text
    }
    return metadata
  }

  private static func parseEntry(
    _ name: String, _ value: JSONValue, hasCounters: Bool
  ) throws(DermaFusionError) -> Entry {
    let entry: Sentence = "the header's entry for the tensor \(quoted(name))"
    guard case .object(let object) = value else { throw .invalidModel("\(entry) is not an object") }
    func malformed(_ field: String, _ rule: Sentence) -> DermaFusionError {
      .invalidModel("the tensor \(quoted(name)) has a malformed \(quoted(field)), which must be \(rule)")
    }
    func field(_ key: String) throws(DermaFusionError) -> JSONValue {
      guard let value = object[key] else { throw .invalidModel("\(entry) lacks \(quoted(key))") }
      return value
    }
    let dataTypeValue = try field("dtype")
    let shapeValue = try field("shape")
    let offsetsValue = try field("data_offsets")
    for member in object.members where !["dtype", "shape", "data_offsets"].contains(member.key) {
      throw .invalidModel("\(entry) has the unknown field \(quoted(member.key))")
    }
    guard case .string(let dataTypeName) = dataTypeValue else {
      throw malformed("dtype", "a string")
    }
    let dataType = TensorDataType(rawValue: dataTypeName)
    let isCounter = hasCounters && name.hasSuffix(counterSuffix) && dataTypeName == counterType
    guard dataType != nil || isCounter else {
      throw .invalidModel(
        "the tensor \(quoted(name)) has the data type \(quoted(dataTypeName)); only F32, F16, BF16 and I8 are supported"
      )
    }
    guard let shape = naturalNumbers(shapeValue) else {
      throw malformed("shape", "an array of natural numbers")
    }
    guard let offsets = naturalNumbers(offsetsValue), offsets.count == 2 else {
      throw malformed("data_offsets", "two natural numbers")
    }
    return Entry(name: name, dataType: dataType, shape: shape, begin: offsets[0], end: offsets[1])
  }

  private static func naturalNumbers(_ value: JSONValue) -> [Int]? {
    guard case .array(let elements) = value else { return nil }
    var numbers: [Int] = []
    for element in elements {
      guard case .number(let number) = element, !number.literal.hasPrefix("-"), let integer = number.integer
      else { return nil }
      numbers.append(integer)
    }
    return numbers
  }

  /// `[32, 3, 3, 3]`; of a shape that no tensor here has only the beginning.
  static func inWords(_ shape: [Int]) -> String {
    shape.count > 8 ? "[" + shape.prefix(8).map(String.init).joined(separator: ", ") + ", ...]" : "\(shape)"
  }

  private func checkOffsets(dataSize: Int) throws(DermaFusionError) {
    var expectedBegin = 0
    for entry in entries {
      func failure(_ rule: Sentence) -> DermaFusionError {
        .invalidModel("the tensor \(quoted(entry.name)) \(rule)")
      }
      guard entry.begin <= entry.end else {
        throw failure("begins at \(entry.begin) and ends before it, at \(entry.end)")
      }
      guard entry.begin == expectedBegin else {
        let fault: Sentence = entry.begin < expectedBegin ? "overlaps another" : "leaves a hole"
        throw failure("begins at \(entry.begin) and \(fault): it must begin at \(expectedBegin)")
      }
      guard let expectedBytes = Self.byteCount(entry) else {
        throw failure("has shape \(Self.inWords(entry.shape)), whose size in bytes overflows")
      }
      let byteCount = entry.end - entry.begin
      guard byteCount == expectedBytes else {
        throw failure("has \(byteCount) bytes, and its shape and data type need \(expectedBytes)")
      }
      guard entry.end <= dataSize else {
        throw failure("ends at byte \(entry.end) of the data, and the file has only \(dataSize)")
      }
      expectedBegin = entry.end
    }
    guard expectedBegin == dataSize else {
      throw .invalidModel("\(dataSize - expectedBegin) bytes follow the last tensor")
    }
  }

  /// Shape x element size, or nil when a step of the product overflows. As in `tensor.rs`, a zero among the
  /// dimensions does not excuse an overflow before it.
  private static func byteCount(_ entry: Entry) -> Int? {
    var product = 1
    for factor in entry.shape + [entry.elementByteCount] {
      let (next, overflow) = product.multipliedReportingOverflow(by: factor)
      if overflow { return nil }
      product = next
    }
    return product
  }
}
