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

    Writes a new model folder, which --model of every command takes. Four things are fitted to the images: a bias for each \
    class, added to that of the last layer; the temperature; the thresholds of the \
    \(Int(ModelCalibration.coverage * 100)) % sets; and the limit of the features' distance, which one photograph in a \
    hundred exceeds, so that the model abstains. A model that cannot abstain gets the bias and the temperature alone. A class \
    without photographs keeps its bias; one with fewer than \(CalibrationReport.setCount) keeps its threshold.

    Bias and temperature maximise the likelihood of the labels; a penalty keeps them near the present ones. Every \
    photograph weighs the same, so do not select photographs: the new probabilities suit a collection like yours. \
    With --\(melanomaWeight.name), an image of a rare class counts more than one of a common class, and a melanoma W times \
    as much. The probabilities of rare classes are then higher than their share. --\(lastLayer.name) also fits a \
    small change of the last layer's weights.

    The figures compare the model before and after on the same photographs. Those after are cross-fitted: the lesions \
    are split into \(CalibrationComparison.foldCount) folds, and each fold is evaluated with a fit to the others. The \
    written model is fitted to all. If the negative log-likelihood is not lower than before, with its whole 95 % interval, \
    nothing is written and the exit status is \(ExitStatus.notBetter.rawValue); --\(force.name) writes the model anyway.

    The command refuses fewer than \(minimumLesions) lesions (\(minimumLesionsOfLastLayer) for --\(lastLayer.name)), and \
    photographs of lesions that the model was trained on. It names photographs that are missing or cannot be read, and leaves \
    them out.
    """
  static let options: [any AnyCommandOption] = [
    labels, CommandOption<String>.imageFolders, output, melanomaWeight, lastLayer, force,
    ModelLocation.option,
    CommandOption<Int>.threads, OutputFormat.option, Flag.quiet,
  ]
  static let examples = [
    "dermafusion calibrate --labels ours.csv --images photos --output our-model",
    "dermafusion calibrate --labels l.csv --images photos --output m --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The model was written, fitted to every image."),
    ("1", "An image failed, standard error names it; or nothing was written, standard error says why."),
    ("2", "Nothing was written: the fit is no better than the model as it is."),
  ]

  private static let labels = CommandOption<String>.path(
    "labels", valueName: "file.csv", isRequired: true,
    abstract: "Table of labels, in evaluate's format.")
  private static let output = CommandOption<String>.path(
    "output", valueName: "folder", isRequired: true,
    abstract: "Folder of the new model, which must not be there yet, or be empty.")
  private static let melanomaWeight = CommandOption<Double>(
    "melanoma-weight", valueName: "W",
    abstract:
      "Weigh rare classes more than common ones, and a melanoma W times as much as another lesion: 1 to 100, such as 2.",
    expectation: "Please provide a number from 1 to 100.",
    convert: { text in Double(text).flatMap { (1...100).contains($0) ? $0 : nil } })
  private static let lastLayer = Flag(
    "last-layer", abstract: "Also fit a change of the last layer's weights; needs many photographs.")
  private static let force = Flag(
    "force", abstract: "Write the model even where it is no better than the present one.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let labelsPath = arguments.value(of: labels)
    let target = arguments.value(of: output)
    try FileBytes.requireNewFolder(target)
    let table = try FileBytes.read(path: labelsPath, limit: MetadataTable.byteLimit)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.classifier(folder, arguments)
    guard let model = try? classifier.singleModel() else {
      throw refusal(
        "\(folder): is an ensemble, which has no last layer of its own; please calibrate its members")
    }
    let list = try TestList(table, path: labelsPath, labels: classifier.labels)
    let minimum = arguments[lastLayer] ? minimumLesionsOfLastLayer : minimumLesions
    try require(minimum, lesions: list.entries.map(\.lesion), labelsPath)
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

    guard !arguments[lastLayer] || origin.hasChangeableLastLayer else {
      throw refusal(
        "\(folder): the last layer's weights are whole numbers, which --\(lastLayer.name) cannot change")
    }
    var run = EvaluationRun(arguments, classifier: classifier, index: index, terminal: terminal)
    run.keepsFeatures = arguments[lastLayer]
    try run.evaluate(list)
    try require(minimum, lesions: run.outputs.map(\.lesion), labelsPath)

    let present = ModelCalibration(model.configuration)
    func fit(_ images: [ModelCalibration.Image]) -> ModelCalibration {
      ModelCalibration(
        fittedTo: images, from: present, melanomaWeight: arguments[melanomaWeight], stored: origin.stored)
    }
    let report = CalibrationReport(
      origin: classifier.model, labels: classifier.labels, listedCount: list.rowCount,
      imageCounts: classifier.labels.map { label in run.outputs.count { $0.label.index == label.index } },
      lesionCount: NameGroups(run.outputs.map(\.lesion)).count, biasType: origin.biasType,
      present: present, fitted: fit(run.outputs),
      comparison: CalibrationComparison(run.outputs, present: present, fit: fit),
      calibratedBefore: overlap.validationLesions.count)
    let format = arguments.value(of: OutputFormat.option)
    guard report.comparison.isBetter || arguments[force] else {
      try terminal.write(CalibrationOutput(report: report, written: nil), as: format)
      terminal.note("\(target): not written, the old model was kept. \(report.verdict)")
      return run.status == .success ? .notBetter : run.status
    }
    let (configuration, weights) = try origin.files(report.fitted, record: report.record)
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
    try terminal.write(CalibrationOutput(report: report, written: (written, target)), as: format)
    return run.status
  }

  /// A fit to fewer lesions would say more about chance than about the images.
  private static let minimumLesions = 50
  private static let minimumLesionsOfLastLayer = 150

  private static func refusal(_ message: String) -> DermaFusionError {
    DermaFusionError(.unusableFile, message: message, remedy: "Please calibrate with other photographs.")
  }

  private static func require(
    _ minimum: Int, lesions: [String], _ path: String
  ) throws(DermaFusionError) {
    let count = NameGroups(lesions).count
    guard count >= minimum else {
      throw refusal("\(path): \(count) lesions are too few to fit a model to; at least \(minimum) are needed")
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
    // Not as text for a spreadsheet: the names are compared as they stand.
    return ([list.header] + list.rows.map(\.fields) + added).map { fields in
      fields.map(CSVCell.quoted).joined(separator: ",") + "\n"
    }.joined()
  }
}
