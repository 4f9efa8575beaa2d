/// A tensor of a safetensors file.
package struct StoredValues {
  package enum Values {
    case floats([Float])
    case integers([Int8])
  }

  package var name: String
  package var shape: [Int]
  package var values: Values

  package init(name: String, shape: [Int], values: Values) {
    self.name = name
    self.shape = shape
    self.values = values
  }
}

/// A safetensors file of Float32 tensors.
package func safetensors(_ tensors: [(name: String, shape: [Int], values: [Float])]) -> [UInt8] {
  safetensors(tensors.map { StoredValues(name: $0.name, shape: $0.shape, values: .floats($0.values)) })
}

/// A safetensors file.
package func safetensors(_ tensors: [StoredValues]) -> [UInt8] {
  var header: [String] = []
  var data: [UInt8] = []
  for tensor in tensors {
    let start = data.count
    let dataType: String
    switch tensor.values {
    case .floats(let values):
      dataType = "F32"
      values.withUnsafeBytes { data.append(contentsOf: $0) }
    case .integers(let values):
      dataType = "I8"
      values.withUnsafeBytes { data.append(contentsOf: $0) }
    }
    header.append(
      """
      "\(tensor.name)":{"dtype":"\(dataType)","shape":\(tensor.shape),"data_offsets":[\(start),\(data.count)]}
      """)
  }
  var text = Array("{\(header.joined(separator: ","))}".utf8)
  while text.count % 8 != 0 { text.append(UInt8(ascii: " ")) }
  let length = (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
  return length + text + data
}
