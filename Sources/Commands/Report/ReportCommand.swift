import DermaFusion
import ImageCodecs
import SystemModule

/// Writes what is found in images as a page that can be read anywhere.
enum ReportCommand: Command {
  static let name = "report"
  static let abstract = "Write a page with the results and heatmaps of images."
  static let discussion = """
    \(Wording.disclaimer)

    The page is one HTML file without scripts that needs no network. It shows the centre square of each photograph, its \
    heatmap, the probabilities, the risk, the patient's age, sex and site, the warnings and the model. Several images get an \
    index and follow in the order of their risk. It can be read on a screen, light or dark, and printed on A4 paper. It contains the photographs, so keep it as \
    private as their files.
    """
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    MetadataOptions.all + [
      MetadataOptions.table, MetadataOptions.joinPatient, output, title, only, lesionClass, labels,
      hideAnswers, CommandOption<Language>.language,
      ModelLocation.option,
      CommandOption<Int>.threads,
      CommandOption<Precision>.precision, Flag.quiet,
    ] + DecodingOptions.all
  static let examples = [
    "dermafusion report lesion.jpg --age 55 --site back --output report.html",
    "dermafusion report photographs --metadata patients.csv --output report.html",
    "dermafusion report photographs --only moderate,high --output report.html",
    "dermafusion report photos --labels l.csv --hide-answers --output lesson.html",
    "dermafusion report lesion.jpg --class all --language de --output report.html",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The page was written with every image."),
    ("1", "Something failed; standard error names it, and the page says which images have no result."),
  ]

  private static let output = CommandOption<String>.path(
    "output", valueName: "report.html", isRequired: true,
    abstract: "Page to write; one that exists is replaced. - is standard output.")

  private static let title = CommandOption<String>(
    "title", valueName: "text", abstract: "Heading of the page.",
    expectation: "Please provide a text.", convert: { $0.trimmed.isEmpty ? nil : $0 })
  private static let labels = CommandOption<String>.path(
    "labels", valueName: "file.csv",
    abstract: "Table of labels, in evaluate's format; the page shows each label beside the model's answer.")
  private static let hideAnswers = Flag(
    "hide-answers", abstract: "Show the photographs alone; a click on each shows its answers.")

  private static let lesionClass = CommandOption<String>(
    "class", valueName: "class",
    abstract: """
      Class whose heatmap is shown, by its short name in the model. top is the most probable class. all shows a heatmap of \
      each class, or of the \(GradCAMOptions.sheetCount) most probable where there are more.
      """,
    expectation: GradCAMOptions.lesionClass.expectation, initial: "top", defaultValue: "top")
  private static let only = CommandOption<[ReportSelection]>(
    "only", valueName: "levels",
    abstract: """
      Show these images only, and count the others: \(ReportSelection.allCases.map(\.rawValue).quotedAlternatives), \
      several with commas between them.
      """,
    expectation:
      "Please provide one or more of \(ReportSelection.allCases.map(\.rawValue).quotedAlternatives), with commas between them.",
    convert: { text in
      let words = text.split(separator: ",", omittingEmptySubsequences: false)
      let selections = words.compactMap { ReportSelection(rawValue: $0.lowercased()) }
      return selections.count == words.count ? selections : nil
    })

  /// A name that promises another kind of file.
  private static func refuseOtherFormats(_ path: String) throws(DermaFusionError) {
    let others = [".pdf", ".docx", ".odt", ".csv", ".json", ".jsonl", ".txt", ".md"] + ImageFileName.endings
    guard let ending = path.fileEnding, others.contains(ending) else { return }
    throw .invalidValue(
      path, display: output.display,
      expectation:
        "The report is an HTML page, which a browser can print to a PDF file; please provide a name that ends in .html, not in \(ending)."
    )
  }

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let path = arguments.value(of: output)
    try refuseOtherFormats(path)
    let input = try BatchInput(arguments, terminal: terminal)
    let sources = input.images.sources
    let outputs = try input.outputs([(output.display, path)], terminal: terminal)
    let classifier = try session.classifier(input.modelFolder, arguments)
    input.noteModel(classifier, on: terminal)
    let list = try arguments[labels].map { path in
      try ComparedLabels(
        FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path, labels: classifier.labels,
        sources: sources, reading: MetadataOptions.reading(arguments))
    }

    // Files of one name in several folders are told apart by their paths.
    let counts = Dictionary(sources.map { ($0.fileName?.imageKey, 1) }, uniquingKeysWith: +)
    let isSingle = sources.count == 1
    let language = arguments.value(of: CommandOption<Language>.language)
    let classes = try GradCAMOptions.classes(arguments.value(of: lesionClass), labels: classifier.labels)
    let selections = arguments[only]
    var entries: [ReportEntry] = []
    var runner = BatchRunner(terminal: terminal)
    try runner.run(
      input.images.items, sideBySideOn: nil, interruption: "\(path) was not written."
    ) { item in
      let source = try item.get()
      return try source.naming {
        let row = try list?.entry(of: source)
        return try ReportEntry(
          source.read(terminal: terminal), frame: source.frame,
          name: counts[source.fileName?.imageKey] == 1 ? source.fileName ?? source.name : source.name,
          metadata: input.metadata(of: source).filled(fromRow: row?.metadata), label: row?.label,
          classifier: classifier, classes: classes, language: language, isSingle: isSingle,
          limits: input.limits)
      }
    } consume: { entry in
      if selections?.contains(ReportSelection(entry.result)) ?? true { entries.append(entry) }
      return entry.result
    }
    input.noteTable(on: terminal)
    list?.note(on: terminal, sources: sources, saysColumns: false)
    guard runner.summary.count > 0 else { return .failure }
    let page = ReportPage(
      entries: entries, summary: runner.summary, failures: runner.failures, selections: selections,
      date: terminal.date(), title: arguments[title], hidesAnswers: arguments[hideAnswers], language: language
    )
    try outputs.write(Array(page.html.utf8), path: path)
    if !outputs.usesStandardOutput {
      terminal.noteOnScreen("\(path): \(runner.summary.sentences.joined(separator: " "))")
    }
    return runner.status
  }
}
