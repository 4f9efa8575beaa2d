import DermaFusion
import Evaluation
import Figures
import ImageFiles
import SystemModule

/// Draws heatmaps of the regions that support a class.
enum GradCAMCommand: Command {
  static let name = "gradcam"
  static let abstract = "Draw heatmaps of the regions that support a class."
  static let discussion = """
    \(Wording.disclaimer)

    The picture shows the centre square of the image, which is all that the model sees, at its own resolution up to \
    \(Explanation.pictureSide) pixels a side. A square under 300 pixels a side is enlarged, and the squares of --class all are at most 450 pixels wide. \
    Values from 0 to 1 are relative to this image, so the colours of two pictures cannot be compared. A map \
    that has nothing to show has the status all_negative or flat, and the picture says so. Each value of the map is drawn \
    at the centre of its receptive field; --style classic and --raw stretch the map over the image, as the Python package \
    grad-cam does. A map is made by one network: of an ensemble, name the folder of a member. Where the model abstains, \
    the picture, the text and the JSON say so.
    """
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    MetadataOptions.all + [
      MetadataOptions.table
    ] + GradCAMOptions.map + FigureOptions.all + [
      ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision, GradCAMOptions.resume,
      Flag.quiet,
      OutputFormat.option,
    ] + DecodingOptions.all
  static let examples = [
    "dermafusion gradcam lesion.jpg --age 55 --output heatmap.png",
    "dermafusion gradcam lesion.jpg --class all --method layercam --layer stage4",
    "dermafusion gradcam photographs --metadata patients.csv --output heatmaps",
    "dermafusion gradcam lesion.jpg --class mel --signed --raw map.npy --trust",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every picture was written, whatever its map's status."),
    ("1", "Something failed; standard error names it. Of several images, the others got their pictures."),
    ("64", "Wrong usage."),
  ]

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let format = arguments.value(of: OutputFormat.option)
    if arguments[GradCAMOptions.signed], arguments[GradCAMOptions.raw] == nil, format == .text {
      throw DermaFusionError.missingCompanion(
        GradCAMOptions.signed.display,
        companions: "'\(GradCAMOptions.raw.display)' or '--\(OutputFormat.option.name) json'")
    }
    let input = try BatchInput(arguments, terminal: terminal)
    let items = input.images.items
    let pictures = try PicturePaths(of: input.images, arguments)
    try pictures.makeFolders()
    let outputs = try input.outputs(
      pictures.paths.map { (GradCAMOptions.output.display, $0) }
        + (arguments[GradCAMOptions.raw].map { [(GradCAMOptions.raw.display, $0)] } ?? []),
      terminal: terminal)
    try pictures.requirePNG(arguments)
    input.noteTable(on: terminal)
    let classifier = try session.classifier(input.modelFolder, arguments)
    input.noteModel(classifier, on: terminal)
    let work = try HeatmapWork(
      arguments: arguments, model: classifier.singleModel(), input: input, outputs: outputs,
      terminal: terminal)

    // Of several images a row each; JSON has all that is known of each map.
    let textOutput = outputs.usesStandardOutput ? terminal.textBesideData : terminal.output
    var printer = ResultPrinter(
      format: format, output: textOutput, width: terminal.width,
      table: items.count > 1 && format == .text
        ? BatchTable(
          names: input.images.sources.map(\.name), labels: classifier.labels, width: terminal.width,
          usesColour: terminal.usesColour) : nil)
    var remaining = pictures.jobs(for: items)
    if arguments[GradCAMOptions.resume] {
      remaining.removeAll { $0.path.map(FileBytes.isThere) ?? false }
      let done = items.count - remaining.count
      if done > 0, !arguments[Flag.quiet] {
        let end = remaining.isEmpty ? ": nothing left to do." : "."
        terminal.noteOnScreen("\(done) of \(items.count) images have a picture\(end)")
      }
    }
    var runner = BatchRunner(arguments, terminal: terminal)
    try runner.run(
      remaining, sideBySideOn: nil, writesOnScreen: true,
      interruption: "The pictures made so far are there; with --resume the same command makes the others."
    ) { job in
      let source = try job.item.image()
      return try source.naming { try work.explain(source, picturePath: job.path ?? "") }
    } consume: { (report: ExplanationReport) in
      try printer.print(report)
      return report.classification
    }
    try printer.finish(runner.summary)
    if printer.table == nil, !remaining.isEmpty { runner.showSummary(ofImages: items.count) }
    return runner.status
  }
}
