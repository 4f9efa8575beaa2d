/// An array in NumPy's own file format, version 1.0: what `numpy.load` reads.
enum NPYFile {
  /// `|u1`, row-major.
  static func bytes(_ values: [UInt8], shape: [Int]) -> [UInt8] {
    precondition(shape.reduce(1, *) == values.count, "\(values.count) values for shape \(shape)")
    return header(type: "|u1", shape: shape) + values
  }

  /// `<f4`, row-major.
  static func bytes(_ values: [Float], shape: [Int]) -> [UInt8] {
    precondition(shape.reduce(1, *) == values.count, "\(values.count) values for shape \(shape)")
    var bytes = header(type: "<f4", shape: shape)
    bytes.reserveCapacity(bytes.count + values.count * 4)
    for value in values {
      withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// Magic, version, the header's length, and a Python dictionary that is filled with blanks and a line
  /// break so that the data begin at a multiple of 64.
  private static func header(type: String, shape: [Int]) -> [UInt8] {
    let dimensions = shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
    var dictionary = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(dimensions)), }"
    let prefixLength = 10
    let length = (prefixLength + dictionary.utf8.count + 1 + 63) / 64 * 64
    dictionary = dictionary.padding(to: length - prefixLength - 1) + "\n"
    let count = dictionary.utf8.count
    return [0x93] + "NUMPY".utf8 + [1, 0, UInt8(count & 0xFF), UInt8(count >> 8)] + dictionary.utf8
  }
}
