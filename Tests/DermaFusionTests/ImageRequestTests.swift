import Files
import ImagePipeline
import TestModels
import Testing

@testable import DermaFusion

/// The requests of a page in JSON, and the answers.
@Suite struct ImageRequestTests {
  private func request(_ json: String) throws -> ImageRequest {
    try ImageRequest(json: Array(json.utf8))
  }

  @Test func nothingAsksForNothingSpecial() throws {
    for json in ["", "{}", #"{"age":null,"sex":null,"site":null,"views":null,"method":null,"layer":null}"#] {
      let request = try request(json)
      #expect(request.imageName == "" && request.imageSHA256 == nil && request.metadata == .unknown)
      #expect(request.views == .upright && request.method == .gradcam && request.layer == nil)
      #expect(!request.includesMetadataShares && !request.includesSignedMap && !request.includesTrust)
      #expect(request.stage == nil)
      #expect(request.classes == .top)
    }
  }

  @Test func everyKeyIsRead() throws {
    let request = try request(
      #"""
      {"image":"a.png","imageSHA256":"ab","age":0.5,"sex":"FEMALE","site":"lower extremity","views":"symmetries",
       "metadataShares":true,"classes":["nv","mel"],"method":"layercam","layer":"stage2","signedMap":true,"trust":true,
       "stage":"resized"}
      """#)
    #expect(request.imageName == "a.png" && request.imageSHA256 == "ab")
    #expect(
      request.metadata == (try PatientMetadata(ageInYears: 0.5, sex: .female, site: .lowerExtremity)))
    #expect(request.views == .symmetries && request.method == .layercam && request.layer == "stage2")
    #expect(request.includesMetadataShares && request.includesSignedMap && request.includesTrust)
    #expect(request.stage == .resized)
    guard case .named(["nv", "mel"]) = request.classes else {
      return #expect(Bool(false), "\(request.classes)")
    }
  }

  @Test(
    arguments: [
      ("[]", "the request is an array"), ("{", "the request: the JSON ends at byte 1"),
      (#"{"ages":1}"#, #"the request's key "ages" is unknown"#),
      (#"{"age":"1"}"#, #"the request's "age" is a string, and must be a number or null"#),
      (#"{"age":1e999}"#, #"the request's "age" is a number, and must be a number or null"#),
      (#"{"trust":1}"#, #"the request's "trust" is a number, and must be true or false"#),
      (#"{"image":null}"#, #"the request's "image" is null, and must be a string"#),
      (#"{"classes":[]}"#, #"must be "top", "all" or an array of at least one class"#),
      (#"{"classes":[1]}"#, #"the request's "classes" is a number, and must be a string"#),
      (#"{"classes":"mel"}"#, #"must be "top", "all" or an array of classes"#),
      (
        #"{"method":"cam"}"#,
        #"method "cam" is not one of gradcam, hirescam, gradcam++, layercam, eigencam"#
      ),
      (#"{"views":"8"}"#, #"views "8" is not one of upright, symmetries"#),
      (#"{"stage":"decoded"}"#, #"stage "decoded" is not one of cropped, resized, constancy, normalized"#),
    ]
  ) func whatBreaksARuleIsNamed(json: String, words: String) {
    let error = #expect(throws: DermaFusionError.self) { try request(json) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test(
    arguments: [
      (#"{"age":131}"#, "age 131.0 is not within 0...130 years"),
      (#"{"sex":"x\u0007"}"#, "sex \"x\u{FFFD}\" is not one of male, female, unknown"),
      (#"{"site":"moon"}"#, #"site "moon" is not one of abdomen, acral, back, "#),
    ]
  ) func whatNoPatientHasIsInvalidMetadata(json: String, words: String) {
    let error = #expect(throws: DermaFusionError.self) { try request(json) }
    #expect(error?.code == .invalidMetadata)
    #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
    #expect(
      error?.json().text.hasPrefix(#"{"error":{"code":"invalidMetadata","message":""#) == true)
  }

  private let image = PixelImage(
    width: 140, height: 130, pixels: (0..<140 * 130 * 3).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 4) })

  @Test func theAnswerIsThatOfClassify() throws {
    let classifier = try LightDetector.classifier()
    let request = try request(#"{"image":"a.png","imageSHA256":"ab","age":50,"metadataShares":true}"#)
    var expected = try classifier.classify(image, metadata: request.metadata).json(imageName: "a.png")
    expected.replace(#""imageSHA256":null"#, with: #""imageSHA256":"ab""#)
    let shares = try classifier.metadataShares(of: image, metadata: request.metadata).json.text
    expected.replace(#","summary""#, with: #","metadataShares":\#(shares),"summary""#)
    #expect(try classifier.run(request, on: image).json.text == expected)
  }

  @Test func mapsComeWithTheirResultAndTheirTrust() throws {
    let classifier = try LightDetector.classifier()
    var request = try request(#"{"classes":["mel","nv"],"signedMap":true,"trust":true}"#)
    request.explains = true
    let answer = try classifier.run(request, on: image)
    let (explanation, json) = (answer.explanation, answer.json)
    #expect(explanation.maps.map { explanation.label(of: $0).id } == ["mel", "nv"])
    guard case .object(let object) = json, case .array(let maps) = object["maps"],
      case .object(let first) = maps[0], case .object(let trust) = first["trust"]
    else { return #expect(Bool(false), "\(json.text)") }
    #expect(object["classification"] == .object(explanation.classification.members(imageName: "")))
    #expect(
      first.members.map(\.key) == [
        "class", "name", "probability", "logit", "method", "layer", "status", "width", "height", "mapShape",
        "minimum", "maximum", "massCentre", "trust", "signedMap",
      ])
    #expect(
      trust.members.map(\.key) == [
        "deletionAUC", "randomDeletionAUC", "insertionAUC", "randomInsertionAUC", "shuffledHeadCorrelation",
        "passes", "words",
      ])
    let map = explanation.maps[0]
    guard case .array(let rows) = first["signedMap"] else { return #expect(Bool(false), "\(first)") }
    #expect(rows.count == map.height)
    let values = rows.flatMap { row -> [JSONValue] in if case .array(let row) = row { row } else { [] } }
    #expect(values == map.signedValues.map { .float($0) })
  }

  @Test func mapsOfClassesThatAreNotThereOrOfSeveralViewsAreRefused() throws {
    let classifier = try LightDetector.classifier()
    var request = try self.request(#"{"classes":["nv","MEL"]}"#)
    request.explains = true
    let unknown = #expect(throws: DermaFusionError.self) { try classifier.run(request, on: image) }
    #expect(unknown?.code == .unknownClass && unknown?.message == #"the model has no class "MEL""#)
    let views = #expect(throws: DermaFusionError.self) {
      request.classes = .top
      request.views = .symmetries
      _ = try classifier.run(request, on: image)
    }
    #expect(views?.code == .invalidRequest)
  }

  @Test func theDescriptionTellsWhatMayBeAskedFor() throws {
    let classifier = try LightDetector.classifier()
    guard case .object(let description) = classifier.description(for: .program) else {
      return #expect(Bool(false))
    }
    #expect(
      description.members.map(\.key) == [
        "schemaVersion", "version", "model", "architecture", "precision", "temperature", "inputSize",
        "classes", "metadataUsed", "multiLabel", "abstention", "limits", "imageEndings", "sexes", "sites",
        "pickerSites",
        "methods", "layers", "languages", "threads", "instructionSet", "disclaimer",
      ])
    #expect(description["sexes"] == .strings(["male", "female", "unknown"]))
    #expect(description["sites"] == .strings(BodySite.allCases.map(\.rawValue)))
    #expect(description["layers"] == .strings(classifier.layers))
    guard case .array(let sites) = description["pickerSites"] else { return #expect(Bool(false)) }
    for case .string(let site) in sites {
      #expect(try request(#"{"site":"\#(site)"}"#).metadata.site.rawValue == site)
    }
    let described = classifier.description(
      for: .info(folder: "m", decoders: ["libpng 1"]), formats: ["png"])
    guard case .object(let info) = described else { return #expect(Bool(false)) }
    for key in ["sexes", "sites", "pickerSites", "methods", "layers", "threads", "instructionSet"] {
      #expect(info[key] == description[key], "\(key)")
    }
    #expect(info["labels"] == description["classes"])
  }
}
