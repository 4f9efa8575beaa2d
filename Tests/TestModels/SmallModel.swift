import Foundation

/// The shipped model on fewer pixels, as a folder: a real network that abstains, with sets, fast enough for tests of commands.
package enum SmallModel {
  /// - Parameters:
  ///   - folder: made for it, with its folders above.
  ///   - size: pixels of a side.
  ///   - distance: of the features, beyond which it abstains; on so few pixels all are far from those of the training. The
  ///     model then takes every picture for one through a dermatoscope.
  /// - Returns: the folder.
  @discardableResult package static func write(
    to folder: String, size: Int, distance: Double? = nil
  ) throws -> String {
    let shipped = Fixtures.root.appendingPathComponent("Weights")
    let text = try String(contentsOf: shipped.appendingPathComponent("config.json"), encoding: .utf8)
    precondition(text.contains("\"size\": 380"), "the shipped model has another size than 380")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let small = text.replacing("\"size\": 380", with: "\"size\": \(size)")
    let limited = distance.map { limit in
      small.replacing(/("distance": \{[^}]*"threshold": )[0-9.]+/) { "\($0.1)\(limit)" }
        .replacing(/("dermoscopy": \{[^}]*"threshold": )[-0-9.]+/) { "\($0.1)1e9" }
    }
    precondition(limited != small, "the shipped model has no limit of the distance")
    try (limited ?? small).write(toFile: "\(folder)/config.json", atomically: false, encoding: .utf8)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/model.safetensors",
      withDestinationPath: shipped.appendingPathComponent("model.safetensors").path)
    return folder
  }
}
