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
      MetadataOptions.table
    ] + GradCAMOptions.map + FigureOptions.all + [
      ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision,
      GradCAMOptions.resume,
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
      as: format, to: outputs.usesStandardOutput ? terminal.textBesideData : terminal.output,
      width: terminal.width,
      table: hasTable
        ? BatchTable(
          names: input.images.sources.map(\.name), labels: classifier.labels, width: terminal.width,
          usesColour: terminal.usesColour) : nil)
    let text = writer.text
    var remaining = pictures.jobs(for: input.images)
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

/// The options of `gradcam` alone.
enum GradCAMOptions {
  /// The map's class, method, layer and output.
  static let map: [any AnyCommandOption] = [lesionClass, method, layer, output, raw, signed, trust]

  /// As many maps as a contact sheet shows.
  static let sheetCount = 12

  static let lesionClass = CommandOption<String>(
    "class", valueName: "class",
    abstract: """
      Class to explain, by its short name in the model. top is the most probable class. all draws a contact sheet of all \
      classes, or of the \(sheetCount) most probable where there are more.
      """,
    expectation: "Please provide a class's short name, 'top' or 'all'.", initial: "top", defaultValue: "top")

  /// The classes to explain.
  static func classes(
    _ name: String, labels: Labels
  ) throws(DermaFusionError) -> ImageRequest.Classes {
    switch name {
    case "top": return .top
    case "all": return labels.count <= sheetCount ? .all : .likeliest(sheetCount)
    default:
      if labels[name] != nil { return .named([name]) }
      // In another letter case, or by its name: Melanoma for mel.
      let named = labels.first { [$0.id.lowercased(), $0.name.lowercased()].contains(name.lowercased()) }?.id
      let names = labels.count <= sheetCount ? labels.ids.quotedAlternatives : labels.ids.quotedList
      throw .invalidValue(
        name, display: lesionClass.display,
        expectation: "The model's classes are \(names).", suggestion: named ?? labels.ids.nearest(to: name))
    }
  }

  static let method = CommandOption<ActivationMapMethod>.choice(
    "method", of: ActivationMapMethod.allCases, initial: .gradcam,
    abstract:
      "How the map is made. eigencam shows what the features respond to and is the same for every class.")
  static let layer = CommandOption<String>(
    "layer", valueName: "layer",
    abstract: """
      Feature map to explain, by its name in timm, the Python package of image models: conv_stem, blocks.5.1 or layer3.0, \
      for example. stage0, stage1, ..., blocks.5 or layer3 stand for the last block of a stage. Early maps are fine and noisy, and can be \
      strong at the image's edge.
      """,
    expectation: "Please provide a layer's name.", defaultValue: "the last feature map")
  static let output = CommandOption<String>.path(
    "output", valueName: "overlay.png",
    abstract: """
      Picture to write, a PNG or, with a name that ends in .pdf, a PDF file; an existing one is replaced. For several images and for folders: the folder to write the pictures \
      to, which is made when it is missing; the folders below a folder are kept there. Without this option the picture goes to the current folder, under the \
      image's name followed by -gradcam.png (image-gradcam.png for standard input). - is standard output; the text or the \
      JSON then goes to standard error.
      """)
  static let raw = CommandOption<String>.path(
    "raw", valueName: "map.npy",
    abstract: """
      Also write the map as a NumPy array: float32 [size, size] with values from 0 to 1 over the network's input, as the \
      Python package grad-cam returns it; with --class all, [classes, size, size]. EigenCAM leaves its sign to chance; \
      here its extreme is above 0. - is standard output, as above. For one image only.
      """)
  static let signed = Flag(
    "signed",
    abstract: """
      Keep the negative values, which count against the class: --raw writes the map before they are cut off and it is \
      scaled, float32 [h, w] at the layer's own resolution, and JSON gets it as signedMap.
      """)
  static let trust = Flag(
    "trust",
    abstract: """
      Test each map in three ways: deletion and insertion must do better than the mean of three random maps of the same \
      smoothness, and the correlation with maps of five heads whose weights were shuffled must stay below \
      \(MapTrust.highCorrelation.fixed(digits: 1)). A map that passes may still be wrong. Takes about 140 runs of the \
      network, 35 more for each further map.
      """)
  static let resume = Flag(
    "resume", abstract: "Skip images whose picture is there, whatever it was made from.")
}
