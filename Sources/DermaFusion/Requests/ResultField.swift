import Files
import ImagePipeline
import SystemModule

/// One field of a result in JSON, with its schema, its columns in CSV, and how it is read back from a file. A new field is a row
/// of ``all``, and a line of OUTPUT.md.
package struct ResultField: Sendable {
  package enum Presence: Sendable, Equatable {
    case always
    /// Only in results that have something to say in it.
    case sometimes
    /// In each result of a command with this option, and in no other.
    case asked(ResultOptions)
  }

  /// The check of a result that is read back.
  enum Check: Sendable {
    case nothing
    /// Against the value that follows from the other fields.
    case follows
    /// The same; results of older versions lack the field.
    case followsToday
    /// Nothing is compared: the field is made anew.
    case madeAnew
  }

  package typealias Value = @Sendable (ReportedResult) -> JSONValue?
  typealias Reading = @Sendable (inout ResultDraft) throws(DermaFusionError) -> Void

  package let name: String
  /// The JSON Schema of its value, or the name of one in `common.json`.
  package let schema: String
  package let presence: Presence
  /// True if `gradcam` tells it too.
  package let isOfMaps: Bool
  package let columns: [Column]
  /// Nil for a result without the field.
  package let value: Value
  let check: Check
  /// Nil for a field that follows from the others, or that an imported result does not keep.
  let read: Reading?

  private init(
    _ name: String, _ schema: String, _ presence: Presence = .always, isOfMaps: Bool = true,
    columns: [Column] = [], check: Check = .nothing, read: Reading? = nil, value: @escaping Value
  ) {
    self.name = name
    self.schema = schema
    self.presence = presence
    self.isOfMaps = isOfMaps
    self.columns = columns
    self.value = value
    self.check = check
    self.read = read
  }

  /// True for a field that results may have with these options.
  package func isPresent(with options: ResultOptions) -> Bool {
    if case .asked(let option) = presence { options.contains(option) } else { true }
  }

  package struct Column: Sendable {
    /// The sections of a row, in order; within each, columns stand in the order of ``ResultField/all``.
    package enum Section: Sendable, CaseIterable {
      case image, prediction, classes, findings, model, timing, views, words, later
    }

    package let name: String
    package let section: Section
    /// The member of the field's value that it shows; nil: all of it.
    package var member: String?
    /// Its text, if it is not the field's value.
    package var text: (@Sendable (ReportedResult) -> String)?

    fileprivate init(
      _ name: String, _ section: Section, member: String? = nil,
      text: (@Sendable (ReportedResult) -> String)? = nil
    ) {
      self.name = name
      self.section = section
      self.member = member
      self.text = text
    }
  }
}

/// The options that add fields to each result of a command.
package struct ResultOptions: OptionSet, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let views = ResultOptions(rawValue: 1)
  package static let metadataShares = ResultOptions(rawValue: 2)
  package static let timing = ResultOptions(rawValue: 4)
  /// Another language than English.
  package static let language = ResultOptions(rawValue: 8)
  package static let summaries = ResultOptions(rawValue: 16)
}

/// A result, and what its JSON tells besides.
package struct ReportedResult: Sendable {
  package let classification: Classification
  /// The reader's name for the image, a path for instance.
  package let imageName: String
  package let language: Language
  /// Shares of the same image and metadata; nil: not told.
  package var shares: MetadataShares?
  /// Nil: not told.
  package var timing: ClassificationTiming?
  /// True if the summary is told in every language.
  let hasSummaries: Bool

  package init(
    _ classification: Classification, imageName: String, language: Language = .english,
    shares: MetadataShares? = nil, timing: ClassificationTiming? = nil, hasSummaries: Bool = false
  ) {
    self.classification = classification
    self.imageName = imageName
    self.language = language
    self.hasSummaries = hasSummaries
    self.shares = shares
    self.timing = timing
  }

  /// Its JSON. Tables, C and the page take what a result says from here.
  package var members: [(key: String, value: JSONValue)] {
    ResultField.all.compactMap { field in field.value(self).map { (key: field.name, value: $0) } }
  }

  /// The image's name as tables know it.
  package var imageIdentifier: String { imageName.imageIdentifier ?? imageName }
}

extension ResultField {
  /// In the order of JSON.
  package static let all: [ResultField] = [
    ResultField("schemaVersion", "schemaVersion", check: .follows) { _ in
      .integer(Classification.schemaVersion)
    },
    ResultField(
      "image", #"{ "type": "string" }"#,
      columns: [Column("image_id", .image, text: { $0.imageIdentifier }), Column("image", .image)],
      read: { draft throws(DermaFusionError) in draft.imageName = try draft.name("image") },
      value: { .string($0.imageName) }),
    ResultField(
      "imageSHA256", "hash",
      read: { draft throws(DermaFusionError) in draft.imageSHA256 = try draft.imageHash("imageSHA256") },
      value: { $0.classification.imageSHA256.map(JSONValue.string) ?? .null }),
    ResultField(
      "model", "model",
      columns: [
        Column("model", .model, member: "name"), Column("modelVersion", .model, member: "version"),
        Column("modelSHA256", .model, member: "sha256"),
      ],
      read: { draft throws(DermaFusionError) in draft.model = try draft.identity("model") },
      value: { $0.classification.model.json }),
    ResultField(
      "prediction",
      #"""
      { "type": ["object", "null"], "required": ["class", "name", "probability"], "properties": { "class": { "type": "string" }, \#
      "name": { "type": "string" }, "probability": { "$ref": "common.json#/$defs/probability" } } }
      """#, isOfMaps: false,
      columns: ["class", "name", "probability"].map { Column($0, .prediction, member: $0) }, check: .follows,
      value: { $0.classification.answer.map { $0.json } ?? .null }),
    ResultField(
      "probabilities",
      #"""
      { "allOf": [{ "$ref": "common.json#/$defs/scores" }], "additionalProperties": { "$ref": "common.json#/$defs/probability" } }
      """#, isOfMaps: false,
      read: { draft throws(DermaFusionError) in
        draft.probabilities = try draft.scores("probabilities", .probability)
      }, value: { $0.classification.probabilities.json }),
    ResultField(
      "multiLabel", #"{ "const": true }"#, .sometimes,
      read: { draft in draft.isMultiLabel = draft.object["multiLabel"] == .bool(true) },
      value: { $0.classification.isMultiLabel ? .bool(true) : nil }),
    ResultField(
      "logits", "scores", isOfMaps: false,
      read: { draft throws(DermaFusionError) in draft.logits = try draft.scores("logits", .finite) },
      value: { $0.classification.logits.json }),
    ResultField(
      "risk", #"{ "enum": ["low", "moderate", "high", null] }"#, columns: [Column("risk", .findings)],
      check: .follows, value: { $0.classification.risk.map { .string($0.rawValue) } ?? .null }),
    ResultField(
      "concern", #"{ "type": ["string", "null"] }"#, columns: [Column("concern", .findings)],
      check: .followsToday, value: { $0.classification.answer?.concern.map { .string($0.id) } ?? .null }),
    ResultField(
      "urgent", #"{ "type": "boolean" }"#, columns: [Column("urgent", .findings)], check: .followsToday,
      value: { .bool($0.classification.isUrgent) }),
    ResultField(
      "confidence", #"{ "enum": ["normal", "low"] }"#, isOfMaps: false,
      columns: [Column("confidence", .findings)], check: .follows,
      value: { .string($0.classification.confidence.rawValue) }),
    ResultField(
      "metadata", "metadata",
      columns: ["age", "sex", "site", "missing"].map { Column($0, .findings, member: $0) }, check: .follows,
      read: { draft throws(DermaFusionError) in draft.metadata = try draft.patient("metadata") },
      value: { $0.classification.metadata.json }),
    ResultField(
      "warnings", "names", columns: [Column("warnings", .findings)],
      read: { draft throws(DermaFusionError) in draft.warnings = try draft.words("warnings") },
      value: { .strings($0.classification.warnings.map { $0.rawValue }) }),
    ResultField(
      "warningDetails",
      #"""
      { "type": "object", "properties": { "several_pictures": { "type": "string", "pattern": "^[0-9]+\\+?$" }, \#
      "color_profile": { "type": "string", "minLength": 1 } }, "additionalProperties": false, "minProperties": 1 }
      """#, .sometimes,
      read: { draft throws(DermaFusionError) in draft.warningDetails = try draft.details("warningDetails") },
      value: { $0.classification.warningDetailsJSON }),
    ResultField(
      "views", #"{ "const": 8 }"#, .asked(.views), isOfMaps: false, columns: [Column("views", .views)],
      value: { $0.classification.views == .upright ? nil : .integer($0.classification.views.count) }),
    ResultField(
      "abstain", #"{ "type": "boolean" }"#, columns: [Column("abstain", .later)], check: .follows,
      value: { .bool($0.classification.abstains) }),
    ResultField(
      "abstainReasons", "names", columns: [Column("abstainReasons", .later)],
      read: { draft throws(DermaFusionError) in draft.reasons = try draft.words("abstainReasons") },
      value: { .strings($0.classification.abstention.reasons.map { $0.rawValue }) }),
    ResultField(
      "conformalSet", #"{ "type": ["array", "null"], "items": { "type": "string" }, "minItems": 1 }"#,
      columns: [Column("conformalSet", .later)], check: .follows,
      read: { draft throws(DermaFusionError) in
        draft.conformalSet = try draft.set("conformalSet", coverage: "conformalCoverage")
      },
      // If the model abstains, a set of classes would suggest one.
      value: { $0.classification.answer?.conformalSet.map { .strings($0.classes.map { $0.id }) } ?? .null }),
    ResultField(
      "conformalCoverage", "share", check: .follows,
      value: { $0.classification.answer?.conformalSet?.coverage.map { .number($0) } ?? .null }),
    ResultField(
      "instructionSet", #"{ "type": ["string", "null"] }"#, isOfMaps: false,
      columns: [Column("instructionSet", .later)],
      value: { $0.classification.computation.instructionSet.map(JSONValue.string) ?? .null }),
    ResultField(
      "precision", #"{ "enum": ["float32", "bfloat16", "int8"] }"#, isOfMaps: false,
      columns: [Column("precision", .later)],
      value: { $0.classification.computation.precision.map(JSONValue.string) ?? .null }),
    ResultField(
      "metadataShares",
      #"""
      { "type": "object", "required": ["imageAlone", "everything", "withoutAge", "withoutSex", "withoutSite"], \#
      "additionalProperties": { "$ref": "common.json#/$defs/scores" } }
      """#, .asked(.metadataShares), isOfMaps: false, value: { $0.shares?.json }),
    ResultField(
      "timing",
      """
      { "type": "object", "required": ["decodeMs", "preprocessMs", "networkMs"], \
      "additionalProperties": { "type": "number", "minimum": 0 } }
      """, .asked(.timing), isOfMaps: false,
      columns: [
        Column("milliseconds", .timing, text: { $0.timing?.totalMilliseconds.fixed(digits: 2) ?? "" })
      ], value: { $0.timing?.json }),
    ResultField(
      "summary", #"{ "type": "string" }"#, columns: [Column("summary", .words)], check: .follows,
      value: { .string($0.classification.summary(in: $0.language)) }),
    ResultField(
      "disclaimer", "disclaimer", columns: [Column("disclaimer", .words)], check: .follows,
      value: { .string($0.classification.disclaimer) }),
    ResultField(
      "language",
      "{ \"enum\": [\(Language.allCases.dropFirst().map { "\"\($0.rawValue)\"" }.joined(separator: ", "))] }",
      .asked(.language), columns: [Column("language", .later)],
      read: { draft throws(DermaFusionError) in draft.language = try draft.language("language") },
      value: { $0.language == .english ? nil : .string($0.language.rawValue) }),
    ResultField(
      "disclaimerTranslation", #"{ "type": "string", "minLength": 1 }"#, .asked(.language),
      columns: [Column("disclaimerTranslation", .later)], check: .follows,
      value: { $0.language.disclaimerTranslation.map(JSONValue.string) }),
    ResultField(
      "summaries", #"{ "type": "object", "additionalProperties": { "type": "string" } }"#, .asked(.summaries),
      isOfMaps: false, check: .madeAnew,
      value: { $0.hasSummaries ? $0.classification.summariesJSON : nil }),
  ]
}

extension Classification {
  fileprivate var summariesJSON: JSONValue {
    .object(Language.allCases.map { (key: $0.rawValue, value: .string(summary(in: $0))) })
  }
}
