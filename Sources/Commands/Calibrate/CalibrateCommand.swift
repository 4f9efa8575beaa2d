import DermaFusion
import Evaluation
import Files
import SystemModule

/// Fits a model's probabilities, sets and limit of the distance to images whose labels are known.
enum CalibrateCommand: Command {
  static let name = "calibrate"
  static let abstract = "Fit a model's probabilities and limits to images of your own."
  static let discussion = """
    \(Wording.disclaimer)

    Writes a new model folder with the same weights, which --model of every command takes. Four things are fitted to the \
    images: a bias for each class, added to that of the last layer; the temperature; the thresholds of the \
    \(Int(ModelCalibration.coverage * 100)) % sets; and the distance of the features beyond which the model abstains, so that \
    one photograph in a hundred lies beyond it. A model that cannot abstain gets the bias and the temperature alone.

    The figures compare the model before and after on the same photographs. Those after are cross-fitted: the lesions \
    are dealt out to \(CalibrationComparison.foldCount) folds, and each fold is judged by a fit to the others. The model \
    that is written is fitted to all.

    Use photographs as they come: the new probabilities suit a collection like theirs. In the fit of the bias an image \
    of a rare class weighs more than one of a common class, and a melanoma weighs twice, because a missed melanoma costs \
    more than a false alarm. The command refuses fewer than \(minimumLesions) lesions, a class of the model without any \
    photograph, and photographs of lesions that the model was trained on. It names photographs that are missing or \
    cannot be read, and leaves them out.
    """
  static let options: [any AnyCommandOption] = [
    labels, CommandOption<String>.imageFolders, output, ModelLocation.option, CommandOption<Int>.threads,
    OutputFormat.option, Flag.quiet,
  ]
  static let examples = [
    "dermafusion calibrate --labels ours.csv --images photos --output our-model",
    "dermafusion calibrate --labels l.csv --images photos --output m --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The model was written, fitted to every image."),
    ("1", "An image failed, standard error names it; or nothing was written, standard error says why."),
    ("64", "Wrong usage."),
  ]

  private static let labels = CommandOption<String>.path(
    "labels", valueName: "file.csv", isRequired: true,
    abstract: "Table with a row for each image and what it shows, as evaluate takes it.")
  private static let output = CommandOption<String>.path(
    "output", valueName: "folder", isRequired: true,
    abstract: "Folder of the new model, which must not be there yet, or be empty.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let labelsPath = arguments.value(of: labels)
    let target = arguments.value(of: output)
    try FileBytes.requireNewFolder(target)
    let table = try FileBytes.read(path: labelsPath, limit: MetadataTable.byteLimit)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.classifier(folder, arguments)
    guard case .model(let model) = classifier.source else {
      throw refusal(
        "\(folder): is an ensemble, which has no last layer of its own; please calibrate its members")
    }
    let list = try TestList(table, path: labelsPath, labels: classifier.labels)
    try require(list.entries.map(\.label), lesions: list.entries.map(\.lesion), classifier.labels, labelsPath)
    let overlap = try TrainingOverlap(list, model: folder, members: [])
    if overlap.trainedFolder != nil {
      throw refusal(
        """
        \(labelsPath): the model was trained on \(overlap.trainingLesions.count) of its lesions, the first of them \
        '\(overlap.trainingLesions[0])'; a model is surer of those than of others, and a fit to them would be wrong for \
        all others
        """)
    }
    let origin = try CalibratedModel(folder: folder, identity: classifier.model)
    let seen = try seenList(of: folder)
    let index = try ImageIndex(folders: arguments.values(of: CommandOption<String>.imageFolders))

    var run = EvaluationRun(arguments, classifier: classifier, index: index, terminal: terminal)
    try run.evaluate(list)
    let known = zip(run.images, run.outputs).map { image, output in
      ModelCalibration.Image(
        lesion: image.lesion, label: image.label, logits: output.logits, distance: output.distance,
        reasons: image.abstention.reasons)
    }
    try require(known.map(\.label), lesions: known.map(\.lesion), classifier.labels, labelsPath)

    let present = ModelCalibration(model.configuration)
    let stored = origin.stored
    let fitted = ModelCalibration(fittedTo: known, hasLimits: present.limits != nil, stored: stored)
    let report = CalibrationReport(
      origin: classifier.model, labels: classifier.labels, listedCount: list.rowCount,
      imageCounts: classifier.labels.map { label in known.count { $0.label.index == label.index } },
      lesionCount: Set(known.map(\.lesion)).count, biasType: origin.biasType,
      present: present, fitted: fitted,
      comparison: CalibrationComparison(known, present: present, stored: stored),
      calibratedBefore: overlap.validationLesions.count)
    let (configuration, weights) = try origin.files(fitted, record: report.record)
    let written = report.identity(configuration: configuration, weights: weights)
    let checksums = CalibratedModel.checksums(configuration: configuration, weights: weights)
    var files: [(name: String, bytes: [UInt8])] = [
      (ConfigurationFile.name, configuration), (ModelFolder.weightsName, weights),
      ("SHA256SUMS", Array(checksums.utf8)),
      ("README.md", Array(report.card(of: written, from: folder).utf8)),
    ]
    if let seen {
      let list = extended(seen, by: zip(run.names, run.images).map { ($0, $1) })
      files.append((TrainingList.relativePath, Array(list.utf8)))
    }
    try FileBytes.writeFolder(files, path: target)
    try terminal.write(
      CalibrationOutput(report: report, model: written, folder: target),
      as: arguments.value(of: OutputFormat.option))
    return run.status
  }

  /// A fit to fewer lesions would say more about chance than about the images.
  private static let minimumLesions = 50

  private static func refusal(_ message: String) -> DermaFusionError {
    DermaFusionError(.unusableFile, message: message, remedy: "Please calibrate with other photographs.")
  }

  /// Refuses images of too few lesions, and those that show not every class.
  private static func require(
    _ shown: [LesionLabel], lesions: [String], _ labels: Labels, _ path: String
  ) throws(DermaFusionError) {
    let count = Set(lesions.map(\.imageKey)).count
    guard count >= minimumLesions else {
      throw refusal(
        "\(path): \(count) lesions are too few to fit a model to; at least \(minimumLesions) are needed")
    }
    let missing = labels.filter { label in !shown.contains { $0.index == label.index } }
    guard missing.isEmpty else {
      throw refusal(
        """
        \(path): there is no photograph of \(missing.map(\.id).quotedList), which the model knows; each of its classes \
        needs at least one
        """)
    }
  }

  /// The list of what a model has seen; `nil` where its folder has none.
  private static func seenList(of folder: String) throws -> CSVTable? {
    let path = "\(folder)/\(TrainingList.relativePath)"
    return FileBytes.isThere(path)
      ? try CSVTable(FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path) : nil
  }

  /// The list with the images of the fit, by their names in the table: `evaluate` will say that the model was calibrated
  /// on them.
  private static func extended(
    _ list: CSVTable, by entries: [(name: String, image: EvaluatedImage)]
  ) -> String {
    let added = entries.map { name, image in
      list.header.map { column in
        switch column.lowercased() {
        case "image_id": name
        case "lesion_id": image.lesion
        case "dx": image.label.id
        case "split": "validation"
        default: ""
        }
      }
    }
    return ([list.header] + list.rows.map(\.fields) + added).map { ClassificationCSV.line($0) }.joined()
  }
}
