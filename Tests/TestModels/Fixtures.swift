import Foundation

/// The package's folder of fixtures.
package enum Fixtures {
  package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent()

  package static func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: root.appendingPathComponent("ParityFixtures/\(name)")))
  }
}
