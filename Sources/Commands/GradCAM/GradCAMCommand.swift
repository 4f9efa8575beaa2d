import Assessment
import CommandLineSupport
import DermaFusion
import Figures
import ExplanationModule
import ImageFiles
import ImagePipeline
import SystemModule

/// Draws heatmaps of the regions that support a class.
enum GradCAMCommand: Command {
  static let name = "gradcam"
  static let abstract = "Draw heatmaps of the regions that support a class."
  static let discussion = """
    \(Wording.disclaimer)

    The picture shows the centre square of the image, which is all that the model sees, at its own resolution. A square \
    under 300 pixels a side is enlarged, and the squares of --class all are at most 450 pixels wide. \
    Values from 0 to 1 are relative to this image, so the colours of two pictures cannot be compared. A map \
    that has nothing to show has the status all_negative or flat, and the picture says so. Each value of the map is drawn \
    at the centre of its receptive field; --style classic and --raw stretch the map over the image, as the Python package \
    grad-cam does. A map is made by one network: of an ensemble, name the folder of a member. Where the model abstains, \
    the picture, the text and the JSON say so.
    """
  static let positionals = [
    Positional(
      "image", isRepeated: true,
      abstract: "A file, a folder, or - for one image's bytes on standard input.")
  ]
  static let options: [any Parameter] =
    MetadataOptions.all + [
      MetadataOptions.table, lesionClass, method, layer, output, raw, signed, trust,
    ] + FigureOptions.all + [
      ModelLocation.option, Option<Int>.threads, Option<Precision>.precision, Flag.quiet, format,
    ]
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
    if arguments[signed], arguments[raw] == nil, arguments.value(of: format) == .text {
      throw UsageError.missingCompanion(
        signed.display, companions: "'\(raw.display)' or '--\(format.name) json'")
    }
    if arguments.positionals.count(where: { $0 == "-" }) > 1 { throw UsageError.repeatedStandardInput }
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let items = arguments.positionals.flatMap(BatchItem.items)
    let sources = items.compactMap(\.source)
    let pictures = try picturePaths(of: sources, arguments)
    let outputs = try OutputFiles(
      pictures.map { (output.display, $0) } + (arguments[raw].map { [(raw.display, $0)] } ?? []),
      images: sources, table: arguments[MetadataOptions.table].map { ("the table of metadata", $0) },
      model: folder, terminal: terminal)
    if sources.count == 1, pictures == [arguments[output]], let ending = ImageSource.file(pictures[0]).ending,
      ending != ".png"
    {
      throw UsageError.invalidValue(
        pictures[0], display: output.display,
        expectation: "The picture is a PNG file; please provide a name that ends in .png, not in \(ending).")
    }
    let entries = try MetadataOptions.readTable(arguments)
    if let entries, let path = arguments[MetadataOptions.table], !arguments[Flag.quiet] {
      for note in entries.notes(on: sources, path: path) { terminal.note("Note: \(note)") }
    }
    let classifier = try session.classifier(folder, arguments)
    let work = try Work(
      arguments: arguments, classifier: classifier.singleModel(), outputs: outputs, terminal: terminal,
      isBatch: items.count > 1)

    var isFirst = true
    // Of several images a row each; JSON has all that is known of each map.
    var table: ResultPrinter? =
      items.count > 1 && arguments.value(of: format) == .text
      ? .table(of: sources.map(\.name), labels: classifier.labels, terminal: terminal) : nil
    var progress = Progress(terminal: terminal, total: items.count, isQuiet: arguments[Flag.quiet])
    var summary = BatchSummary()
    var remainingPictures = pictures[...]
    for item in items {
      switch item {
      case .failed(let message):
        progress.pause { terminal.report(message) }
        summary.addFailure()
        progress.advance(failed: true)
      case .image(let source):
        guard let picture = remainingPictures.popFirst() else { break }
        do {
          let report = try work.explain(source, entry: entries?.entry(for: source), picturePath: picture)
          let result = report.explanation.classification
          summary.add(result)
          progress.clear()
          if table != nil {
            try table!.print(result, imageName: source.name, remarks: report.remarks)
            progress.advance()
            continue
          }
          let text =
            arguments.value(of: format) == .json
            ? report.json.text + "\n" : report.text(width: terminal.width)
          let separator = isFirst || arguments.value(of: format) == .json ? "" : "\n"
          if outputs.usesStandardOutput {
            terminal.writeToErrors(separator + text)
          } else {
            try terminal.write(separator + text)
          }
          isFirst = false
          progress.advance()
        } catch let error as UsageError {
          throw error
        } catch let error as OutputError {
          throw error
        } catch {
          progress.pause { terminal.report("\(error)") }
          summary.addFailure()
          progress.advance(failed: true)
        }
      }
    }
    progress.clear()
    try table?.finish(summary)
    if items.count > 1, table == nil, !arguments[Flag.quiet] {
      terminal.noteOnScreen(summary.sentences.joined(separator: " "))
    }
    return summary.failedCount > 0 ? .failure : .success
  }

  /// Where the picture of each image goes.
  ///
  /// - Throws: ``UsageError`` for an option that takes one image, ``FileError`` where a folder cannot be made.
  private static func picturePaths(
    of sources: [ImageSource], _ arguments: ParsedArguments
  ) throws -> [String] {
    let isBatch = arguments.positionals.count > 1 || sources != arguments.positionals.map(ImageSource.init)
    let names = sources.map { $0.identifier ?? "image" }
    let isFolder = arguments[output].map { $0.withCString(FolderWalk.isFolder) } ?? false
    guard isBatch || isFolder else {
      return [arguments[output] ?? "\(names.first ?? "image")-gradcam.png"]
    }
    if isBatch, let path = arguments[raw] {
      throw UsageError.invalidValue(
        path, display: raw.display, expectation: "Please name a single image with it.")
    }
    if arguments[output] == "-" {
      throw UsageError.invalidValue(
        "-", display: output.display, expectation: "Please provide a folder for the pictures.")
    }
    if let folder = arguments[output], !isFolder, let ending = ImageSource.file(folder).ending,
      ImageFileName.endings.contains(ending)
    {
      throw UsageError.invalidValue(
        folder, display: output.display,
        expectation:
          "The pictures of several images go into a folder; please provide a name that does not end in \(ending)."
      )
    }
    if let folder = arguments[output], !sources.isEmpty { try FileBytes.makeFolder(folder) }
    // Images of one name in several folders get numbers, which may be names of others.
    var taken = Set<[UInt8]>()
    var left: [[UInt8]: Int] = [:]
    for name in names { left[name.imageKey, default: 0] += 1 }
    return names.map { name in
      var unique = name
      var number = 1
      left[name.imageKey, default: 1] -= 1
      while taken.contains(unique.imageKey) || (number > 1 && left[unique.imageKey, default: 0] > 0) {
        number += 1
        unique = "\(name)-\(number)"
      }
      taken.insert(unique.imageKey)
      return (arguments[output].map { "\($0)/" } ?? "") + "\(unique)-gradcam.png"
    }
  }

  /// What is the same for every image of the command line.
  private struct Work {
    let arguments: ParsedArguments
    let classifier: Classifier
    let select: @Sendable (ClassScores) -> [LesionLabel]
    let outputs: OutputFiles
    let terminal: Terminal
    /// Whether the progress of several images is shown.
    let isBatch: Bool

    init(
      arguments: ParsedArguments, classifier model: Model, outputs: OutputFiles, terminal: Terminal,
      isBatch: Bool
    ) throws(UsageError) {
      self.arguments = arguments
      classifier = Classifier(model)
      select = try selection(arguments.value(of: lesionClass), labels: model.labels)
      self.outputs = outputs
      self.terminal = terminal
      self.isBatch = isBatch
    }

    /// Writes the picture and the array of an image.
    ///
    /// - Returns: what is said of it.
    func explain(
      _ source: ImageSource, entry: MetadataTable.Entry?, picturePath: String
    ) throws -> ExplanationReport {
      let bytes = try source.read(terminal: terminal)
      let explanation: Explanation
      let input: PreprocessedImage
      var trusts: [MapTrust] = []
      do {
        let patient = try MetadataOptions.metadata(arguments, entry: entry)
        (explanation, input) = try classifier.explain(
          encodedImage: bytes, metadata: patient, method: arguments.value(of: method),
          layer: arguments[layer], selecting: select)
        if arguments[trust] {
          var progress = Progress(
            terminal: terminal, total: MapTrust.runCount(maps: explanation.maps.count),
            unit: "runs of the network", isQuiet: arguments[Flag.quiet] || isBatch)
          defer { progress.clear() }
          trusts = try classifier.trust(
            in: explanation.maps, of: input, metadata: explanation.classification.metadata,
            onRun: { progress.advance() })
        }
      } catch {
        // Only the model knows its layers, so it was not found out when the words were read.
        if error.code == .unknownLayer {
          throw UsageError.invalidValue(
            arguments[layer] ?? "", display: layer.display, expectation: error.remedy)
        }
        throw NamedFailure(name: source.name, reason: "\(error)")
      }
      var files = [
        (
          bytes: try explanation.png(
            FigureOptions.style(arguments), trusts: trusts, imageName: source.fileName), path: picturePath
        )
      ]
      if let path = arguments[raw] {
        files.append((array(explanation.maps, isSigned: arguments[signed]), path))
      }
      try outputs.write(files)
      return ExplanationReport(
        explanation: explanation, trusts: trusts, imageName: source.name, picturePath: picturePath,
        rawPath: arguments[raw], includesSignedMap: arguments[signed])
    }
  }

  /// One map as `[rows, columns]`, several as `[maps, rows, columns]`.
  private static func array(_ maps: [ActivationMap], isSigned: Bool) -> [UInt8] {
    let shape = isSigned ? [maps[0].height, maps[0].width] : [maps[0].size, maps[0].size]
    return NPYFile.bytes(
      maps.flatMap { isSigned ? $0.signedValues : $0.values },
      shape: maps.count == 1 ? shape : [maps.count] + shape)
  }
}
