import SystemModule

// Embedded Swift searches no text in a text, and a page reads no arrays.
#if !hasFeature(Embedded)
  /// An array in NumPy's own file format, version 1.0: what `numpy.save` writes and `numpy.load` reads.
  package enum NPYFile {
    /// `|u1`, row-major.
    package static func bytes(_ values: [UInt8], shape: [Int]) -> [UInt8] {
      precondition(shape.reduce(1, *) == values.count, "\(values.count) values for shape \(shape)")
      return header(type: "|u1", shape: shape) + values
    }

    /// `<f4`, row-major.
    package static func bytes(_ values: [Float], shape: [Int]) -> [UInt8] {
      precondition(shape.reduce(1, *) == values.count, "\(values.count) values for shape \(shape)")
      var bytes = header(type: "<f4", shape: shape)
      bytes.reserveCapacity(bytes.count + values.count * 4)
      for value in values {
        unsafe withUnsafeBytes(of: value.bitPattern.littleEndian) { unsafe bytes.append(contentsOf: $0) }
      }
      return bytes
    }

    /// The values of an array of `|u1`, with its shape.
    package static func readBytes(_ file: [UInt8]) throws(DermaFusionError) -> (values: [UInt8], shape: [Int])
    {
      let (shape, data) = try read(file, type: "|u1", size: 1)
      return (Array(data), shape)
    }

    /// The values of an array of `<u4`, with its shape.
    package static func readWords(_ file: [UInt8]) throws(DermaFusionError) -> (
      values: [UInt32], shape: [Int]
    ) {
      let (shape, data) = try read(file, type: "<u4", size: 4)
      let values = unsafe data.withUnsafeBytes { bytes in
        (0..<bytes.count / 4).map {
          unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
        }
      }
      return (values, shape)
    }

    private static let notNPY = DermaFusionError.invalidArray("not a NumPy array file of version 1.0")
    private static let magic: [UInt8] = [0x93] + "NUMPY".utf8 + [1, 0]

    /// Magic, version, the header's length, and a Python dictionary that is filled with blanks and a line
    /// break so that the data begin at a multiple of 64.
    private static func header(type: String, shape: [Int]) -> [UInt8] {
      let prefixLength = magic.count + 2
      var dictionary = Array(
        "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(text(of: shape))), }".utf8)
      let length = (prefixLength + dictionary.count + 1 + 63) / 64 * 64
      dictionary += [UInt8](repeating: UInt8(ascii: " "), count: length - prefixLength - dictionary.count - 1)
      dictionary.append(UInt8(ascii: "\n"))
      return magic + [UInt8(dictionary.count & 0xFF), UInt8(dictionary.count >> 8)] + dictionary
    }

    /// As Python writes a tuple's inside.
    private static func text(of shape: [Int]) -> String {
      shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
    }

    private static func read(
      _ file: [UInt8], type: String, size: Int
    ) throws(DermaFusionError) -> (shape: [Int], data: ArraySlice<UInt8>) {
      guard file.starts(with: magic), file.count >= 10 else { throw notNPY }
      let headerEnd = 10 + Int(file[8]) + Int(file[9]) << 8
      guard file.count >= headerEnd else { throw notNPY }
      let header = String(decoding: file[10..<headerEnd], as: UTF8.self)
      guard header.contains("'descr': '\(type)'"), header.contains("'fortran_order': False") else {
        throw .invalidArray("the array is \(header), and must be row-major \(type)")
      }
      guard
        let open = header.firstIndex(of: "("), let close = header[open...].firstIndex(of: ")")
      else { throw notNPY }
      var shape: [Int] = []
      // Bytes of data; nil once no file could hold them.
      var byteCount: Int? = size
      for word in header[header.index(after: open)..<close].split(whereSeparator: { ", ".contains($0) }) {
        guard let extent = Int(word), extent >= 0 else { throw notNPY }
        shape.append(extent)
        byteCount = byteCount.map { $0.multipliedReportingOverflow(by: extent) }
          .flatMap { $0.overflow ? nil : $0.partialValue }
      }
      guard file.count - headerEnd == byteCount else {
        throw .invalidArray("\(file.count - headerEnd) bytes of data for shape \(shape)")
      }
      return (shape, file[headerEnd...])
    }
  }

  extension DermaFusionError.Code {
    /// A file is not an array that is read here.
    package static let invalidArray = Self("invalidArray")
  }

  extension DermaFusionError {
    package static func invalidArray(_ message: Sentence) -> Self {
      Self(.invalidArray, message: message, remedy: "Please save the array with numpy.save.")
    }
  }
#endif
