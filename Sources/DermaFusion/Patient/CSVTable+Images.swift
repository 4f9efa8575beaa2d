import Files
import SystemModule

extension CSVTable {
  /// A table with a row for each image, which this program may have written.
  package init(ofImages bytes: [UInt8], path: String) throws(DermaFusionError) {
    try self.init(bytes, path: path) { header in
      // `classify` and `evaluate --predictions`
      Self.isOfClassify(header) || ["image_id", "label", "abstain"].allSatisfy(header.contains)
    }
  }

  var isOfClassify: Bool { Self.isOfClassify(header) }

  /// A person may have removed some of the columns that `classify` wrote, or written them in another letter case.
  private static func isOfClassify(_ header: [String]) -> Bool {
    let names = Set(header.map { $0.lowercased() })
    guard names.contains("class") else { return false }
    return !names.isDisjoint(with: ["abstain", "disclaimer", "modelsha256", "summary"])
      || (names.contains("probability") && !names.isDisjoint(with: ["name", "risk"]))
  }

  /// The columns `NAME_5` to `NAME_1` of the ISIC archive, from the most exact to the most general.
  static func hierarchy(_ name: String) -> [String] { (1...5).reversed().map { "\(name)_\($0)" } }
}
