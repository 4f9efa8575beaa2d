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
    without photographs keeps its bias; one of fewer than \(ClassUnits.leastCount) patients or lesions keeps its threshold, and \
    results then state no share for their set (conformalCoverage is null), since the right class may be that one.

    Bias and temperature maximise the likelihood of the labels; a penalty keeps them near the present ones. Every \
    photograph weighs the same, so do not select photographs: the new probabilities suit a collection like yours. \
    With --\(melanomaWeight.name), an image of a rare class counts more than one of a common class, and a melanoma W times \
    as much. The probabilities of rare classes are then higher than their share. --\(lastLayer.name) also fits a \
    small change of the last layer's weights.

    The figures compare the model before and after on the same photographs. Those after are cross-fitted: the patients (the \
    lesions where the table names no patients) are split into \(CalibrationComparison.foldCount) folds, and each fold is \
    evaluated with a fit to the others. The written model is fitted to all.

    Each part is kept or left by its own figure: bias with temperature, and the last layer, by the negative log-likelihood; \
    the sets by the distance of their coverage from \(ModelCalibration.coverage), if they do not grow by more than \
    \(CalibrationVerdict.mostGrowth) classes; the limit of the distance by the distance of its false alarms from \
    \(ModelCalibration.falseAlarms). A part is kept if its figure is lower with 95 % confidence (one-sided), and if none of \
    negative log-likelihood, balanced accuracy and melanoma's sensitivity is worse with its whole 95 % interval. If no part is \
    kept, nothing is written and the exit status is \(ExitStatus.notBetter.rawValue); --\(force.name) writes all parts anyway.

    The command needs \(minimumLesions) lesions (\(minimumLesionsOfLastLayer) for --\(lastLayer.name)) of at least \
    \(minimumUnits) patients, and photographs of two classes. It refuses photographs of lesions that the model was trained on, \
    and labels that have nothing to do with the model's classes. It names photographs that are missing or cannot be read, and \
    leaves them out. It also leaves out, and counts, the lesions of photographs that the model was trained on under other names, \
    which it finds as \(EvaluateCommand.name) does.
    """
  static let options: [any AnyCommandOption] = [
    labels, CommandOption<String>.imageFolders, MetadataOptions.joinPatient, output, melanomaWeight,
    lastLayer, force,
    ModelLocation.option,
    CommandOption<Int>.threads, OutputFormat.option, Flag.quiet,
  ]
  static let examples = [
    "dermafusion calibrate --labels ours.csv --images photos --output our-model",
    "dermafusion calibrate --labels l.csv --images photos --output m --format json",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The model was written, and no image failed."),
    ("1", "An image failed, standard error names it; or nothing was written, standard error says why."),
    ("2", "Nothing was written: no part of the fit is better than the model as it is."),
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
    "force", abstract: "Write every part of the fit, even if it is no better than the present one.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let labelsPath = arguments.value(of: labels)
    let target = arguments.value(of: output)
    try FileBytes.requireNewFolder(target)
    let table = try FileBytes.read(path: labelsPath, limit: MetadataTable.byteLimit)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.classifier(folder, arguments)
    try classifier.requireOneLabel(folder: folder, Self.self)
    guard let model = try? classifier.singleModel() else {
      throw refusal(
        "\(folder): is an ensemble, which has no last layer of its own; please calibrate its members")
    }
    let index = try ImageIndex(folders: arguments.values(of: CommandOption<String>.imageFolders))
    let list = try TestList(
      table, path: labelsPath, labels: classifier.labels, images: index.sources,
      reading: MetadataOptions.reading(arguments))
    let minimum = arguments[lastLayer] ? minimumLesionsOfLastLayer : minimumLesions
    try require(
      minimum, lesions: list.entries.map(\.lesion), units: list.entries.map(\.unit),
      labels: list.entries.map(\.label), list)
    var overlap = try TrainingOverlap(list, model: folder, members: [])
    if overlap.trainedFolder != nil {
      throw refusal(
        """
        \(labelsPath): the model was trained on \(overlap.trainingLesions.count) of its lesions, the first of them \
        '\(overlap.trainingLesions[0])'; a model is surer of those than of others, and a fit to them would be wrong for \
        all others
        """)
    }
    let origin = try CalibratedModel(folder: folder, identity: classifier.model)

    guard !arguments[lastLayer] || origin.hasChangeableLastLayer else {
      throw refusal(
        "\(folder): the last layer's weights are whole numbers, which --\(lastLayer.name) cannot change")
    }
    var run = EvaluationRun(arguments, classifier: classifier, index: index, terminal: terminal)
    run.keepsFeatures = arguments[lastLayer]
    run.sight = try ModelSight(ofModel: folder)
    try run.evaluate(list)
    run.leaveOutTrained(&overlap, table: labelsPath)
    try require(
      minimum, lesions: run.outputs.map(\.lesion), units: run.outputs.map(\.unit),
      labels: run.outputs.map(\.label), list)

    let present = ModelCalibration(model.configuration)
    let method = CalibrationMethod(
      from: present, melanomaWeight: arguments[melanomaWeight], stored: origin.stored)
    guard !method.likeliest(run.outputs).ignoresLogits(of: present.fit) else {
      throw unrelated(run.images, labelsPath)
    }
    let comparison = CalibrationComparison(
      run.outputs, by: method, changesLastLayer: arguments[lastLayer], keepsAll: arguments[force])
    let report = CalibrationReport(
      origin: classifier.model, labels: classifier.labels, listedCount: list.rowCount + run.frameCount,
      images: run.outputs, biasType: origin.biasType, present: present,
      fitted: method.fitted(comparison.fittedParts, to: run.outputs), comparison: comparison,
      calibratedBefore: overlap.validationLesions.count, byPixels: overlap.byPixels)
    let format = arguments.value(of: OutputFormat.option)
    guard !comparison.kept.isEmpty else {
      try terminal.write(CalibrationOutput(report: report, written: nil), as: format)
      terminal.note(
        "\(target): not written, the old model was kept. \(report.verdict) --\(force.name) writes it anyway.")
      return run.status == .success ? .notBetter : run.status
    }
    let written = try write(report, origin, seen: seenFiles(after: run, of: folder), from: folder, to: target)
    try terminal.write(CalibrationOutput(report: report, written: (written, target)), as: format)
    return run.status
  }

  /// Writes the folder of the new model.
  ///
  /// - Parameter seen: the files that say what it has seen.
  private static func write(
    _ report: CalibrationReport, _ origin: CalibratedModel, seen: [(name: String, bytes: [UInt8])],
    from folder: String, to target: String
  ) throws -> ModelIdentity {
    let (configuration, weights) = try origin.files(
      report.fitted, classes: report.labels.ids, record: report.record)
    let written = report.identity(configuration: configuration, weights: weights)
    let checksums = CalibratedModel.checksums(configuration: configuration, weights: weights)
    let files: [(name: String, bytes: [UInt8])] = [
      (ConfigurationFile.name, configuration), (ModelFolder.weightsName, weights),
      ("SHA256SUMS", Array(checksums.utf8)),
      ("README.md", Array(report.card(of: written, from: folder).utf8)),
    ]
    try FileBytes.writeFolder(files + seen, path: target)
    return written
  }

  /// A fit to fewer lesions would say more about chance than about the images.
  private static let minimumLesions = 50
  private static let minimumLesionsOfLastLayer = 150
  /// The lesions of fewer patients say more about these patients than about others.
  private static let minimumUnits = 20

  private static func refusal(_ message: Sentence) -> DermaFusionError {
    DermaFusionError(.unusableFile, message: message, remedy: "Please calibrate with other photographs.")
  }

  private static func require(
    _ minimum: Int, lesions: [String], units: [ChanceUnit], labels: [LesionLabel], _ list: TestList
  ) throws(DermaFusionError) {
    let path = list.path
    let count = NameGroups(lesions).count
    guard count >= minimum else {
      throw refusal("\(path): \(count) lesions are too few to fit a model to; at least \(minimum) are needed")
    }
    let unitCount = NameGroups(units).count
    guard unitCount >= minimumUnits else {
      let kind = ChanceUnit.drawn(units)
      let joined = list.hasSharedLesions ? " (patients that share a lesion count as one)" : ""
      throw refusal(
        "\(path): its \(count) lesions are of \(unitCount) \(unitCount == 1 ? kind.singular : kind.rawValue)\(joined), which is too few to fit a model to; at least \(minimumUnits) \(kind.rawValue) are needed"
      )
    }
    guard labels.contains(where: { $0 != labels[0] }) else {
      throw refusal(
        "\(path): every photograph shows '\(labels[0].id)'; at least two classes are needed, because a fit to one would only lower the probability of all others"
      )
    }
  }

  /// - Parameter images: whose labels the model's answers say nothing of.
  private static func unrelated(_ images: [EvaluatedImage], _ path: String) -> DermaFusionError {
    let count = images.count { $0.probabilities.highest == $0.label }
    return DermaFusionError(
      .unusableFile,
      message:
        "\(path): the labels do not go together with the model's classes: the label is the likeliest class of \(count) of \(images.count) photographs, and the likeliest fit makes all classes equally probable",
      remedy:
        "Please check which column of the table has the class, and that its words mean the model's classes.")
  }

  /// The list of what a model has seen, with the images of a fit, and its fingerprints; none where the model's folder has none.
  private static func seenFiles(
    after run: EvaluationRun, of folder: String
  ) throws -> [(name: String, bytes: [UInt8])] {
    let path = "\(folder)/\(TrainingList.relativePath)"
    guard FileBytes.isThere(path) else { return [] }
    let list = try CSVTable(ofImages: FileBytes.read(path: path, limit: MetadataTable.byteLimit), path: path)
    let names = extended(list, by: Array(zip(run.names, run.images)))
    let fingerprints = run.sight.map { sight in
      TrainingFingerprints.bytes(of: sight.fingerprints + run.photographs.map { $0.sighting?.fingerprint })
    }
    return [(TrainingList.relativePath, Array(names.utf8))]
      + (fingerprints.map { [(TrainingFingerprints.relativePath, $0)] } ?? [])
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
