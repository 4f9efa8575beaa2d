import DermaFusion

/// Classifies images, one result as soon as it is made.
package enum ClassifyCommand: Command {
  package static let name = "classify"
  package static let abstract = "Classify dermoscopy images into the seven HAM10000 classes."
  package static let discussion = """
    \(Wording.disclaimer)

    A folder stands for the images in it and in the folders below it, sorted by path: names that end in \
    \(ImageSource.imageEndings.joined(separator: ", ")), hidden ones left out. A file may hold PNG, JPEG or \
    PNM whatever its name, up to \(FileBytes.imageLimit / (1024 * 1024)) MB. An image that fails is named on \
    standard error and the others still get their results.
    """
  package static let positionals = [
    Positional(
      "image", isRepeated: true,
      abstract: "A file, a folder, or - for one image's bytes on standard input.")
  ]
  package static let options: [any Parameter] =
    MetadataOptions.all + [
      metadata, ModelLocation.option, Option<Int>.threads, ImageViews.flag, explainMetadata, format, timing,
    ]
  package static let exitStatuses: [HelpEntry] = [
    ("0", "Every image was classified."),
    ("1", "An image or the model failed; standard error names it. The other images got their results."),
    ("64", "Wrong usage."),
  ]

  private static let metadata = Option<String>.path(
    "metadata", valueName: "file.csv",
    abstract: """
      Table with the columns \(MetadataTable.columns.joined(separator: ", ")) (others are ignored; an empty \
      cell is missing). A row belongs to the image whose file name without its ending is its image_id; \
      --age, --sex and --site win over its cells.
      """)
  fileprivate static let explainMetadata = Flag(
    "explain-metadata",
    abstract: """
      Add each class's logit with the image alone, with everything, and with the age, the sex or the site left out. \
      For text and JSON.
      """)
  private static let format = OutputFormat.option(of: [.text, .json, .csv])
  private static let timing = Flag("timing", abstract: "Add the time that each image took to the output.")

  package static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
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
    let table = try arguments[metadata].map { path in
      try MetadataTable(FileBytes.read(path: path, limit: FileBytes.tableLimit), path: path)
    }
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.loadClassifier(folder, arguments[Option<Int>.threads])

    var batch = Batch(
      classifier: classifier, arguments: arguments, table: table,
      printer: ResultPrinter(
        format: arguments.value(of: format), showsTiming: arguments[timing], terminal: terminal),
      terminal: terminal)
    for argument in arguments.positionals {
      for source in batch.sources(for: argument) { try batch.classify(source) }
    }
    if let path = arguments[metadata], batch.unlistedCount > 0 {
      terminal.note("Note: \(path) has no row for \(batch.unlistedCount) of \(batch.imageCount) images.")
    }
    return batch.hasFailed ? .failure : .success
  }
}

/// The images of one command line, one after the other; a failure is reported and the next image follows.
private struct Batch {
  let classifier: Classifier
  let arguments: ParsedArguments
  let table: MetadataTable?
  var printer: ResultPrinter
  let terminal: Terminal
  var hasFailed = false
  var imageCount = 0
  /// Images for which the table has no row.
  var unlistedCount = 0

  mutating func sources(for argument: String) -> [ImageSource] {
    do throws(FileError) {
      let (sources, failures) = try ImageSource.sources(for: argument)
      for failure in failures { report("\(failure)") }
      return sources
    } catch {
      report("\(error)")
      return []
    }
  }

  /// - Throws: ``OutputError`` only: there is no use in going on when results cannot be written.
  mutating func classify(_ source: ImageSource) throws(OutputError) {
    imageCount += 1
    let entry = source.identifier.flatMap { table?[$0] }
    if entry == nil { unlistedCount += 1 }
    let result: Classification
    let timing: ClassificationTiming
    var shares: MetadataShares?
    do {
      let bytes = try source.read(terminal: terminal)
      (result, timing) = try classifier.timedClassify(
        encodedImage: bytes, metadata: MetadataOptions.metadata(arguments, entry: entry),
        views: ImageViews(arguments))
      if arguments[ClassifyCommand.explainMetadata] {
        shares = try classifier.metadataShares(ofEncodedImage: bytes, metadata: result.metadata)
      }
    } catch let error as FileError {
      return report("\(error)")
    } catch {
      return report("\(source.name): \(error)")
    }
    try printer.print(result, timing: timing, shares: shares, imageName: source.name)
  }

  private mutating func report(_ message: String) {
    terminal.report(message)
    hasFailed = true
  }
}
