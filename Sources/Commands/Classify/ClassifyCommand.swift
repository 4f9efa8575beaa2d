import SystemModule
import CommandLineSupport
import DermaFusion
import HashModule
import ImageFiles

/// Classifies images, one result as soon as it is made.
enum ClassifyCommand: Command {
  static let name = "classify"
  static let abstract = "Classify dermoscopy images into the classes of a model."
  static let discussion = """
    \(Wording.disclaimer)

    A folder stands for the images in it and in the folders below it, sorted by path. Images are recognised by their \
    endings (\(ImageFileName.endings.joined(separator: ", "))); hidden files are left out. Links are followed, \
    but each folder is visited once. A file may hold any of the \
    formats whatever its name, up to \(ImageDecoder.fileByteLimit / (1024 * 1024)) MB. An image under 32x32 pixels is \
    refused; one under 100x100 gets a warning. An image that fails is named on \
    standard error, and the others still get their results.

    PNG, JPEG, PNM, BMP and DICOM are always read; WebP, TIFF, HEIC and AVIF where the system has libwebp, libtiff and \
    libheif, which '\(InfoCommand.name)' lists. Of an animation or several pages the first is taken. What a DICOM file \
    says of the age, the sex and the site is used where nobody gave it, and the result says so (metadata_from_file).

    The model may abstain. It then suggests no class and no risk. In JSON and CSV, abstain is true and \
    abstainReasons says why (\(AbstentionReason.allCases.map(\.rawValue).joined(separator: ", "))).

    The 90 % set (conformalSet in JSON and CSV) holds the right class for a stated share (conformalCoverage in JSON) of \
    images like those of the validation. A class outside the set is not ruled out. A model that was not fitted for it, an \
    ensemble and --tta have no set: the CSV then has an empty cell, the JSON two nulls.
    """
  static let positionals = [
    Positional(
      "image", isRepeated: true,
      abstract: "A file, a folder, or - for one image's bytes on standard input.")
  ]
  static let options: [any Parameter] =
    MetadataOptions.all + [
      MetadataOptions.table, ModelLocation.option, Option<Int>.threads, Option<Precision>.precision,
      ImageViews.flag, explainMetadata,
      format, timing, output, resume, Flag.quiet,
    ] + DecodingOptions.all
  static let examples = [
    #"dermafusion classify lesion.jpg --age 55 --sex male --site "lower extremity""#,
    "dermafusion classify photographs --metadata patients.csv --format csv",
    "dermafusion classify photographs --format json --output results.jsonl --resume",
    "cat lesion.jpg | dermafusion classify - --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every image was classified."),
    (
      "1",
      "An image, the table or the model failed; standard error names it. The other images got their results."
    ),
    ("64", "Wrong usage."),
  ]

  fileprivate static let explainMetadata = Flag(
    "explain-metadata",
    abstract: """
      Add the logit of each class for the image alone, with all metadata, and without the age, the sex or the site. \
      For text and JSON.
      """)
  private static let format = OutputFormat.option
  private static let output = Option<String>.path(
    "output", valueName: "file",
    abstract: """
      Write the results to this file instead of standard output. The file appears when it is complete and replaces an \
      existing one; with --resume it grows line by line. - is standard output.
      """)
  private static let resume = Flag(
    "resume",
    abstract: """
      Continue the file of --output: images that have a line in it are skipped, and an unfinished last line is written \
      again. For JSON and CSV. A file is refused and left unchanged where one of its results was made with another model, \
      other options or other metadata. In JSON, imageSHA256 is compared too: a result of an image that has changed since \
      is refused. CSV has no hash, so a changed image is not noticed.
      """)
  private static let timing = Flag("timing", abstract: "Add the time that each image took to the output.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    if arguments.positionals.count(where: { $0 == "-" }) > 1 { throw UsageError.repeatedStandardInput }
    if arguments[explainMetadata], arguments.value(of: format) == .csv {
      throw UsageError.invalidValue(
        "csv", display: format.display,
        expectation: "Please provide 'text' or 'json' with \(explainMetadata.display).")
    }
    if arguments[explainMetadata], arguments[ImageViews.flag] {
      throw UsageError.excludingOptions(ImageViews.flag.display, explainMetadata.display)
    }
    try refuseResume(arguments)
    let table = try MetadataOptions.readTable(arguments)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let items = arguments.positionals.flatMap(BatchItem.items)
    let outputs = try OutputFiles(
      arguments[output].map { [(output.display, $0)] } ?? [], images: items.compactMap(\.source),
      table: arguments[MetadataOptions.table].map { ("the table of metadata", $0) }, model: folder,
      terminal: terminal)
    let classifier = try session.classifier(folder, arguments)
    var destination = try Destination(
      arguments, outputs: outputs, items: items, table: table, classifier: classifier, terminal: terminal)

    let batch = Batch(
      classifier: classifier, arguments: arguments, table: table,
      limits: DecodingOptions.limits(arguments), terminal: terminal)
    var progress = Progress(
      terminal: terminal, total: destination.remaining.count, isQuiet: arguments[Flag.quiet])
    var summary = BatchSummary()
    try classifier.forEach(destination.remaining, batch.outcome(of:)) { outcome throws(OutputError) in
      switch outcome {
      case .failed(let message):
        progress.pause { terminal.report(message) }
        summary.addFailure()
        progress.advance(failed: true)
      case .classified(let result, let timing, let shares, let name):
        let print = { () throws(OutputError) in
          try destination.printer.print(result, timing: timing, shares: shares, imageName: name)
        }
        // Only what is written on the same screen needs room.
        if destination.isSeen, terminal.width != nil { try progress.pause(print) } else { try print() }
        summary.add(result)
        progress.advance()
      }
    }
    progress.clear()
    try destination.printer.finish(summary)
    try destination.finish(resultCount: summary.count)
    if items.count > 1, !(destination.isSeen && destination.printer.table != nil), !arguments[Flag.quiet] {
      terminal.noteOnScreen(summary.sentences.joined(separator: " "))
    }
    if let table, let path = arguments[MetadataOptions.table], !arguments[Flag.quiet] {
      for note in table.notes(on: items.compactMap(\.source), path: path) { terminal.note("Note: \(note)") }
    }
    return summary.failedCount > 0 ? .failure : .success
  }
}

extension ClassifyCommand {
  private static func refuseResume(_ arguments: ParsedArguments) throws(UsageError) {
    guard arguments[resume] else { return }
    if arguments[output] == nil { throw .missingCompanion(resume.display, companions: "'\(output.display)'") }
    if arguments.value(of: format) == .text {
      throw .invalidValue(
        "text", display: format.display, expectation: "Please provide 'json' or 'csv' with \(resume.display)."
      )
    }
  }

  /// Where the results go.
  fileprivate struct Destination {
    var printer: ResultPrinter
    /// Whether the results go to standard output.
    let isSeen: Bool
    /// The images that have no result yet.
    let remaining: [BatchItem]
    private let finishing: () throws(FileError) -> Void
    /// Whether the file takes the place of an older one.
    private let replaces: Bool

    init(
      _ arguments: ParsedArguments, outputs: OutputFiles, items: [BatchItem], table: MetadataTable?,
      classifier: Classifier, terminal: Terminal
    ) throws {
      let format = arguments.value(of: ClassifyCommand.format)
      let file: any ByteOutput
      var isFirst = true
      let path = outputs.usesStandardOutput ? nil : arguments[output]
      if let path, arguments[resume] {
        let continued = try ContinuedFile(path: path, limit: 1 << 31)
        let header =
          format == .csv
          ? ClassificationCSV.header(
            labels: classifier.labels, showsTiming: arguments[timing], views: ImageViews(arguments)) : nil
        let members = [ImageViews.flag, explainMetadata, timing]
        var results = try WrittenResults(
          continued.content, path: path, header: header,
          extraMembers: zip(WrittenResults.optionalMembers, members).filter { arguments[$1] }.map { $0.0 },
          model: classifier.model)
        remaining = try items.filter { item in
          guard let source = item.source else { return true }
          let metadata = try MetadataOptions.metadata(arguments, entry: table?.entry(for: source))
          // An image that cannot be read keeps its result.
          let bytes = { try? source.read(terminal: terminal) }
          return try !results.take(
            source.name, metadata: metadata,
            completed: { bytes().map { metadata.filled(from: ImageDecoder.patient($0)) } },
            imageSHA256: { bytes().map { SHA256.hexDigest($0) } })
        }
        // Only a file that is gone on with is changed.
        try continued.truncate(to: results.byteCount)
        (file, isFirst) = (continued, results.byteCount == 0)
        finishing = continued.finish
      } else if let path {
        let partial = try PartialFile(path: path)
        (file, remaining) = (partial, items)
        finishing = partial.finish
      } else {
        (file, remaining) = (terminal.output, items)
        finishing = {}
      }
      isSeen = path == nil
      replaces = path != nil && !arguments[resume]
      let isTable =
        items.count > 1 && format == .text && !arguments[timing] && !arguments[explainMetadata]
      printer = ResultPrinter(
        format: format, showsTiming: arguments[timing], output: file,
        text: ClassificationText(
          width: isSeen ? terminal.width : nil, usesColour: isSeen && terminal.usesColour),
        table: isTable
          ? BatchTable(
            names: items.compactMap { $0.source?.name }, labels: classifier.labels,
            width: isSeen ? terminal.width : nil, usesColour: isSeen && terminal.usesColour) : nil,
        isFirst: isFirst)
    }

    /// Gives a file that is whole its name. One without any result does not take the place of an older one.
    func finish(resultCount: Int) throws(FileError) {
      if !replaces || resultCount > 0 { try finishing() }
    }
  }
}

/// What becomes of each image of one command line. Several threads ask at once.
private struct Batch: Sendable {
  enum Outcome: Sendable {
    case classified(Classification, ClassificationTiming, MetadataShares?, imageName: String)
    case failed(String)
  }

  let classifier: Classifier
  let arguments: ParsedArguments
  let table: MetadataTable?
  let limits: DecodingLimits
  let terminal: Terminal

  @Sendable func outcome(of item: BatchItem) -> Outcome {
    switch item {
    case .failed(let message): return .failed(message)
    case .image(let source):
      do {
        let bytes = try source.read(terminal: terminal)
        let (result, output, timing) = try classifier.observedClassify(
          encodedImage: bytes,
          metadata: MetadataOptions.metadata(arguments, entry: table?.entry(for: source)),
          views: ImageViews(arguments), limits: limits)
        let shares =
          arguments[ClassifyCommand.explainMetadata]
          ? try classifier.metadataShares(of: output, metadata: result.metadata) : nil
        return .classified(result, timing, shares, imageName: source.name)
      } catch let error as FileError {
        return .failed("\(error)")
      } catch {
        return .failed("\(source.name): \(error)")
      }
    }
  }
}
