import Foundation
import Testing

@testable import Files

/// A safetensors file with this header and these data.
func safetensors(_ header: String, _ data: [UInt8] = []) -> [UInt8] {
  let header = Array(header.utf8)
  return withUnsafeBytes(of: UInt64(header.count).littleEndian, Array.init) + header + data
}

/// Calls the body with the path of a new empty folder, which is removed afterwards.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "ModelFilesTests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}

func write(_ bytes: [UInt8], to path: String) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}
