import DermaFusion
import Files
import ImageCodecs
import ImageFiles
import SystemModule

/// Classifies images, one result as soon as it is made.
enum ClassifyCommand: Command {
  static let name = "classify"
  static let abstract = "Classify dermoscopy images into the classes of a model."
  static let discussion = """
    \(Wording.disclaimer)

    A folder stands for the images in it and in the folders below it, sorted by path. Images are recognised by their \
    endings (\(ImageFileName.endings.joined(separator: ", "))), files with another ending or without one by their first \
    bytes. Images that cannot be read are counted; hidden files are left out. Links are followed, \
    but each folder is visited once. A file may hold any of the \
    formats whatever its name, up to \(ImageDecoder.fileByteLimit / (1024 * 1024)) MB. An image under 32x32 pixels is \
    refused; one under 100x100 gets a warning. An image that fails is named on \
    standard error, and the others still get their results.

    PNG, JPEG, PNM, BMP and DICOM are always read; WebP, TIFF, HEIC and AVIF where the system has libwebp, libtiff and \
    libheif, which '\(InfoCommand.name)' lists; JPEG 2000 in DICOM where it has libopenjp2. Each frame of a DICOM file is an image \
    of its own, FILE#N, and FILE#2 names one of them. Of an animation the first picture is taken, of several pages the first that is not marked as a \
    reduced image, and a warning says how many there are. Raw photographs of cameras are refused. What a DICOM file \
    says of the age, the sex and the site is used where nobody gave it, and the result says so (metadata_from_file).

    The model may abstain. It then suggests no class and no risk. In JSON and CSV, abstain is true and \
    abstainReasons says why (\(AbstentionReason.allCases.map(\.rawValue).joined(separator: ", "))).

    The 90 % set (conformalSet in JSON and CSV) holds the right class for a stated share (conformalCoverage in JSON) of \
    images like those of the validation. A class outside the set is not ruled out. A model that was not fitted for it, an \
    ensemble and --tta have no set: the CSV then has an empty cell, the JSON two nulls. Beside a set, conformalCoverage is \
    null if the threshold of a class was fitted to too few images.
    """
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    MetadataOptions.all + [
      MetadataOptions.table, MetadataOptions.joinPatient, ModelLocation.option, CommandOption<Int>.threads,
      CommandOption<Precision>.precision,
      ImageViews.flag,
    ] + ClassifyOptions.all + [Flag.quiet] + DecodingOptions.all
  static let examples = [
    #"dermafusion classify lesion.jpg --age 55 --sex male --site "lower extremity""#,
    "dermafusion classify photographs --metadata patients.csv --format csv",
    "dermafusion classify photographs --format isic --output submission.csv",
    "dermafusion classify photographs --format json --output results.jsonl --resume",
    "cat lesion.jpg | dermafusion classify - --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every image was classified."),
    (
      "1",
      "An image, the table or the model failed; standard error names it. The other images got their results."
    ),
  ]

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    try refuseCombinations(arguments)
    let isByLesion = arguments.value(of: AnswerUnit.option) == .lesion
    let input = try BatchInput(arguments, terminal: terminal, needsLesions: isByLesion)
    let outputs = try input.outputs(
      arguments[ClassifyOptions.output].map { [(ClassifyOptions.output.display, $0)] } ?? [],
      terminal: terminal)
    let classifier = try session.classifier(input.modelFolder, arguments)
    input.noteModel(classifier, on: terminal)
    let submission = try ISICSubmission(arguments, images: input.images.sources, classifier: classifier)
    if let note = submission?.note { terminal.remark("\(note)") }
    var destination = try ResultDestination(
      arguments, outputs: outputs, input: input, classifier: classifier, submission: submission,
      terminal: terminal)

    var runner = BatchRunner(terminal: terminal)
    let views = ImageViews(arguments)
    let text = destination.writer.text
    let includesTiming = arguments[ClassifyOptions.timing]
    let explains = arguments[ClassifyOptions.explainMetadata]
    let language = arguments.value(of: CommandOption<Language>.language)
    var (unfamiliar, notDermoscopic) = (0, 0)
    var lesions = isByLesion ? LesionAnswers(input, classifier.temperature) : nil
    do {
      try runner.run(
        lesions?.items ?? destination.remaining, sideBySideOn: classifier,
        writesOnScreen: destination.isSeen && terminal.width != nil, interruption: destination.interruption
      ) { item in
        let source = try item.get()
        return try source.naming {
          let bytes = try source.read(terminal: terminal)
          var request = ImageRequest(
            metadata: try input.metadata(of: source), views: views, frame: source.frame)
          request.imageName = source.name
          request.language = language
          request.includesTiming = includesTiming
          request.includesMetadataShares = explains
          let answer = try classifier.run(request, onFile: bytes, limits: input.limits)
          // The answer holds the pixels, which must not wait for their turn.
          return (
            text: isByLesion ? "" : text(answer), name: source.name, classification: answer.classification,
            isUnfamiliar: classifier.isUnfamiliar(answer)
          )
        }
      } consume: { result in
        if !isByLesion { try destination.writer.write(result.text) }
        lesions?.add(result.name, result.classification)
        if result.classification.abstention.reasons.contains(.notDermoscopic) {
          notDermoscopic += 1
        } else if result.isUnfamiliar {
          unfamiliar += 1
        }
        return result.classification
      }
    } catch let error as DermaFusionError where error.code == .closedOutput && runner.status != .success {
      // A reader that has gone, such as head, has what it wanted; a failure before that stays one.
      return runner.status
    }
    let summary = try lesions?.write(
      to: &destination, failedCount: runner.summary.failedCount, terminal: terminal)
    try destination.finish(summary ?? runner.summary)
    if !destination.hasSummary, !destination.remaining.isEmpty {
      runner.showSummary(ofImages: input.images.items.count, summary)
    }
    input.noteNotDermoscopic(notDermoscopic, of: runner.summary.count, on: terminal)
    input.noteUnfamiliar(unfamiliar, of: runner.summary.count, on: terminal)
    input.noteTable(on: terminal)
    return runner.status
  }

  private static func refuseByLesion(_ arguments: ParsedArguments) throws(DermaFusionError) {
    guard arguments.value(of: AnswerUnit.option) == .lesion else { return }
    if arguments[MetadataOptions.table] == nil {
      throw .missingCompanion("--by lesion", companions: "'\(MetadataOptions.table.display)'")
    }
    for flag in [ClassifyOptions.explainMetadata, ClassifyOptions.timing, ClassifyOptions.resume]
    where arguments[flag] { throw .excludingOptions("--by lesion", flag.display) }
    if arguments.value(of: CommandOption<Language>.language) != .english {
      throw .usage("'--by lesion' writes English only, so '--language' cannot be given with it.")
    }
  }

  private static func refuseCombinations(_ arguments: ParsedArguments) throws(DermaFusionError) {
    try refuseByLesion(arguments)
    let form = arguments.value(of: ClassifyOptions.format)
    func require(_ forms: [OutputFormat], for flag: Flag) throws(DermaFusionError) {
      guard arguments[flag], !forms.contains(form) else { return }
      throw .invalidValue(
        form.rawValue, display: ClassifyOptions.format.display,
        expectation: "Please provide \(forms.map(\.rawValue).quotedAlternatives) with \(flag.display).")
    }
    try require([.text, .json], for: ClassifyOptions.explainMetadata)
    try require([.text, .json, .csv], for: ClassifyOptions.timing)
    if arguments[ClassifyOptions.explainMetadata], arguments[ImageViews.flag] {
      throw .excludingOptions(ImageViews.flag.display, ClassifyOptions.explainMetadata.display)
    }
    guard arguments[ClassifyOptions.resume] else { return }
    if [nil, "-"].contains(arguments[ClassifyOptions.output]) {
      throw .missingCompanion(
        ClassifyOptions.resume.display, companions: "'\(ClassifyOptions.output.display)'")
    }
    try require([.json, .csv], for: ClassifyOptions.resume)
  }
}

/// The options of `classify` alone.
enum ClassifyOptions {
  static let all: [any AnyCommandOption] = [
    AnswerUnit.option, explainMetadata, format, CommandOption<Language>.language, ISICSubmission.mapping,
    timing,
    output, resume,
  ]

  static let explainMetadata = Flag(
    "explain-metadata",
    abstract: """
      Add the logit of each class for the image alone, with all metadata, and without the age, the sex or the site. \
      For text and JSON.
      """)
  static let format = OutputFormat.tableOption
  static let output = CommandOption<String>.path(
    "output", valueName: "file",
    abstract: """
      Write the results to this file instead of standard output. The file appears when it is complete and replaces an \
      existing one; with --resume it grows line by line. - is standard output.
      """)
  static let resume = Flag(
    "resume",
    abstract: """
      Continue the file of --output: images that have a line in it are skipped, and an unfinished last line is written \
      again. For JSON and CSV. A file is refused and left unchanged where one of its results was made with another model, \
      other options or other metadata. In JSON, imageSHA256 is compared too: a result of an image that has changed since \
      is refused. CSV has no hash, so a changed image is not noticed.
      """)
  static let timing = Flag("timing", abstract: "Add the time that each image took to the output.")

  /// The options of a command line that add fields to each result.
  static func results(_ arguments: ParsedArguments) -> ResultOptions {
    let flags: [(Flag, ResultOptions)] = [
      (ImageViews.flag, .views), (explainMetadata, .metadataShares), (timing, .timing),
    ]
    let isTranslated = arguments.value(of: CommandOption<Language>.language) != .english
    return ResultOptions(flags.filter { arguments[$0.0] }.map { $0.1 } + (isTranslated ? [.language] : []))
  }
}

/// The destination of the results of `classify`.
struct ResultDestination {
  /// True if the results go to standard output.
  let isSeen: Bool
  /// The images that have no result yet.
  let remaining: [Result<ImageSource, DermaFusionError>]
  /// The message after Ctrl-C.
  let interruption: String
  var writer: ResultWriter<ImageAnswer>
  let form: AnswerForm
  /// True if the output ends with a summary of its own on the screen.
  var hasSummary: Bool { isSeen && form.isTable }
  private let finishing: () throws(DermaFusionError) -> Void
  /// True if the file takes the place of an older one.
  private let replaces: Bool

  init(
    _ arguments: ParsedArguments, outputs: OutputFiles, input: BatchInput, classifier: Classifier,
    submission: ISICSubmission?, terminal: Terminal
  ) throws {
    let format = arguments.value(of: ClassifyOptions.format)
    let items = input.images.items
    let language = arguments.value(of: CommandOption<Language>.language)
    let options = ClassifyOptions.results(arguments)
    let path = outputs.usesStandardOutput ? nil : arguments[ClassifyOptions.output]
    let file: any ByteOutput
    var isFirst = true
    if let path, arguments[ClassifyOptions.resume] {
      let continued = try ContinuedFile(path: path, limit: 1 << 31)
      var results = try WrittenResults(
        continued.content, path: path,
        form: format == .csv
          ? .csv(header: ClassificationCSV(labels: classifier.labels, options: options).header)
          : .json(options),
        images: input.images.sources.map(\.name), model: classifier.model,
        computation: classifier.computation, language: language)
      remaining = try items.filter { item in
        guard let source = try? item.get(), let metadata = try? input.metadata(of: source) else {
          return true
        }
        // An image that cannot be read keeps its result.
        let bytes = { try? source.read(terminal: terminal) }
        return try !results.take(
          source.name, metadata: metadata,
          completed: { bytes().map { metadata.filled(from: ImageDecoder.patient($0)) } },
          imageSHA256: { bytes().map { SHA256.hexDigest($0) } })
      }
      // Only a file that is continued is changed.
      try continued.truncate(to: results.byteCount)
      (file, isFirst) = (continued, results.byteCount == 0)
      finishing = continued.finish
      interruption = "\(path) keeps the results made so far; the same command continues it."
      if results.count > 0 {
        let done = "\(items.count - remaining.count) of \(input.images.count) images have a result in \(path)"
        terminal.noteOnScreen(remaining.isEmpty ? "\(done): nothing left to do." : "\(done).")
      }
    } else if let path {
      let partial = try PartialFile(path: path)
      (file, remaining) = (partial, items)
      finishing = partial.finish
      interruption =
        "\(path) was not written; with --resume (and --format json or csv) an interrupted batch can be continued."
    } else {
      (file, remaining) = (terminal.output, items)
      finishing = {}
      interruption = "With --output and --resume (and --format json or csv) a batch can be continued."
    }
    isSeen = path == nil
    replaces = path != nil && !arguments[ClassifyOptions.resume]
    form = AnswerForm(
      format: format, labels: classifier.labels, options: options, width: isSeen ? terminal.width : nil,
      usesColour: isSeen && terminal.usesColour,
      isTable: items.count > 1 && format == .text && !arguments[ClassifyOptions.timing]
        && !arguments[ClassifyOptions.explainMetadata],
      submission: submission, language: language)
    writer = form.writer(to: file, names: input.images.sources.map(\.name))
    writer.isFirst = isFirst
  }

  /// Ends the output. A file that is whole is given its name; one without any result does not take the place of an older one.
  func finish(_ summary: BatchSummary) throws {
    try writer.finish(summary)
    if !replaces || summary.count > 0 { try finishing() }
  }
}
