import CommandLineSupport
import DermaFusion
import ImageFiles

/// Classifies images, one result as soon as it is made.
package enum ClassifyCommand: Command {
  package static let name = "classify"
  package static let abstract = "Classify dermoscopy images into the seven HAM10000 classes."
  package static let discussion = """
    \(Wording.disclaimer)

    A folder stands for the images in it and in the folders below it, sorted by path: names that end in \
    \(ImageFileName.endings.joined(separator: ", ")), hidden ones left out. Links are followed, \
    but each folder is visited once. A file may hold PNG, JPEG or \
    PNM whatever its name, up to \(ImageFileName.byteLimit / (1024 * 1024)) MB; under 32x32 pixels it is refused, under \
    100x100 the result has a warning. An image that fails is named on \
    standard error and the others still get their results.

    The model may abstain; do not rely on such a result. In JSON and CSV, abstain is then true and \
    abstainReasons says why (\(AbstentionReason.allCases.map(\.rawValue).joined(separator: ", "))).

    The 90 % set, conformalSet in JSON and CSV, holds the right class for a stated share of images like those of the \
    validation (conformalCoverage in JSON); a class that it leaves out is not ruled out. There is none for a model \
    that was not fitted for it, for an ensemble and with --tta: CSV then has an empty cell, JSON two nulls.
    """
  package static let positionals = [
    Positional(
      "image", isRepeated: true,
      abstract: "A file, a folder, or - for one image's bytes on standard input.")
  ]
  package static let options: [any Parameter] =
    MetadataOptions.all + [
      MetadataOptions.table, ModelLocation.option, Option<Int>.threads, ImageViews.flag, explainMetadata,
      format, timing,
    ]
  package static let examples = [
    #"dermafusion classify lesion.jpg --age 55 --sex male --site "lower extremity""#,
    "dermafusion classify photographs --metadata patients.csv --format csv",
    "cat lesion.jpg | dermafusion classify - --format json",
  ]
  package static let exitStatuses: [HelpEntry] = [
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
      Add each class's logit with the image alone, with everything, and with the age, the sex or the site left out. \
      For text and JSON.
      """)
  private static let format = OutputFormat.option
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
    let table = try MetadataOptions.readTable(arguments)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.loadClassifier(folder, arguments[Option<Int>.threads])

    let batch = Batch(classifier: classifier, arguments: arguments, table: table, terminal: terminal)
    var printer = ResultPrinter(
      format: arguments.value(of: format), showsTiming: arguments[timing], terminal: terminal)
    let items = arguments.positionals.flatMap(batch.items(for:))
    var hasFailed = false
    try classifier.forEach(items, batch.outcome(of:)) { outcome throws(OutputError) in
      switch outcome {
      case .failed(let message):
        terminal.report(message)
        hasFailed = true
      case .classified(let result, let timing, let shares, let name):
        try printer.print(result, timing: timing, shares: shares, imageName: name)
      }
    }
    if let table, let path = arguments[MetadataOptions.table] {
      for note in table.notes(on: items.compactMap(\.source), path: path) { terminal.note("Note: \(note)") }
    }
    return hasFailed ? .failure : .success
  }
}

/// What becomes of each image of one command line. Several threads ask at once.
private struct Batch: Sendable {
  /// An image, or why there is none in its place.
  enum Item: Sendable {
    case image(ImageSource)
    case failed(String)

    var source: ImageSource? {
      if case .image(let source) = self { source } else { nil }
    }
  }

  enum Outcome: Sendable {
    case classified(Classification, ClassificationTiming, MetadataShares?, imageName: String)
    case failed(String)
  }

  let classifier: Classifier
  let arguments: ParsedArguments
  let table: MetadataTable?
  let terminal: Terminal

  func items(for argument: String) -> [Item] {
    do throws(FileError) {
      let (sources, failures) = try ImageSource.sources(for: argument)
      return failures.map { .failed("\($0)") } + sources.map(Item.image)
    } catch {
      return [.failed("\(error)")]
    }
  }

  @Sendable func outcome(of item: Item) -> Outcome {
    switch item {
    case .failed(let message): return .failed(message)
    case .image(let source):
      do {
        let bytes = try source.read(terminal: terminal)
        let (result, output, timing) = try classifier.observedClassify(
          encodedImage: bytes,
          metadata: MetadataOptions.metadata(arguments, entry: table?.entry(for: source)),
          views: ImageViews(arguments))
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
