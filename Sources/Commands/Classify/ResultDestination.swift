import DermaFusion
import Files
import ImageFiles
import SystemModule

/// Where the results of `classify` go.
struct ResultDestination {
  /// Whether the results go to standard output.
  let isSeen: Bool
  /// The images that have no result yet.
  let remaining: [BatchItem]
  /// What a person who interrupts the batch is told.
  let interruption: String
  private var printer: ResultPrinter
  private let usesColour: Bool
  private let finishing: () throws(DermaFusionError) -> Void
  /// Whether the file takes the place of an older one.
  private let replaces: Bool

  init(
    _ arguments: ParsedArguments, outputs: OutputFiles, input: BatchInput, classifier: Classifier,
    terminal: Terminal
  ) throws {
    let format = arguments.value(of: ClassifyOptions.format)
    let items = input.images.items
    let path = outputs.usesStandardOutput ? nil : arguments[ClassifyOptions.output]
    let file: any ByteOutput
    var isFirst = true
    if let path, arguments[ClassifyOptions.resume] {
      let continued = try ContinuedFile(path: path, limit: 1 << 31)
      var results = try WrittenResults(
        continued.content, path: path, form: Self.form(arguments, labels: classifier.labels),
        images: input.images.sources.map(\.name), model: classifier.model)
      remaining = try items.filter { item in
        guard let source = item.source, let metadata = try? input.metadata(of: source) else { return true }
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
      if results.count > 0, !arguments[Flag.quiet] {
        let done = "\(items.count - remaining.count) of \(items.count) images have a result in \(path)"
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
    usesColour = isSeen && terminal.usesColour
    replaces = path != nil && !arguments[ClassifyOptions.resume]
    let width = isSeen ? terminal.width : nil
    let isTable =
      items.count > 1 && format == .text && !arguments[ClassifyOptions.timing]
      && !arguments[ClassifyOptions.explainMetadata]
    printer = ResultPrinter(
      format: format, output: file, width: width,
      table: isTable
        ? BatchTable(
          names: input.images.sources.map(\.name), labels: classifier.labels, width: width,
          usesColour: usesColour) : nil,
      isFirst: isFirst)
  }

  /// What each result in a file of this command line looks like.
  private static func form(_ arguments: ParsedArguments, labels: Labels) -> WrittenResults.Form {
    if arguments.value(of: ClassifyOptions.format) == .csv {
      return .csv(
        header: ClassificationCSV.header(
          labels: labels, showsTiming: arguments[ClassifyOptions.timing], views: ImageViews(arguments)))
    }
    let flags = [ImageViews.flag, ClassifyOptions.explainMetadata, ClassifyOptions.timing]
    return .json(
      extraMembers: zip(WrittenResults.optionalMembers, flags).filter { arguments[$1] }.map { $0.0 })
  }

  /// Whether the output ends with a summary of its own on the screen.
  var hasSummary: Bool { isSeen && printer.table != nil }

  mutating func write(_ image: ClassifiedImage) throws(DermaFusionError) {
    var image = image
    image.usesColour = usesColour
    try printer.print(image)
  }

  /// Ends the output. A file that is whole is given its name; one without any result does not take the place of an older one.
  func finish(_ summary: BatchSummary) throws {
    try printer.finish(summary)
    if !replaces || summary.count > 0 { try finishing() }
  }
}
