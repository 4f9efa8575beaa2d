import Files
import SystemModule
import Testing

@testable import DermaFusion
@testable import Evaluation

@Suite struct CRC32Tests {
  @Test func checksumIsThatOfZlib() {
    // python3 -c "import zlib; print(hex(zlib.crc32(b'123456789')))"
    #expect(CRC32.checksum(Array("123456789".utf8)[...]) == 0xCBF4_3926)
    #expect(CRC32.checksum([]) == 0)
  }
}

@Suite struct NPYFileTests {
  @Test func theHeaderIsWhatNumPyWrites() {
    let bytes = NPYFile.bytes([UInt8]([1, 2, 3, 4, 5, 6]), shape: [2, 3])
    let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"
    #expect(bytes.count == 128 + 6)
    #expect(bytes.prefix(10) == [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0, 118, 0])
    let blanks = String(repeating: " ", count: 117 - text.count)
    #expect(String(decoding: bytes[10..<128], as: UTF8.self) == text + blanks + "\n")
    #expect(bytes.suffix(6) == [1, 2, 3, 4, 5, 6])
  }

  @Test func floatsAreLittleEndianAndOneDimensionHasItsComma() {
    let bytes = NPYFile.bytes([Float]([1, -2.5]), shape: [2])
    #expect(bytes.suffix(8) == [0, 0, 0x80, 0x3F, 0, 0, 0x20, 0xC0])
    #expect(String(decoding: bytes[10...], as: UTF8.self).contains("'descr': '<f4'"))
    #expect(String(decoding: bytes[10...], as: UTF8.self).contains("'shape': (2,), }"))
  }

  @Test func whatWasWrittenIsReadBack() throws {
    let values = (0..<24).map { UInt8($0 * 10) }
    let (read, shape) = try NPYFile.readBytes(NPYFile.bytes(values, shape: [2, 3, 4]))
    #expect(read == values)
    #expect(shape == [2, 3, 4])
  }

  @Test func whatIsNoSuchArrayIsRefused() {
    let floats = NPYFile.bytes([Float]([1]), shape: [1])
    #expect(throws: DermaFusionError.self) { try NPYFile.readWords(floats) }
    #expect(throws: DermaFusionError.invalidArray("not a NumPy array file of version 1.0")) {
      try NPYFile.readBytes([1, 2, 3])
    }
    #expect(throws: DermaFusionError.invalidArray("1 bytes of data for shape [2]")) {
      try NPYFile.readBytes(Array(NPYFile.bytes([UInt8]([1, 2]), shape: [2]).dropLast()))
    }
  }

  /// A header and no data.
  @Test(arguments: [
    "4294967296, 4294967296", "9223372036854775807, 2, 0", "-2, -3", "2, three", "2.0",
    "99999999999999999999",
  ])
  func aShapeThatNoArrayHasIsRefused(shape: String) {
    var bytes = NPYFile.bytes([UInt8](), shape: [0])
    let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (\(shape)), }"
    bytes.replaceSubrange(
      10..., with: Array(text.utf8) + [UInt8](repeating: 0x20, count: 118 - text.utf8.count))
    #expect(throws: DermaFusionError.self) { try NPYFile.readBytes(bytes) }
  }
}
