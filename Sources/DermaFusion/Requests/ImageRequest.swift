import Files
import ImagePipeline
import SystemModule

/// The questions to a classifier beside the pixels. C fills it from a struct, the page from JSON, the commands from their
/// options.
package struct ImageRequest: Sendable {
  package var imageName = ""
  /// The frame to look at of a DICOM file of several, from 1; nil: the file has one.
  package var frame: Int?
  package var imageSHA256: String?
  package var metadata: PatientMetadata
  package var views: ImageViews
  /// True if the layers are computed on the calling thread alone, by callers that keep all processors busy with images.
  package var usesCallingThreadOnly = false
  /// True if the result tells what each field of the metadata does to the logits.
  package var includesMetadataShares = false
  package var language = Language.english
  /// True if the result has its summary in every language, for readers who change theirs.
  package var includesSummaries = false
  package var includesTiming = false

  /// True if activation maps are made.
  package var explains = false
  package var classes = Classes.top
  package var method = ActivationMapMethod.gradcam
  /// The feature map to explain; nil: the last.
  package var layer: String?
  /// True if maps are given before their negative part is cut off too.
  package var includesSignedMap = false
  /// True if maps are checked: about 100 runs of the network and 35 for each map.
  package var includesTrust = false
  /// The greatest width of ``ImageAnswer/picture``; nil: as wide as the square is.
  package var pictureSide: Int?

  /// The stage of the preprocessing, which is not that of the decoded image.
  package var stage: PreprocessingStage?

  /// The classes that get a map.
  package enum Classes: Sendable, Equatable {
    /// So many, the likeliest first.
    case likeliest(Int)
    case all
    /// Classes by their ids; at least one.
    case named([String])

    package static let top = Classes.likeliest(1)
  }

  package init(
    metadata: PatientMetadata = .unknown, views: ImageViews = .upright, frame: Int? = nil
  ) {
    self.metadata = metadata
    self.views = views
    self.frame = frame
  }

  /// Chooses ``classes`` by an image's probabilities.
  func selection(among labels: Labels) throws(DermaFusionError) -> (ClassScores) -> [LesionLabel] {
    guard views == .upright else {
      throw DermaFusionError(
        .invalidRequest, message: "maps of several views are not made",
        remedy: "Ask for maps of the image as it is.")
    }
    switch classes {
    case .likeliest(let count): return { Array($0.ranked.prefix(count)) }
    case .all: return { Array($0.labels) }
    case .named(let names):
      var chosen: [LesionLabel] = []
      for name in names {
        guard let label = labels[name] else {
          throw .unknownClass("the model has no class \(quoted(name))", among: labels)
        }
        chosen.append(label)
      }
      return { [chosen] _ in chosen }
    }
  }

  // MARK: Values by their names

  /// Reads a sex as tables do: `m`, `f` and `w` too. An error calls it by the key.
  package static func sex(named name: String, key: String = "sex") throws(DermaFusionError) -> Sex {
    try known(Sex(word: name), name, key, among: Sex.allCases.map { $0.rawValue }, .invalidMetadata)
  }

  /// See ``sex(named:key:)``. A word for a region of several sites is an error.
  package static func site(named name: String, key: String = "site") throws(DermaFusionError) -> BodySite {
    try known(BodySite(word: name), name, key, among: BodySite.allCases.map { $0.rawValue }, .invalidMetadata)
  }

  package static func method(
    named name: String, key: String = "method"
  ) throws(DermaFusionError) -> ActivationMapMethod {
    let names = ActivationMapMethod.allCases.map { $0.rawValue }
    return try known(ActivationMapMethod(rawValue: name), name, key, among: names)
  }

  package static func language(
    named name: String, key: String = "language"
  ) throws(DermaFusionError) -> Language {
    try known(Language(rawValue: name), name, key, among: Language.allCases.map { $0.rawValue })
  }

  private static func known<Value>(
    _ value: Value?, _ name: String, _ key: String, among names: [String],
    _ code: DermaFusionError.Code = .invalidRequest
  ) throws(DermaFusionError) -> Value {
    guard let value else {
      throw DermaFusionError(
        code, message: "\(key) \(quoted(name)) is not one of \(names.joined(separator: ", "))",
        remedy: "Give one of the names, or leave it out.")
    }
    return value
  }
}

extension ImageRequest {
  /// - Parameter text: a JSON object in UTF-8, of which every key may be left out; no bytes at all ask for nothing special.
  package init(json text: [UInt8]) throws(DermaFusionError) {
    self.init()
    if text.isEmpty { return }
    let json: JSONValue
    do throws(DermaFusionError) {
      json = try JSONParser.parse(text)
    } catch {
      throw .request("the request: \(error.fault)", remedy: "Send a JSON object.")
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
      case "language": if let name = try field.optionalText() { language = try Self.language(named: name) }
      case "summaries": includesSummaries = try field.flag()
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
    let views = [("upright", ImageViews.upright), ("symmetries", .symmetries)]
    return try known(views.first { $0.0 == name }?.1, name, "views", among: views.map { $0.0 })
  }

  private static func stage(named name: String) throws(DermaFusionError) -> PreprocessingStage {
    let stages = PreprocessingStage.allCases.filter { $0 != .decoded }
    return try known(
      stages.first { $0.rawValue == name }, name, "stage", among: stages.map { $0.rawValue })
  }
}

extension DermaFusionError {
  fileprivate static func request(_ message: Sentence, remedy: Sentence) -> DermaFusionError {
    DermaFusionError(.invalidRequest, message: message, remedy: remedy)
  }
}

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
