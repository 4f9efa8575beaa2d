import SystemModule
import CommandLineSupport
import DermaFusion
import JSONModule

/// The results that an interrupted batch left in its file.
package struct WrittenResults {
  /// Bytes up to the end of the last whole line.
  package let byteCount: Int
  /// How many results each image has, by the bytes of its name.
  private var counts: [[UInt8]: Int] = [:]
  private let isTable: Bool

  /// - Parameters:
  ///   - bytes: of the file.
  ///   - path: of the file, for messages.
  ///   - header: the line of names that a table of this batch begins with; `nil` for JSON.
  ///   - model: that goes on; the results that are there must be its own.
  /// - Throws: ``NamedFailure`` where a line is none of this batch's.
  package init(_ bytes: [UInt8], path: String, header: String?, model: ModelIdentity) throws(NamedFailure) {
    var whole = bytes[...(bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1)]
    func failure(_ line: Int, _ reason: String) -> NamedFailure {
      NamedFailure(name: path, reason: "line \(line) \(reason); choose another file, or leave out --resume")
    }
    isTable = header != nil
    if let header {
      // A line break in a name is inside quotes: the row that it belongs to may be the one that was not finished.
      while !whole.isEmpty, whole.count(where: { $0 == UInt8(ascii: "\"") }) % 2 == 1 {
        whole = whole.dropLast()
        whole = whole[...(whole.lastIndex(of: UInt8(ascii: "\n")) ?? -1)]
      }
      byteCount = whole.count
      if whole.isEmpty { return }
      guard whole.starts(with: header.utf8) else { throw failure(1, "has other columns than this batch") }
      var rows: [(line: Int, image: String, model: String)] = []
      do throws(CSVError) {
        let table = try CSVTable(Array(whole), path: path)
        let columns = try table.columns(["image", "modelSHA256"], path: path)
        for row in table.rows {
          rows.append(
            (row.line, try columns.identifier("image", of: row), columns.text("modelSHA256", of: row)))
        }
      } catch {
        throw NamedFailure(name: path, reason: "\(error)")
      }
      for row in rows {
        if row.model != model.sha256 { throw failure(row.line, "is of another model") }
        counts[Array(row.image.utf8), default: 0] += 1
      }
      return
    }
    byteCount = whole.count
    for (index, line) in whole.split(separator: UInt8(ascii: "\n")).enumerated() {
      guard case .object(let object) = try? JSONParser.parse(Array(line)),
        case .string(let image) = object["image"],
        object["schemaVersion"] == .integer(Classification.schemaVersion)
      else { throw failure(index + 1, "is no result of schema version \(Classification.schemaVersion)") }
      guard case .object(let made) = object["model"], made["sha256"] == .string(model.sha256) else {
        throw failure(index + 1, "is of another model")
      }
      counts[Array(image.utf8), default: 0] += 1
    }
  }

  /// Whether an image has a result that no other of the same name was given for yet.
  package mutating func take(_ name: String) -> Bool {
    let name = Array((isTable ? CSVCell.neutralized(name) : name).utf8)
    guard let count = counts[name], count > 0 else { return false }
    counts[name] = count - 1
    return true
  }
}
