import Files
import SystemModule

extension MetadataTable {
  /// Answers a page or another program that has a table of patients for some images.
  ///
  /// - Parameters:
  ///   - table: the table's bytes.
  ///   - request: a JSON object with the table's `name`, for the messages, and the paths of the `images`.
  package static func answer(_ table: [UInt8], to request: [UInt8]) throws(DermaFusionError) -> JSONValue {
    guard case .object(let object) = try? JSONParser.parse(request), case .string(let name) = object["name"],
      case .array(let elements) = object["images"]
    else {
      throw DermaFusionError(
        .invalidRequest, message: "the request is not an object with a \"name\" and \"images\"",
        remedy: "Send the table's name and an array of the images' names.")
    }
    guard table.count <= byteLimit else {
      throw DermaFusionError(
        .invalidTable,
        message: "\(name): the table is larger than the limit of \(byteLimit / (1024 * 1024)) MB",
        remedy: "Please split the table.")
    }
    // An image without a name has no row.
    let images = elements.map { if case .string(let image) = $0 { image } else { "" } }
    return try MetadataTable(table, path: name).rows(ofImages: images).json
  }
}
