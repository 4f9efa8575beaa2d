import DermaFusion
import Files
import SystemModule

extension WrittenResults {
  /// Members of a result in JSON that depend on the options: `views` of `--tta`, and so on.
  static let optionalMembers = ["views", "metadataShares", "timing"]

  mutating func readLines(
    _ bytes: [UInt8], extraMembers: [String], images: [String], model: ModelIdentity
  ) throws(DermaFusionError) {
    var line = 1
    while let end = bytes[byteCount...].firstIndex(of: UInt8(ascii: "\n")) {
      try readObject(
        bytes[byteCount..<end], line: line, extraMembers: extraMembers, model: model, end: end + 1)
      line += 1
    }
    try requireTornResult(bytes[byteCount...], line: line, images: images) { image in
      let start = JSONValue.object([
        "schemaVersion": .integer(Classification.schemaVersion), "image": .string(image),
      ])
      return start.text.dropLast() + ","
    }
  }

  private mutating func readObject(
    _ bytes: ArraySlice<UInt8>, line: Int, extraMembers: [String], model: ModelIdentity, end: Int
  ) throws(DermaFusionError) {
    // As this command writes it: nothing stands around the object, no carriage return either.
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}"),
      case .object(let object) = try? JSONParser.parse(Array(bytes)),
      case .string(let image) = object["image"],
      object["schemaVersion"] == .integer(Classification.schemaVersion),
      case .object(let known) = object["metadata"], case .string(let sex) = known["sex"],
      case .string(let site) = known["site"], let age = Self.age(known["age"]),
      let metadata = Self.metadata(age: age, sex: sex, site: site)
    else { throw failure(line, "is no result of schema version \(Classification.schemaVersion)") }
    guard case .object(let made) = object["model"], made["sha256"] == .string(model.sha256) else {
      throw failure(line, "is of another model")
    }
    for member in Self.optionalMembers where (object[member] != nil) != extraMembers.contains(member) {
      throw failure(
        line, "has \(object[member] == nil ? "no" : "a") '\(member)', unlike this batch's results")
    }
    var hash: String?
    if case .string(let text) = object["imageSHA256"] { hash = text }
    add(Result(line: line, metadata: metadata, imageSHA256: hash), image: image, end: end)
  }

  /// A missing age is `.some(nil)`; nil: neither a number nor null.
  private static func age(_ value: JSONValue?) -> Double?? {
    switch value {
    case .null: .some(nil)
    case .number(let age): age.double.map { .some($0) }
    default: nil
    }
  }
}
