import DermaFusion
import Evaluation
import Files
import ImageCodecs
import ImagePipeline
import SystemModule

/// Classifies the same images with two models and shows where these differ.
enum CompareCommand: Command {
  static let name = "compare"
  static let abstract = "Compare two models on the same images."
  static let discussion = """
    \(Wording.disclaimer)

    Both models classify each image. A is the model of --model, B that of --against. The output says \
    how many images have the same likeliest class (also among those that both models answer), how many images the models \
    abstain from, and for each class the greatest change of its probability, with the image. The models must have the \
    same classes, in any order; A says which of them are malignant. Images, folders and failures are as in \
    \(ClassifyCommand.name). A file that is named twice counts once.

    With --labels, the figures of \(EvaluateCommand.name) follow for A, for B and the difference B - A. Each difference has a \
    paired 95 % interval from \(Bootstrap.resampleCount) bootstrap resamples, drawn with a fixed seed by patient, lesion or image as in \(EvaluateCommand.name): both \
    models are measured on the same resamples. If an interval excludes 0, the difference is unlikely to be chance; \
    among several figures, one may exclude 0 by chance. An image from which a model abstains counts by its likeliest class.

    When the folder of a model holds \(TrainingList.relativePath), lesions that it was trained on are refused, as in \
    \(EvaluateCommand.name): such a model would seem better than it is. Photographs that a model was trained on under other \
    names are found as there; figures without the lesions of those of either model follow.
    """
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    [ModelLocation.option, against, labels] + MetadataOptions.all + [
      MetadataOptions.table, MetadataOptions.joinPatient, CommandOption<Int>.threads,
      CommandOption<Precision>.precision, ImageViews.flag,
      OutputFormat.option,
      Flag.allowTrainingLesions, Flag.quiet,
    ] + DecodingOptions.all
  static let examples = [
    "dermafusion compare --against int8 photographs",
    "dermafusion compare --model old --against new photographs --labels test.csv",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every image was classified by both models."),
    (
      "1",
      "An image, a table or a model failed, or was refused; standard error names it. The other images were compared."
    ),
  ]

  private static let against = CommandOption<String>.path(
    "against", valueName: "folder", isRequired: true,
    abstract: "Folder or name of the model to compare with, found as that of --model.")
  private static let labels = CommandOption<String>.path(
    "labels", valueName: "file.csv",
    abstract: """
      Table with the class of each image, and lesion_id where images show the same lesion, read as by \
      \(EvaluateCommand.name). Its age, sex and site are used where --metadata and the options do not tell them. Images \
      without a row are compared, but not in the figures.
      """)

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let input = try BatchInput(arguments, terminal: terminal)
    let table = try arguments[labels].map { path in
      (path: path, bytes: try FileBytes.read(path: path, limit: MetadataTable.byteLimit))
    }
    let folders = [
      input.modelFolder, ModelLocation.folder(named: arguments.value(of: against), terminal: terminal),
    ]
    let first = try session.classifier(folders[0], arguments)
    let second = try session.classifier(folders[1], arguments)
    try refuseOtherClasses(folders, first, second)
    if table != nil { try first.requireOneLabel(folder: folders[0], Self.self) }
    let list = try table.map { path, bytes in
      try ComparedLabels(
        bytes, path: path, labels: first.labels, sources: input.images.sources,
        reading: MetadataOptions.reading(arguments))
    }
    var seen = try list.map { list in
      try SeenByModels(list.list, [(folders[0], first), (folders[1], second)])
    }
    if !arguments[Flag.allowTrainingLesions] { try seen?.refuseTrained(labels: list?.list.path ?? "") }
    var pictures: Set<PictureIdentity> = []
    let items = input.images.items.once(&pictures)
    let views = ImageViews(arguments)
    let parts = [first, second].map { ImagePart(for: $0.configuration.preprocessing) }
    let part = seen?.looks != true && parts[0] == parts[1] ? parts[0] : .whole
    // As the first model's threads do: several images are computed whole, few share them layer by layer.
    let isShared = 2 * items.count <= first.threadCount
    var images: [ModelComparison.Image] = []
    var runner = BatchRunner(terminal: terminal)
    try runner.run(items, sideBySideOn: first, interruption: "Nothing was written.") { [seen] item in
      let source = try item.get()
      return try source.naming {
        let decoded = try ImageDecoder.decode(
          source.read(terminal: terminal), frame: source.frame, part: part, limits: input.limits)
        let row = try list?.entry(of: source)
        let metadata = try input.metadata(of: source).filled(fromRow: row?.metadata)
        var request = ImageRequest(metadata: metadata, views: views)
        let answer = try Self.answer(to: request, on: decoded, of: first, as: first.labels)
        request.usesCallingThreadOnly = !isShared
        let image = ModelComparison.Image(
          name: source.name, first: answer,
          second: try Self.answer(to: request, on: decoded, of: second, as: first.labels),
          truth: row.map(ModelComparison.Truth.init))
        return (image, row.flatMap { _ in seen?.look(at: decoded.pixels) })
      }
    } consume: { (image, sightings) in
      images.append(image)
      if let lesion = image.truth?.lesion, let sightings { seen?.add(lesion, sightings) }
      return nil
    }
    input.noteTable(on: terminal)
    list?.note(
      on: terminal, sources: input.images.sources, saysColumns: arguments[MetadataOptions.table] == nil)
    guard !images.isEmpty else { return .failure }
    let overlaps = seen?.overlaps
    let output = ComparisonOutput(
      comparison: ModelComparison(images) { lesion in overlaps?.contains { $0.isSeen(lesion) } ?? false },
      listedCount: items.count - input.images.failedFolderCount, views: views,
      models: zip(folders, [first, second]).map { (folder: $0, identity: $1.model) }, overlaps: overlaps)
    try terminal.write(output, as: arguments.value(of: OutputFormat.option))
    return runner.status
  }

  private static func answer(
    to request: ImageRequest, on image: DecodedImage, of classifier: Classifier, as labels: Labels
  ) throws(DermaFusionError) -> ModelComparison.Answer {
    let result = try classifier.run(request) { () throws(DermaFusionError) in image }.classification
    return ModelComparison.Answer(
      probabilities: result.probabilities.ordered(as: labels)!, abstains: result.abstains)
  }

  private static func refuseOtherClasses(
    _ folders: [String], _ first: Classifier, _ second: Classifier
  ) throws(DermaFusionError) {
    let only = [
      first.labels.ids.filter { second.labels[$0] == nil },
      second.labels.ids.filter { first.labels[$0] == nil },
    ]
    if !only.allSatisfy(\.isEmpty) {
      let differences = zip(folders, only).filter { !$1.isEmpty }.map {
        "only '\($0)' has \($1.quotedList)"
      }
      throw .failure(
        name: "the models have different classes", reason: Sentence(differences.joined(separator: ", ")))
    }
    if first.isMultiLabel != second.isMultiLabel {
      throw .failure(
        name: folders[first.isMultiLabel ? 0 : 1],
        reason:
          "several of its classes may be right at once (a multi-label head), and of the other model's one is: their probabilities mean different things"
      )
    }
  }
}

/// The images of a list that each of two models has seen.
private struct SeenByModels {
  private let named: [TrainingOverlap]
  private let sights: [ModelSight?]
  private var photographs: [[(lesion: String, sighting: ModelSight.Sighting?)]] = [[], []]

  init(_ list: TestList, _ models: [(folder: String, classifier: Classifier)]) throws(DermaFusionError) {
    named = try models.map { (folder, classifier) throws(DermaFusionError) in
      try TrainingOverlap(list, model: folder, members: classifier.members.map(\.folder))
    }
    sights = try models.map { (folder, _) throws(DermaFusionError) in try ModelSight(ofModel: folder) }
  }

  func refuseTrained(labels: String) throws(DermaFusionError) {
    for overlap in named { try overlap.refuseTrained(labels: labels) }
  }

  /// True if a model has fingerprints.
  var looks: Bool { sights.contains { $0 != nil } }

  /// The findings of each model's fingerprints on a photograph.
  func look(at image: PixelImage) -> [ModelSight.Sighting?] { sights.map { $0?.look(at: image) } }

  mutating func add(_ lesion: String, _ sightings: [ModelSight.Sighting?]) {
    for (place, sighting) in sightings.enumerated() { photographs[place].append((lesion, sighting)) }
  }

  var overlaps: [TrainingOverlap] {
    zip(named, photographs).map { overlap, photographs in
      var overlap = overlap
      overlap.add(photographs)
      return overlap
    }
  }
}

extension ModelComparison.Truth {
  fileprivate init(_ row: TestList.Entry) {
    self.init(label: row.label, lesion: row.lesion, unit: row.unit, weights: row.weights)
  }
}

/// The rows of a table of labels that belong to images of a command line.
struct ComparedLabels: Sendable {
  let list: TestList
  /// The rows of the images on the command line, by ``Swift/String/imageKey`` of their paths; a failure is that of a row
  /// with a cell that cannot be understood, or of one that could be another image's.
  private let rows: [[UInt8]: Result<TestList.Entry, DermaFusionError>]

  /// - Parameter reading: the rules by which the cells about patients are read.
  init(
    _ bytes: [UInt8], path: String, labels: Labels, sources: [ImageSource], reading: PatientReading
  ) throws {
    list = try TestList(
      bytes, path: path, labels: labels, images: sources, reading: reading)
    var entries: [Int: Result<TestList.Entry, DermaFusionError>] = [:]
    for entry in list.entries { entries[entry.row] = .success(entry) }
    for row in list.failedRows { entries[row.row] = .failure(row.error) }
    var rows: [[UInt8]: Result<TestList.Entry, DermaFusionError>] = [:]
    for (source, outcome) in zip(sources, list.matches.outcomes) {
      switch outcome {
      case .row(let row): rows[source.name.imageKey] = entries[row]
      case .refused(let reason): rows[source.name.imageKey] = .failure(.failure(name: path, reason: reason))
      case .none: break
      }
    }
    self.rows = rows
    if list.entries.isEmpty {
      for case .failure(let error)? in sources.map({ rows[$0.name.imageKey] }) { throw error }
      throw DermaFusionError.failure(
        name: path,
        reason: "no row with one of the models' classes is that of one of the \(sources.count) images")
    }
  }

  /// The row of an image; `nil` when there is none.
  ///
  /// - Throws: ``DermaFusionError`` for the cell that cannot be understood, or where the row could be another image's.
  func entry(of source: ImageSource) throws(DermaFusionError) -> TestList.Entry? {
    try rows[source.name.imageKey]?.get()
  }

  /// Notes what the table says too little of, and images without a label.
  ///
  /// - Parameter saysColumns: whether to name columns of the patient's data that are missing.
  func note(on terminal: Terminal, sources: [ImageSource], saysColumns: Bool) {
    var notes = saysColumns ? list.notes : list.textNotes
    notes += list.matches.notes(table: list.path)
    let unlabelled = sources.filter { rows[$0.name.imageKey] == nil }
    if let first = unlabelled.first {
      notes.append(
        """
        \(list.path) has no row with one of the models' classes for \(unlabelled.count) of \(sources.count) images, the first \
        of them \(first.name).
        """)
    }
    for note in notes { terminal.remark("\(note)") }
  }
}
