import DermaFusion
import Evaluation
import Figures
import Files
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
      MetadataOptions.table, MetadataOptions.joinPatient,
    ] + GradCAMOptions.map + FigureOptions.all + [
      ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision,
      GradCAMOptions.resume,
      Flag.quiet,
      OutputFormat.option, CommandOption<Language>.language,
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
    try pictures.requirePicture(arguments)
    input.noteTable(on: terminal)
    let classifier = try session.classifier(input.modelFolder, arguments)
    input.noteModel(classifier, on: terminal)
    let work = try HeatmapWork(
      arguments: arguments, model: classifier.singleModel(), input: input, outputs: outputs,
      terminal: terminal)

    let hasTable = items.count > 1 && format == .text
    var writer = ResultWriter<ExplanationReport>.explanations(
      as: format, to: outputs.usesStandardOutput ? terminal.textBesideData : terminal.outputBesideFiles,
      width: terminal.width,
      table: hasTable
        ? BatchTable(
          names: input.images.sources.map(\.name), labels: classifier.labels, width: terminal.width,
          usesColour: terminal.usesColour, language: arguments.value(of: CommandOption<Language>.language))
        : nil)
    let text = writer.text
    var remaining = pictures.jobs(for: input.images)
    if arguments[GradCAMOptions.resume] {
      let raw = arguments[GradCAMOptions.raw]
      remaining.removeAll { job in
        guard let picture = job.path else { return false }
        return FileBytes.isThere(picture) && (raw.map(FileBytes.isThere) ?? true)
      }
      let done = items.count - remaining.count
      if done > 0 {
        let end = remaining.isEmpty ? ": nothing left to do." : "."
        terminal.noteOnScreen("\(done) of \(input.images.count) images have a picture\(end)")
      }
    }
    var runner = BatchRunner(terminal: terminal)
    try runner.run(
      remaining, sideBySideOn: nil, writesOnScreen: true,
      interruption: "The pictures made so far are there; with --resume the same command makes the others."
    ) { job in
      let source = try job.item.get()
      return try source.naming {
        let report = try work.explain(source, picturePath: job.path ?? "")
        return (text: text(report), classification: report.classification)
      }
    } consume: { result in
      try writer.write(result.text)
      return result.classification
    }
    try writer.finish(runner.summary)
    if !hasTable, !remaining.isEmpty { runner.showSummary(ofImages: items.count) }
    return runner.status
  }
}
