import DermaFusion
import ImageFiles
import SystemModule

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
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    MetadataOptions.all + [
      MetadataOptions.table, ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision,
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
    ("64", "Wrong usage."),
  ]

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    try refuseCombinations(arguments)
    let input = try BatchInput(arguments, terminal: terminal)
    let items = input.images.items
    let outputs = try input.outputs(
      arguments[ClassifyOptions.output].map { [(ClassifyOptions.output.display, $0)] } ?? [],
      terminal: terminal)
    let classifier = try session.classifier(input.modelFolder, arguments)
    input.noteModel(classifier, on: terminal)
    if arguments.value(of: ClassifyOptions.format) == .isic {
      try ISICSubmission.check(input.images.sources, labels: classifier.labels)
    }
    var destination = try ResultDestination(
      arguments, outputs: outputs, input: input, classifier: classifier, terminal: terminal)

    var runner = BatchRunner(arguments, terminal: terminal)
    let views = ImageViews(arguments)
    let (showsTiming, explains) = (
      arguments[ClassifyOptions.timing], arguments[ClassifyOptions.explainMetadata]
    )
    try runner.run(
      destination.remaining, sideBySideOn: classifier,
      writesOnScreen: destination.isSeen && terminal.width != nil, interruption: destination.interruption
    ) { item in
      let source = try item.image()
      return try source.naming {
        let bytes = try source.read(terminal: terminal)
        var request = ImageRequest(metadata: try input.metadata(of: source), views: views)
        request.includesMetadataShares = explains
        let answer = try classifier.run(request, onFile: bytes, limits: input.limits)
        return ClassifiedImage(
          classification: answer.classification, imageName: source.name,
          timing: showsTiming ? answer.timing : nil, shares: answer.shares)
      }
    } consume: { image in
      try destination.write(image)
      return image.classification
    }
    try destination.finish(runner.summary)
    if !destination.hasSummary, !destination.remaining.isEmpty { runner.showSummary(ofImages: items.count) }
    input.noteTable(on: terminal)
    return runner.status
  }

  private static func refuseCombinations(_ arguments: ParsedArguments) throws(DermaFusionError) {
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
