import Figures
import SystemModule
import CommandLineSupport
import DermaFusion

/// Writes what is found in images as a page that can be read anywhere.
enum ReportCommand: Command {
  static let name = "report"
  static let abstract = "Write a page with the results and heatmaps of images."
  static let discussion = """
    \(Wording.disclaimer)

    The page is one HTML file without scripts that needs no network. It shows the centre square of each photograph, its \
    heatmap, the probabilities, the risk, the patient's age, sex and site, the warnings and the model. Several images get an \
    index. It can be read on a screen, light or dark, and printed on A4 paper. It contains the photographs, so keep it as \
    private as their files.
    """
  static let positionals = [
    Positional(
      "image", isRepeated: true, abstract: "A file, a folder, or - for an image's bytes on standard input.")
  ]
  static let options: [any Parameter] =
    MetadataOptions.all + [
      MetadataOptions.table, output, ModelLocation.option, Option<Int>.threads, Option<Precision>.precision,
      Flag.quiet,
    ]
  static let examples = [
    "dermafusion report lesion.jpg --age 55 --site back --output report.html",
    "dermafusion report photographs --metadata patients.csv --output report.html",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The page was written with every image."),
    ("1", "Something failed; standard error names it, and the page says which images have no result."),
    ("64", "Wrong usage."),
  ]

  private static let output = Option<String>.path(
    "output", valueName: "report.html", isRequired: true,
    abstract: "Page to write; one that exists is replaced. - is standard output.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    if arguments.positionals.count(where: { $0 == "-" }) > 1 { throw UsageError.repeatedStandardInput }
    let path = arguments.value(of: output)
    let table = try MetadataOptions.readTable(arguments)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    var failures: [String] = []
    var sources: [ImageSource] = []
    for argument in arguments.positionals {
      do throws(FileError) {
        let found = try ImageSource.sources(for: argument)
        sources += found.sources
        failures += found.failures.map { "\($0)" }
      } catch {
        failures.append("\(error)")
      }
    }
    let outputs = try OutputFiles(
      [(output.display, path)], images: sources,
      table: arguments[MetadataOptions.table].map { ("the table of metadata", $0) }, model: folder,
      terminal: terminal)
    let classifier = try session.classifier(folder, arguments)

    for failure in failures { terminal.report(failure) }
    var progress = Progress(terminal: terminal, total: sources.count, isQuiet: arguments[Flag.quiet])
    var entries: [ReportEntry] = []
    // Files of one name in several folders are told apart by their paths.
    let counts = Dictionary(sources.map { ($0.fileName?.imageKey, 1) }, uniquingKeysWith: +)
    for source in sources {
      do {
        entries.append(
          try ReportEntry(
            source.read(terminal: terminal),
            name: counts[source.fileName?.imageKey] == 1 ? source.fileName ?? source.name : source.name,
            metadata: MetadataOptions.metadata(arguments, entry: table?.entry(for: source)),
            classifier: classifier, style: FigureStyle(), imageCount: sources.count))
        progress.advance()
      } catch {
        let message = error is FileError ? "\(error)" : "\(source.name): \(error)"
        failures.append(message)
        progress.pause { terminal.report(message) }
        progress.advance(failed: true)
      }
    }
    progress.clear()
    if let table, let tablePath = arguments[MetadataOptions.table], !arguments[Flag.quiet] {
      for note in table.notes(on: sources, path: tablePath) { terminal.note("Note: \(note)") }
    }
    guard !entries.isEmpty else { return .failure }
    try outputs.write(Array(ReportPage(entries: entries, failures: failures).html.utf8), path: path)
    return failures.isEmpty ? .success : .failure
  }
}
