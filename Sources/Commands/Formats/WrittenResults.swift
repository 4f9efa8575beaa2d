import CommandLineSupport
import DermaFusion
import JSONModule
import SystemModule

/// The results that an interrupted batch left in its file.
struct WrittenResults {
  /// One result: its line, and what it was made from besides the image and the model.
  private struct Result {
    let line: Int
    let metadata: PatientMetadata
    /// nil: the file does not tell.
    var imageSHA256: String? = nil
  }

  /// Bytes up to the end of the last whole line.
  let byteCount: Int
  /// The results of each image that were not taken yet, by the bytes of its name.
  private var results: [[UInt8]: [Result]] = [:]
  private let path: String
  private let isTable: Bool

  /// - Parameters:
  ///   - bytes: of the file.
  ///   - path: of the file, for messages.
  ///   - header: the line of names that a table of this batch begins with; `nil` for JSON.
  ///   - extraMembers: of ``optionalMembers``, those that each result of this batch has. For JSON.
  ///   - model: that goes on; the results that are there must be its own.
  /// - Throws: ``NamedFailure`` where a line is none of this batch's.
  init(
    _ bytes: [UInt8], path: String, header: String?, extraMembers: [String] = [], model: ModelIdentity
  ) throws(NamedFailure) {
    self.path = path
    isTable = header != nil
    let whole = bytes[...(bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1)]
    if let header {
      let rows = Self.wholeRows(whole)
      byteCount = rows.count
      if !rows.isEmpty { try readTable(rows, header: header, model: model) }
    } else {
      byteCount = whole.count
      for (index, line) in whole.split(separator: UInt8(ascii: "\n")).enumerated() {
        try readObject(line, number: index + 1, extraMembers: extraMembers, model: model)
      }
    }
  }

  /// Members of a result in JSON that depend on the options: ``optionalMembers/views`` of `--tta`, and so on.
  static let optionalMembers = ["views", "metadataShares", "timing"]

  /// Whether an image has a result that no other of the same name was given for yet.
  ///
  /// - Parameters:
  ///   - metadata: what this batch knows of the patient.
  ///   - completed: the same with what the image's file says besides, asked for where a result was made with other metadata.
  ///   - imageSHA256: of the image's bytes as they are now, asked for where the file tells it; nil: not known.
  /// - Throws: ``NamedFailure`` where the result was made with other metadata or from another image: a file must not hold both.
  mutating func take(
    _ name: String, metadata: PatientMetadata, completed: () -> PatientMetadata?, imageSHA256: () -> String?
  ) throws(NamedFailure) -> Bool {
    let key = Array((isTable ? CSVCell.neutralized(name) : name).utf8)
    guard let first = results[key]?.first else { return false }
    if first.metadata != metadata, first.metadata != completed() {
      throw failure(first.line, "was made with \(first.metadata), and now \(name) has \(metadata)")
    }
    if let made = first.imageSHA256, let now = imageSHA256(), made != now {
      throw failure(first.line, "was made from another image than \(name) is now (imageSHA256)")
    }
    results[key]?.removeFirst()
    return true
  }

  private func failure(_ line: Int, _ reason: String) -> NamedFailure {
    NamedFailure(name: path, reason: "line \(line) \(reason); choose another file, or leave out --resume")
  }

  private mutating func add(_ result: Result, image: String) {
    results[Array(image.utf8), default: []].append(result)
  }
}

// MARK: - CSV

extension WrittenResults {
  /// A line break in a name is inside quotes: the row that it belongs to may be the one that was not finished.
  private static func wholeRows(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var whole = bytes
    while !whole.isEmpty, whole.count(where: { $0 == UInt8(ascii: "\"") }) % 2 == 1 {
      whole = whole.dropLast()
      whole = whole[...(whole.lastIndex(of: UInt8(ascii: "\n")) ?? -1)]
    }
    return whole
  }

  private mutating func readTable(
    _ bytes: ArraySlice<UInt8>, header: String, model: ModelIdentity
  ) throws(NamedFailure) {
    guard bytes.starts(with: header.utf8) else { throw failure(1, "has other columns than this batch") }
    let columns: CSVColumns
    let rows: [CSVTable.Row]
    do throws(CSVError) {
      let table = try CSVTable(Array(bytes), path: path)
      columns = try table.columns(["image", "modelSHA256", "age", "sex", "site"], path: path)
      rows = table.rows
    } catch {
      throw NamedFailure(name: path, reason: "\(error)")
    }
    for row in rows {
      if columns.text("modelSHA256", of: row) != model.sha256 {
        throw failure(row.line, "is of another model")
      }
      let age = columns.text("age", of: row)
      guard
        let metadata = Self.metadata(
          age: age.isEmpty ? .null : .number(JSONNumber(literal: age)),
          sex: columns.text("sex", of: row), site: columns.text("site", of: row))
      else { throw failure(row.line, "has no age, sex and site of a result") }
      do throws(CSVError) {
        add(Result(line: row.line, metadata: metadata), image: try columns.identifier("image", of: row))
      } catch {
        throw NamedFailure(name: path, reason: "\(error)")
      }
    }
  }

  /// - Parameter age: a number or null.
  /// - Returns: nil where they are not those of a result.
  private static func metadata(age: JSONValue?, sex: String, site: String) -> PatientMetadata? {
    guard let sex = Sex(name: sex), let site = BodySite(name: site) else { return nil }
    switch age {
    case .null: return PatientMetadata(sex: sex, site: site)
    case .number(let age): return try? PatientMetadata(ageInYears: age.double ?? -1, sex: sex, site: site)
    default: return nil
    }
  }
}

// MARK: - JSON

extension WrittenResults {
  private mutating func readObject(
    _ line: ArraySlice<UInt8>, number: Int, extraMembers: [String], model: ModelIdentity
  ) throws(NamedFailure) {
    guard case .object(let object) = try? JSONParser.parse(Array(line)),
      case .string(let image) = object["image"],
      object["schemaVersion"] == .integer(Classification.schemaVersion),
      case .object(let known) = object["metadata"], case .string(let sex) = known["sex"],
      case .string(let site) = known["site"],
      let metadata = Self.metadata(age: known["age"], sex: sex, site: site)
    else { throw failure(number, "is no result of schema version \(Classification.schemaVersion)") }
    guard case .object(let made) = object["model"], made["sha256"] == .string(model.sha256) else {
      throw failure(number, "is of another model")
    }
    for member in Self.optionalMembers where (object[member] != nil) != extraMembers.contains(member) {
      throw failure(
        number, "has \(object[member] == nil ? "no" : "a") '\(member)', unlike this batch's results")
    }
    var hash: String?
    if case .string(let text) = object["imageSHA256"] { hash = text }
    add(Result(line: number, metadata: metadata, imageSHA256: hash), image: image)
  }
}
