import Files
import ImagePipeline
import SystemModule

/// A result that was written as JSON and is read back, from a file that anybody may have written.
///
/// What follows from the probabilities is worked out again, and a result that says otherwise is refused. A result of an
/// older version gets the members that it lacks.
package struct StoredResult {
  /// The result by its own rules.
  package let classification: Classification
  let imageName: String

  /// Names of files are longer than those that people give.
  private static let imageNameLimit = 1000
  /// What results of older versions lack, and what those of all versions have and their probabilities do not tell.
  private static let laterMembers: Set<String> = ["concern", "urgent"]
  private static let derivedMembers: Set<String> = [
    "schemaVersion", "prediction", "risk", "concern", "urgent", "confidence", "metadata", "abstain",
    "conformalSet", "conformalCoverage", "summary", "disclaimer",
  ]

  /// - Parameters:
  ///   - text: `{"classes": [...], "result": {...}}` in UTF-8: the classes as ``Classifier`` describes them, the result as
  ///     ``Classification`` writes it.
  ///   - labelsOfModel: the classes of a model that the reader has, by its SHA-256; nil for another one.
  /// - Throws: ``DermaFusionError/Code/invalidRequest``, or the code of a member that is wrong by itself.
  package init(json text: [UInt8], labelsOfModel: (String) -> Labels?) throws(DermaFusionError) {
    var root = try ConfigurationObject(parsing: text)
    let labels = Labels(try ModelConfiguration.classes(&root))
    try Self.requireKnownMalignancies(labels)
    var result = try root.object("result")
    imageName = try Self.imageName(result)
    let model = try Self.model(&result)
    if let own = labelsOfModel(model.sha256), own != labels {
      throw .contradiction("its classes are not those of the model that it names")
    }
    let probabilities = try Self.scores("probabilities", .probability, &result, labels)
    let logits = try Self.scores("logits", .finite, &result, labels)
    let abstention = Abstention(
      reasons: try Self.words("abstainReasons", &result), conformalSet: try Self.set(&result, labels))
    if let fault = Classification.fault(logits: logits, probabilities: probabilities, abstention: abstention)
    {
      throw .contradiction(fault)
    }
    let warnings: [ClassificationWarning] = try Self.words("warnings", &result)
    classification = Classification(
      logits: logits, probabilities: probabilities, metadata: try Self.metadata(&result),
      warnings: warnings, warningDetails: try Self.details(of: warnings, &result),
      imageSHA256: try Self.imageHash(&result), model: model, abstention: abstention)
    try requireNoContradiction(result)
  }

  /// The members that follow from the others, as they are written today.
  package var json: JSONValue {
    .object(
      classification.members(imageName: imageName).filter { Self.derivedMembers.contains($0.key) })
  }

  /// Compares what the result says with what follows from it.
  private func requireNoContradiction(_ result: ConfigurationObject) throws(DermaFusionError) {
    let isOlder = Self.laterMembers.contains { result[$0] == nil }
    for (key, expected) in classification.members(imageName: imageName)
    where Self.derivedMembers.contains(key) {
      guard let given = result[key] else {
        if Self.laterMembers.contains(key) { continue }
        throw .contradiction("it has no \"\(key)\"")
      }
      // Older sentences did not name the class that raised the risk; today's sentence replaces them.
      if key == "summary", isOlder { continue }
      guard Self.isSame(given, expected) else {
        throw .contradiction(
          "\"\(key)\" is \(Self.shown(given)), and its other members make it \(Self.shown(expected))")
      }
    }
  }

  private static func isSame(_ first: JSONValue, _ second: JSONValue) -> Bool {
    switch (first, second) {
    // Programs write the same number with other digits.
    case (.number(let first), .number(let second)): return first.double == second.double
    case (.array(let first), .array(let second)):
      return first.count == second.count && zip(first, second).allSatisfy { isSame($0, $1) }
    case (.object(let first), .object(let second)):
      return first.members.count == second.members.count
        && second.members.allSatisfy { member in first[member.key].map { isSame($0, member.value) } ?? false }
    default: return first == second
    }
  }

  /// A value in an error: of a long one the beginning.
  private static func shown(_ value: JSONValue) -> String {
    let text = value.text
    return text.unicodeScalars.count > 80 ? "\(String(text.prefix(80))) ..." : text
  }
}

// MARK: Members

extension StoredResult {
  /// HAM10000's ids say what a lesion is, and so does melanoma's in any letter case.
  private static func requireKnownMalignancies(_ labels: Labels) throws(DermaFusionError) {
    for label in labels {
      let known = label.isMelanoma ? .malignant : Labels.ham10000[label.id]?.malignancy
      if let known, let malignancy = label.malignancy, malignancy != known {
        throw .contradiction("the class \(quoted(label.id)) is not \(malignancy.rawValue)")
      }
    }
  }

  private static func imageName(_ result: ConfigurationObject) throws(DermaFusionError) -> String {
    guard case .string(let name) = result["image"],
      name.unicodeScalars.prefix(imageNameLimit + 1).count <= imageNameLimit
    else { throw .contradiction("its image has no name of at most \(imageNameLimit) characters") }
    return name
  }

  private static func model(_ result: inout ConfigurationObject) throws(DermaFusionError) -> ModelIdentity {
    var model = try result.object("model")
    let identity = ModelIdentity(
      name: try model.text("name"), version: try model.text("version"), sha256: try model.text("sha256"))
    guard SHA256.isHexDigest(identity.sha256.utf8) else {
      throw .contradiction("its model's SHA-256 is malformed")
    }
    return identity
  }

  private static func imageHash(_ result: inout ConfigurationObject) throws(DermaFusionError) -> String? {
    guard result.hasValue("imageSHA256") else { return nil }
    let hash = try result.text("imageSHA256")
    guard SHA256.isHexDigest(hash.utf8) else { throw .contradiction("its image's SHA-256 is malformed") }
    return hash
  }

  private static func scores(
    _ key: String, _ rule: ConfigurationObject.NumberRule, _ result: inout ConfigurationObject,
    _ labels: Labels
  ) throws(DermaFusionError) -> ClassScores {
    var object = try result.object(key)
    var values: [Float] = []
    for label in labels { values.append(Float(try object.number(label.id, rule))) }
    try object.requireNoOtherKeys()
    return ClassScores(values, labels: labels)
  }

  private static func metadata(_ result: inout ConfigurationObject) throws(DermaFusionError)
    -> PatientMetadata
  {
    var object = try result.object("metadata")
    let age = object.hasValue("age") ? try object.number("age", .finite) : nil
    return try PatientMetadata(
      ageInYears: age, sex: ImageRequest.sex(named: object.text("sex")),
      site: ImageRequest.site(named: object.text("site")))
  }

  /// Reasons or warnings, each at most once.
  private static func words<Word>(
    _ key: String, _ result: inout ConfigurationObject
  ) throws(DermaFusionError) -> [Word] where Word: RawRepresentable<String> & CaseIterable {
    let names = try result.texts(key)
    let words = names.compactMap { Word(rawValue: $0) }
    guard words.count == names.count, Set(names).count == names.count else {
      throw .contradiction("\"\(key)\" has a word twice, or one that no version knows")
    }
    return words
  }

  /// The names of profiles are short; a file may claim anything.
  private static let detailLimit = 200

  private static func details(
    of warnings: [ClassificationWarning], _ result: inout ConfigurationObject
  ) throws(DermaFusionError) -> [ClassificationWarning: String] {
    guard result.hasValue("warningDetails") else { return [:] }
    var object = try result.object("warningDetails")
    var details: [ClassificationWarning: String] = [:]
    for warning in warnings where object.hasValue(warning.rawValue) {
      let detail = try object.text(warning.rawValue)
      guard detail.unicodeScalars.prefix(detailLimit + 1).count <= detailLimit else {
        throw .contradiction("\"warningDetails\" has a text of more than \(detailLimit) characters")
      }
      details[warning] = detail
    }
    try object.requireNoOtherKeys()
    return details
  }

  private static func set(
    _ result: inout ConfigurationObject, _ labels: Labels
  ) throws(DermaFusionError) -> Abstention.ConformalSet? {
    guard result.hasValue("conformalSet") else { return nil }
    let ids = try result.texts("conformalSet")
    let classes = ids.compactMap { labels[$0] }
    guard classes.count == ids.count else {
      throw .contradiction("\"conformalSet\" has a class that the model lacks")
    }
    return Abstention.ConformalSet(
      classes: classes, coverage: try result.numberOrNull("conformalCoverage", .probability))
  }
}

extension DermaFusionError {
  fileprivate static func contradiction(_ message: String) -> DermaFusionError {
    DermaFusionError(
      .invalidRequest, message: message, remedy: "Take the result as the program or the page wrote it.")
  }
}
