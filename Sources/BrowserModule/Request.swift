import DermaFusion
import ExplanationModule
import JSONModule
import ModelFiles

/// Why a call gives nothing, as a page shows it.
struct Failure: Error {
  /// The kind: one of ``DermaFusionError/Code``, or `invalidRequest`.
  let code: String
  /// What went wrong, in one line.
  let message: String
  /// What to do about it.
  let remedy: String

  init(_ error: DermaFusionError) {
    code = error.code.description
    message = error.message
    remedy = error.remedy
  }

  init(request message: String, remedy: String) {
    code = "invalidRequest"
    self.message = message
    self.remedy = remedy
  }

  var json: JSONValue {
    .object([
      "error": .object(["code": .string(code), "message": .string(message), "remedy": .string(remedy)])
    ])
  }
}

/// What a page asks for beside the pixels: a JSON object, of which every key may be left out.
struct Request {
  /// What the page knows the image by.
  var image = ""
  /// SHA-256 of the file that the image comes from.
  var imageSHA256: String?
  var metadata = PatientMetadata.unknown
  var views = ImageViews.upright
  /// Whether the result tells what each field of the metadata does to the logits.
  var includesMetadataShares = false
  var classes = Classes.top
  var method = ActivationMapMethod.gradcam
  /// The feature map to explain; nil: the last.
  var layer: String?
  /// Whether maps are given before their negative part is cut off too.
  var includesSignedMap = false
  /// Whether maps are checked: about 100 runs of the network and 35 for each map.
  var includesTrust = false
  /// The stage of the preprocessing.
  var stage: Stage?

  /// The classes whose maps are asked for.
  enum Classes {
    case top
    case all
    case named([String])
  }

  /// A stage of the preprocessing after the decoded image.
  enum Stage: String, CaseIterable {
    case cropped, resized, constancy, normalized
  }

  /// - Parameter text: JSON in UTF-8; no bytes at all ask for nothing special.
  init(_ text: UnsafeRawBufferPointer) throws(Failure) {
    if text.isEmpty { return }
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONParser.parse(text)
    } catch {
      throw Failure(request: "the request: \(error.description)", remedy: "Send a JSON object.")
    }
    guard case .object(let object) = json else {
      throw Failure(request: "the request is \(json.typeInWords)", remedy: "Send a JSON object.")
    }
    var age: Double?
    var (sex, site) = (Sex.unknown, BodySite.unknown)
    for member in object.members {
      let field = Field(key: member.key, value: member.value)
      switch member.key {
      case "image": image = try field.text()
      case "imageSHA256": imageSHA256 = try field.optionalText()
      case "age": age = try field.optionalNumber()
      case "sex": sex = try field.choice { Sex(name: $0) } ?? .unknown
      case "site": site = try field.choice { BodySite(name: $0) } ?? .unknown
      case "views": views = try field.choice { Self.views(named: $0) } ?? .upright
      case "metadataShares": includesMetadataShares = try field.flag()
      case "classes": classes = try field.classes()
      case "method": method = try field.choice { ActivationMapMethod(rawValue: $0) } ?? .gradcam
      case "layer": layer = try field.optionalText()
      case "signedMap": includesSignedMap = try field.flag()
      case "trust": includesTrust = try field.flag()
      case "stage": stage = try field.choice { Stage(rawValue: $0) }
      default:
        throw Failure(
          request: "the request's key \(quoted(member.key)) is unknown", remedy: "Leave the key out.")
      }
    }
    do throws(DermaFusionError) {
      metadata = try PatientMetadata(ageInYears: age, sex: sex, site: site)
    } catch {
      throw Failure(error)
    }
  }

  private static func views(named name: String) -> ImageViews? {
    switch name {
    case "upright": .upright
    case "symmetries": .symmetries
    default: nil
    }
  }
}

/// One member of a request.
private struct Field {
  let key: String
  let value: JSONValue

  private func wrong(_ rule: String) -> Failure {
    Failure(
      request: "the request's \(quoted(key)) is \(value.typeInWords), and must be \(rule)",
      remedy: "Send \(rule).")
  }

  func text() throws(Failure) -> String {
    guard case .string(let text) = value else { throw wrong("a string") }
    return text
  }

  func optionalText() throws(Failure) -> String? { value == .null ? nil : try text() }

  func optionalNumber() throws(Failure) -> Double? {
    if value == .null { return nil }
    guard case .number(let number) = value, let double = number.double else {
      throw wrong("a number or null")
    }
    return double
  }

  func flag() throws(Failure) -> Bool {
    guard case .bool(let flag) = value else { throw wrong("true or false") }
    return flag
  }

  /// One of the names that `make` knows; nil for null.
  func choice<Value>(_ make: (String) -> Value?) throws(Failure) -> Value? {
    guard let name = try optionalText() else { return nil }
    guard let value = make(name) else {
      throw Failure(
        request: "the request's \(quoted(key)) is \(quoted(name)), which is none of its values",
        remedy: "Send one of the documented values.")
    }
    return value
  }

  func classes() throws(Failure) -> Request.Classes {
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
