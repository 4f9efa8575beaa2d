import Files
import ImagePipeline
import SystemModule

extension ImageRequest {
  /// - Parameter text: a JSON object in UTF-8, of which every key may be left out; no bytes at all ask for nothing special.
  /// - Throws: ``DermaFusionError/Code/invalidRequest``, ``DermaFusionError/Code/invalidMetadata``
  package init(json text: [UInt8]) throws(DermaFusionError) {
    self.init()
    if text.isEmpty { return }
    let json: JSONValue
    do throws(DermaFusionError) {
      json = try JSONParser.parse(text)
    } catch {
      throw .request("the request: \(error.description)", remedy: "Send a JSON object.")
    }
    guard case .object(let object) = json else {
      throw .request("the request is \(json.typeInWords)", remedy: "Send a JSON object.")
    }
    var age: Double?
    var (sex, site) = (Sex.unknown, BodySite.unknown)
    for member in object.members {
      let field = Field(key: member.key, value: member.value)
      switch member.key {
      case "image": imageName = try field.text()
      case "imageSHA256": imageSHA256 = try field.optionalText()
      case "age": age = try field.optionalNumber()
      case "sex": if let name = try field.optionalText() { sex = try Self.sex(named: name) }
      case "site": if let name = try field.optionalText() { site = try Self.site(named: name) }
      case "views": if let name = try field.optionalText() { views = try Self.views(named: name) }
      case "metadataShares": includesMetadataShares = try field.flag()
      case "classes": classes = try field.classes()
      case "method": if let name = try field.optionalText() { method = try Self.method(named: name) }
      case "layer": layer = try field.optionalText()
      case "signedMap": includesSignedMap = try field.flag()
      case "trust": includesTrust = try field.flag()
      case "stage": if let name = try field.optionalText() { stage = try Self.stage(named: name) }
      default:
        throw .request("the request's key \(quoted(member.key)) is unknown", remedy: "Leave the key out.")
      }
    }
    metadata = try PatientMetadata(ageInYears: age, sex: sex, site: site)
  }

  private static func views(named name: String) throws(DermaFusionError) -> ImageViews {
    switch name {
    case "upright": return .upright
    case "symmetries": return .symmetries
    default: throw unknown(name, "views", among: ["upright", "symmetries"])
    }
  }

  private static func stage(named name: String) throws(DermaFusionError) -> PreprocessingStage {
    let stages = PreprocessingStage.allCases.filter { $0 != .decoded }
    guard let stage = stages.first(where: { $0.rawValue == name }) else {
      throw unknown(name, "stage", among: stages.map { $0.rawValue })
    }
    return stage
  }
}

extension DermaFusionError {
  fileprivate static func request(_ message: String, remedy: String) -> DermaFusionError {
    DermaFusionError(.invalidRequest, message: message, remedy: remedy)
  }
}

/// One member of a request.
private struct Field {
  let key: String
  let value: JSONValue

  private func wrong(_ rule: String) -> DermaFusionError {
    .request(
      "the request's \(quoted(key)) is \(value.typeInWords), and must be \(rule)", remedy: "Send \(rule).")
  }

  func text() throws(DermaFusionError) -> String {
    guard case .string(let text) = value else { throw wrong("a string") }
    return text
  }

  func optionalText() throws(DermaFusionError) -> String? { value == .null ? nil : try text() }

  func optionalNumber() throws(DermaFusionError) -> Double? {
    if value == .null { return nil }
    guard case .number(let number) = value, let double = number.double else {
      throw wrong("a number or null")
    }
    return double
  }

  func flag() throws(DermaFusionError) -> Bool {
    guard case .bool(let flag) = value else { throw wrong("true or false") }
    return flag
  }

  func classes() throws(DermaFusionError) -> ImageRequest.Classes {
    switch value {
    case .string("top"): return .top
    case .string("all"): return .all
    case .array(let elements):
      var names: [String] = []
      for element in elements { names.append(try Field(key: key, value: element).text()) }
      if names.isEmpty { throw wrong("\"top\", \"all\" or an array of at least one class") }
      return .named(names)
    default: throw wrong("\"top\", \"all\" or an array of classes")
    }
  }
}
