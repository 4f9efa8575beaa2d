import SystemModule

/// The header of a safetensors file, parsed and checked against the size of the file.
struct SafetensorsHeader {
  /// The most bytes that it may have. The safetensors project allows 100 MB, which take 1.8 GB of memory to parse; that of the
  /// largest network that is known here, EfficientNet-B7, has a tenth of a megabyte.
  static let byteLimit = 4 << 20

  /// What the header says of one tensor; offsets count bytes from the data's start.
  struct Entry {
    let name: String
    let dataType: TensorDataType
    let shape: [Int]
    let begin: Int
    let end: Int
  }

  /// The tensors, in the order of their data.
  private(set) var entries: [Entry] = []
  private(set) var metadata: [String: String] = [:]
  /// Where the data begin in the file.
  let dataStart: Int

  init(parsing file: Span<UInt8>) throws(DermaFusionError) {
    let range = try Self.headerRange(of: file)
    dataStart = range.upperBound

    let header: JSONValue
    do throws(DermaFusionError) {
      header = try JSONParser.parse(file.extracting(range))
    } catch {
      throw .header(error)
    }
    guard case .object(let object) = header else { preconditionFailure("'{' begins an object") }
    entries.reserveCapacity(object.members.count)
    for member in object.members {
      if member.key == "__metadata__" {
        metadata = try Self.parseMetadata(member.value)
      } else {
        entries.append(try Self.parseEntry(member.key, member.value))
      }
    }
    // Among tensors that begin at one place, those without any element come first.
    entries.sort { ($0.begin, $0.end) < ($1.begin, $1.end) }
    try checkOffsets(dataSize: file.count - dataStart)
  }

  private static func headerRange(of file: Span<UInt8>) throws(DermaFusionError) -> Range<Int> {
    guard file.count >= 8 else { throw .headerLengthMissing(fileSize: file.count) }
    // Little-endian.
    let length = (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(file[$1]) }
    guard length <= byteLimit else { throw .headerTooLarge(length: length, limit: byteLimit) }
    let available = file.count - 8
    guard length <= available else { throw .headerTruncated(length: Int(length), available: available) }
    guard length > 0 else { throw .headerEmpty }
    guard file[8] == UInt8(ascii: "{") else { throw .headerStart(byte: file[8]) }
    return 8..<8 + Int(length)
  }

  private static func parseMetadata(_ value: JSONValue) throws(DermaFusionError) -> [String: String] {
    guard case .object(let object) = value else { throw .metadataNotStrings(key: "__metadata__") }
    var metadata: [String: String] = [:]
    for member in object.members {
      guard case .string(let text) = member.value else { throw .metadataNotStrings(key: member.key) }
      metadata[member.key] = text
    }
    return metadata
  }

  private static func parseEntry(_ name: String, _ value: JSONValue) throws(DermaFusionError) -> Entry {
    guard case .object(let object) = value else { throw .entryNotAnObject(tensor: name) }
    func field(_ key: String) throws(DermaFusionError) -> JSONValue {
      guard let value = object[key] else { throw .missingField(tensor: name, field: key) }
      return value
    }
    let dataTypeValue = try field("dtype")
    let shapeValue = try field("shape")
    let offsetsValue = try field("data_offsets")
    for member in object.members where !["dtype", "shape", "data_offsets"].contains(member.key) {
      throw .unknownField(tensor: name, field: member.key)
    }
    guard case .string(let dataTypeName) = dataTypeValue else {
      throw .malformedField(tensor: name, field: "dtype", rule: "a string")
    }
    guard let dataType = TensorDataType(rawValue: dataTypeName) else {
      throw .unsupportedDataType(tensor: name, dataType: dataTypeName)
    }
    guard let shape = naturalNumbers(shapeValue) else {
      throw .malformedField(tensor: name, field: "shape", rule: "an array of natural numbers")
    }
    guard let offsets = naturalNumbers(offsetsValue), offsets.count == 2 else {
      throw .malformedField(tensor: name, field: "data_offsets", rule: "two natural numbers")
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

  private func checkOffsets(dataSize: Int) throws(DermaFusionError) {
    var expectedBegin = 0
    for entry in entries {
      guard entry.begin <= entry.end else {
        throw .offsetsReversed(tensor: entry.name, begin: entry.begin, end: entry.end)
      }
      guard entry.begin >= expectedBegin else {
        throw .overlap(tensor: entry.name, expectedBegin: expectedBegin, begin: entry.begin)
      }
      guard entry.begin == expectedBegin else {
        throw .hole(tensor: entry.name, expectedBegin: expectedBegin, begin: entry.begin)
      }
      guard let expectedBytes = Self.byteCount(entry) else {
        throw .shapeOverflow(tensor: entry.name, shape: entry.shape)
      }
      guard entry.end - entry.begin == expectedBytes else {
        throw .sizeMismatch(
          tensor: entry.name, expectedBytes: expectedBytes, bytes: entry.end - entry.begin)
      }
      guard entry.end <= dataSize else {
        throw .dataTruncated(tensor: entry.name, end: entry.end, available: dataSize)
      }
      expectedBegin = entry.end
    }
    guard expectedBegin == dataSize else { throw .trailingData(bytes: dataSize - expectedBegin) }
  }

  /// Shape x element size, or nil when a step of the product overflows. As in `tensor.rs`, a zero among the
  /// dimensions does not excuse an overflow before it.
  private static func byteCount(_ entry: Entry) -> Int? {
    var product = 1
    for factor in entry.shape + [entry.dataType.byteCount] {
      let (next, overflow) = product.multipliedReportingOverflow(by: factor)
      if overflow { return nil }
      product = next
    }
    return product
  }
}
