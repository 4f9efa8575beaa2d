import DermaFusion
import Evaluation
import Files
import SystemModule

/// The unit that gets an answer of its own.
enum AnswerUnit: String, CaseIterable, Sendable {
  case image, lesion

  static let option = CommandOption<AnswerUnit>.choice(
    "by", valueName: "unit", of: allCases, initial: .image,
    abstract: """
      What gets an answer: each image, or each lesion (lesion_id of the table). The answer for a lesion follows from the mean of \
      the logits of its images, without those from which the model abstains; it abstains if it does from all. An image without \
      a lesion_id has its own answer.
      """)
}

extension Classification {
  /// The answer for the photographs of one lesion.
  ///
  /// - Parameter results: of its photographs, at least one.
  static func combined(_ results: [Classification], _ temperature: Temperature) -> Classification {
    if results.count == 1 { return results[0] }
    let answered = results.filter { !$0.abstains }
    let counted = answered.isEmpty ? results : answered
    let first = counted[0]
    let logits = ClassScores(
      first.logits.values.indices.map { index in
        Float(counted.reduce(0) { $0 + Double($1.logits.values[index]) } / Double(counted.count))
      }, labels: first.logits.labels)
    let reasons = AbstentionReason.allCases.filter { reason in
      answered.isEmpty && results.contains { $0.abstention.reasons.contains(reason) }
    }
    var warnings: [ClassificationWarning] = []
    for warning in counted.flatMap(\.warnings) where !warnings.contains(warning) { warnings.append(warning) }
    return Classification(
      logits: logits, probabilities: temperature.probabilities(of: logits),
      isMultiLabel: first.isMultiLabel, metadata: first.metadata,
      warnings: warnings, imageSHA256: nil, model: first.model, computation: first.computation,
      // The thresholds of the sets were fitted on single photographs.
      views: first.views, abstention: Abstention(reasons: reasons, conformalSet: nil))
  }
}

/// The answers of `classify --by lesion`, in the order of each lesion's first image.
struct LesionAnswers {
  /// An image with its result.
  struct Photograph {
    let name: String
    let result: Classification
  }

  /// The answer for a lesion, or for an image whose row names none.
  struct Answer: WrittenAnswer {
    static let columns = ["lesion_id", "images"]
    /// Nil for an image without a lesion_id.
    let lesion: String?
    let photographs: [Photograph]
    let classification: Classification

    var name: String { LesionAnswers.name(lesion, photographs.map(\.name)) }

    /// The classes and risks of the photographs; nil where they are the same.
    var disagreement: String? {
      let answers = photographs.compactMap { photograph in
        photograph.result.answer.map { (photograph.name, $0) }
      }
      guard let first = answers.first,
        answers.contains(where: { $0.1.prediction != first.1.prediction || $0.1.risk != first.1.risk })
      else { return nil }
      let words = answers.map { name, answer in
        "\(name) \(answer.prediction.id)\(answer.risk.map { " (\($0.rawValue) risk)" } ?? "")"
      }
      return "\(name): its images have different classes or risks: \(words.joined(separator: ", "))"
    }

    private var imageIdentifiers: [String] { photographs.map { ClassificationCSV.identifier($0.name) } }
    var identifier: String { lesion ?? imageIdentifiers[0] }
    var cells: [String] { [lesion ?? "", imageIdentifiers.joined(separator: " ")] }
    var remarks: [String] { disagreement == nil ? [] : ["images disagree"] }
    var reported: ReportedResult { ReportedResult(classification, imageName: photographs[0].name) }

    var json: JSONValue {
      let images = photographs.map { photograph -> JSONValue in
        .object([
          "image": .string(photograph.name),
          "imageSHA256": photograph.result.imageSHA256.map { .string($0) } ?? .null,
          "class": photograph.result.prediction.map { .string($0.id) } ?? .null,
          "risk": photograph.result.risk.map { .string($0.rawValue) } ?? .null,
        ])
      }
      let own = [
        (key: "lesion", value: lesion.map { JSONValue.string($0) } ?? .null),
        (key: "images", value: .array(images)),
      ]
      let members = classification.members(imageName: "").filter {
        !["image", "imageSHA256"].contains($0.key)
      }
      return .object(Array(members.prefix(1)) + own + Array(members.dropFirst()))
    }
  }

  /// A picture of a lesion.
  private struct Counted: Hashable {
    let key: [UInt8]
    let picture: PictureIdentity
  }

  private var order: [[UInt8]] = []
  private var photographs: [[UInt8]: [Photograph]] = [:]
  private let lesions: [[UInt8]: String]
  /// The items of the input, without a file that was named before with the same lesion.
  let items: [Result<ImageSource, DermaFusionError>]
  private let temperature: Temperature
  /// Words for the table of text, one for each answer.
  let names: [String]

  init(_ input: BatchInput, _ temperature: Temperature) {
    let sources = input.images.sources
    var lesions: [[UInt8]: String] = [:]
    for source in sources { lesions[source.name.imageKey] = input.lesion(of: source) }
    var counted: Set<Counted> = []
    items = input.images.items.filter { item in
      guard let source = try? item.get(), let picture = source.picture else { return true }
      return counted.insert(Counted(key: Self.key(source.name, lesions), picture: picture)).inserted
    }
    self.lesions = lesions
    self.temperature = temperature
    let once = items.compactMap { try? $0.get().name }
    let grouped = Dictionary(grouping: once) { Self.key($0, lesions) }
    names = grouped.values.map { Self.name(lesions[$0[0].imageKey], $0) }
  }

  /// A lesion and an image may have the same name.
  private static func key(_ image: String, _ lesions: [[UInt8]: String]) -> [UInt8] {
    lesions[image.imageKey].map { [0] + $0.imageKey } ?? image.imageKey
  }

  private static func name(_ lesion: String?, _ images: [String]) -> String {
    guard let lesion else { return images[0] }
    return "\(lesion), \(images.count) \(images.count == 1 ? "image" : "images")"
  }

  mutating func add(_ name: String, _ result: Classification) {
    let key = Self.key(name, lesions)
    if photographs[key] == nil { order.append(key) }
    photographs[key, default: []].append(Photograph(name: name, result: result))
  }

  var answers: [Answer] {
    order.compactMap { photographs[$0] }.map { photographs in
      Answer(
        lesion: lesions[photographs[0].name.imageKey], photographs: photographs,
        classification: .combined(photographs.map(\.result), temperature))
    }
  }

  /// Writes the answers, and notes on lesions whose images disagree.
  ///
  /// - Parameter failedCount: images that failed.
  /// - Returns: the counts of the answers.
  func write(
    to destination: inout ResultDestination, failedCount: Int, terminal: Terminal
  ) throws -> BatchSummary {
    let writer: ResultWriter<Answer> = destination.form.writer(to: destination.writer.output, names: names)
    (destination.writer.header, destination.writer.separator) = (writer.header, writer.separator)
    var summary = BatchSummary()
    summary.unit = "lesion"
    summary.failedCount = failedCount
    let answers = answers
    for answer in answers {
      try destination.writer.write(writer.text(answer))
      summary.add(answer.classification)
    }
    let notes = answers.compactMap(\.disagreement)
    for note in notes.prefix(TestList.namedCount) { terminal.remark("\(note).") }
    if notes.count > TestList.namedCount {
      terminal.remark(
        "the images of \(notes.count - TestList.namedCount) more lesions have different classes or risks."
      )
    }
    return summary
  }
}
