import Files
import ImagePipeline
import SystemModule

/// A result that was written as JSON and is read back, from a file that anybody may have written.
///
/// All that follows from the probabilities is worked out again, and a result that says otherwise is refused. A result of an
/// older version gets the members that it lacks.
package struct ImportedResult {
  package let classification: Classification
  let imageName: String
  private let language: Language

  /// - Parameters:
  ///   - text: `{"classes": [...], "result": {...}}` in UTF-8: the classes as ``Classifier`` describes them, the result as
  ///     ``Classification`` writes it.
  ///   - labelsOfModel: the classes of a model that the reader has, by its SHA-256; nil for another one.
  /// - Throws: ``DermaFusionError/Code/invalidRequest``, or the code of a member that is wrong by itself.
  package init(json text: [UInt8], labelsOfModel: (String) -> Labels?) throws(DermaFusionError) {
    var root = try ConfigurationObject(parsing: text)
    let labels = Labels(try ModelConfiguration.classes(&root))
    try Self.requireKnownMalignancies(labels)
    var draft = ResultDraft(labels: labels, object: try root.object("result"))
    for field in ResultField.all { try field.read?(&draft) }
    if let own = labelsOfModel(draft.model.sha256), own != labels {
      throw .contradiction("its classes are not those of the model that it names")
    }
    let abstention = Abstention(reasons: draft.reasons, conformalSet: draft.conformalSet)
    if let fault = Classification.fault(
      logits: draft.logits, probabilities: draft.probabilities, isMultiLabel: draft.isMultiLabel,
      abstention: abstention)
    {
      throw .contradiction(fault)
    }
    imageName = draft.imageName
    language = draft.language
    classification = Classification(
      logits: draft.logits, probabilities: draft.probabilities, isMultiLabel: draft.isMultiLabel,
      metadata: draft.metadata, warnings: draft.warnings, warningDetails: draft.warningDetails,
      imageSHA256: draft.imageSHA256,
      model: draft.model, abstention: abstention)
    try requireNoContradiction(draft.object)
  }

  /// The members that follow from the others, as they are written today.
  package var json: JSONValue {
    .object(derived.map { (key: $0.field.name, value: $0.value) })
  }

  private var derived: [(field: ResultField, value: JSONValue)] {
    let result = ReportedResult(
      classification, imageName: imageName, language: language, hasSummaries: true)
    return ResultField.all.filter { $0.check != .nothing }
      .compactMap { field in field.value(result).map { (field, $0) } }
  }

  /// Compares what the result says with what follows from it.
  private func requireNoContradiction(_ result: ConfigurationObject) throws(DermaFusionError) {
    var isOlder = false
    for (field, expected) in derived where field.check != .madeAnew {
      guard let given = result[field.name] else {
        guard field.check == .followsToday else { throw .contradiction("it has no \"\(field.name)\"") }
        isOlder = true
        continue
      }
      // Older sentences did not name the class that raised the risk, and rounded in another way; today's replaces them.
      if field.name == "summary", isOlder || Self.words(given) == Self.words(expected) { continue }
      guard Self.isSame(given, expected) else {
        throw .contradiction(
          "\"\(field.name)\" is \(Self.shown(given)), and its other members make it \(Self.shown(expected))")
      }
    }
  }

  /// A text without its numbers.
  private static func words(_ value: JSONValue) -> [Unicode.Scalar] {
    value.text.unicodeScalars.filter { !("0"..."9").contains($0) }
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

  /// HAM10000's ids say what a lesion is, and so does melanoma's in any letter case.
  private static func requireKnownMalignancies(_ labels: Labels) throws(DermaFusionError) {
    for label in labels {
      let known = label.isMelanoma ? .malignant : Labels.ham10000[label.id]?.malignancy
      if let known, let malignancy = label.malignancy, malignancy != known {
        throw .contradiction("the class \(quoted(label.id)) is not \(malignancy.rawValue)")
      }
    }
  }
}

/// A result while the rows of ``ResultField/all`` read it.
struct ResultDraft {
  let labels: Labels
  var object: ConfigurationObject
  var imageName = ""
  var language = Language.english
  var imageSHA256: String?
  var model = ModelIdentity(name: "", version: "", sha256: "")
  var probabilities: ClassScores
  var isMultiLabel = false
  var logits: ClassScores
  var metadata = PatientMetadata.unknown
  var warnings: [ClassificationWarning] = []
  var warningDetails: [ClassificationWarning: String] = [:]
  var reasons: [AbstentionReason] = []
  var conformalSet: Abstention.ConformalSet?

  init(labels: Labels, object: ConfigurationObject) {
    self.labels = labels
    self.object = object
    probabilities = ClassScores([Float](repeating: 0, count: labels.count), labels: labels)
    logits = probabilities
  }

  /// Names of files are longer than those that people give.
  private static let nameLimit = 1000

  func name(_ key: String) throws(DermaFusionError) -> String {
    guard case .string(let name) = object[key],
      name.unicodeScalars.prefix(Self.nameLimit + 1).count <= Self.nameLimit
    else { throw .contradiction("its \(key) has no name of at most \(Self.nameLimit) characters") }
    return name
  }

  mutating func language(_ key: String) throws(DermaFusionError) -> Language {
    object.hasValue(key) ? try ImageRequest.language(named: object.text(key)) : .english
  }

  mutating func identity(_ key: String) throws(DermaFusionError) -> ModelIdentity {
    var model = try object.object(key)
    let identity = ModelIdentity(
      name: try model.text("name"), version: try model.text("version"), sha256: try model.text("sha256"))
    guard SHA256.isHexDigest(identity.sha256.utf8) else {
      throw .contradiction("its model's SHA-256 is malformed")
    }
    return identity
  }

  mutating func imageHash(_ key: String) throws(DermaFusionError) -> String? {
    guard object.hasValue(key) else { return nil }
    let hash = try object.text(key)
    guard SHA256.isHexDigest(hash.utf8) else { throw .contradiction("its image's SHA-256 is malformed") }
    return hash
  }

  mutating func scores(
    _ key: String, _ rule: ConfigurationObject.NumberRule
  ) throws(DermaFusionError) -> ClassScores {
    var scores = try object.object(key)
    var values: [Float] = []
    for label in labels { values.append(Float(try scores.number(label.id, rule))) }
    try scores.requireNoOtherKeys()
    return ClassScores(values, labels: labels)
  }

  mutating func patient(_ key: String) throws(DermaFusionError) -> PatientMetadata {
    var patient = try object.object(key)
    let age = patient.hasValue("age") ? try patient.number("age", .finite) : nil
    return try PatientMetadata(
      ageInYears: age, sex: ImageRequest.sex(named: patient.text("sex")),
      site: ImageRequest.site(named: patient.text("site")))
  }

  /// Reasons or warnings, each at most once.
  mutating func words<Word>(
    _ key: String
  ) throws(DermaFusionError) -> [Word] where Word: RawRepresentable<String> & CaseIterable {
    let names = try object.texts(key)
    let words = names.compactMap { Word(rawValue: $0) }
    guard words.count == names.count, Set(names).count == names.count else {
      throw .contradiction("\"\(key)\" has a word twice, or one that no version knows")
    }
    return words
  }

  /// The names of profiles are short; a file may claim anything.
  private static let detailLimit = 200

  mutating func details(_ key: String) throws(DermaFusionError) -> [ClassificationWarning: String] {
    guard object.hasValue(key) else { return [:] }
    var texts = try object.object(key)
    var details: [ClassificationWarning: String] = [:]
    for warning in warnings where texts.hasValue(warning.rawValue) {
      let detail = try texts.text(warning.rawValue)
      guard detail.unicodeScalars.prefix(Self.detailLimit + 1).count <= Self.detailLimit else {
        throw .contradiction("\"\(key)\" has a text of more than \(Self.detailLimit) characters")
      }
      details[warning] = detail
    }
    try texts.requireNoOtherKeys()
    return details
  }

  mutating func set(
    _ key: String, coverage: String
  ) throws(DermaFusionError) -> Abstention.ConformalSet? {
    guard object.hasValue(key) else { return nil }
    let ids = try object.texts(key)
    let classes = ids.compactMap { labels[$0] }
    guard classes.count == ids.count else {
      throw .contradiction("\"\(key)\" has a class that the model lacks")
    }
    return Abstention.ConformalSet(
      classes: classes, coverage: try object.numberOrNull(coverage, .probability))
  }
}

extension DermaFusionError {
  fileprivate static func contradiction(_ message: Sentence) -> DermaFusionError {
    DermaFusionError(
      .invalidRequest, message: message, remedy: "Take the result as the program or the page wrote it.")
  }
}
