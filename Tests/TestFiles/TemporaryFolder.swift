import Foundation

/// A folder that is removed with everything in it when the test ends.
package final class TemporaryFolder {
  package let path: String

  package init() {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("dermafusion-tests-\(UUID().uuidString)").path
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file, with the folders above it; answers with its path.
  @discardableResult
  package func write(_ bytes: [UInt8], to name: String) -> String {
    let file = path + "/" + name
    let folder = String(file[..<file.lastIndex(of: "/")!])
    try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    precondition(FileManager.default.createFile(atPath: file, contents: Data(bytes)))
    return file
  }

  @discardableResult
  package func write(_ text: String, to name: String) -> String { write(Array(text.utf8), to: name) }

  package func contents(of name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path + "/" + name).map { [UInt8]($0) }
  }

  package func text(of name: String) -> String? {
    contents(of: name).map { String(decoding: $0, as: UTF8.self) }
  }
}
