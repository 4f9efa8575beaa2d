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
    \(Int(ConformalFit.coverage * 100)) % sets; and the distance of the features beyond which the model abstains, so that \
    one photograph in a hundred lies beyond it. A model that cannot abstain gets the bias and the temperature alone.

    The figures compare the model before and after on the same photographs. Those after are cross-fitted: the lesions \
    are dealt out to \(CalibrationComparison.foldCount) folds, and each fold is judged by a fit to the others. The model \
    that is written is fitted to all.

    Use photographs as they come: the new probabilities suit a collection like theirs. In the fit of the bias an image \
    of a rare class weighs more than one of a common class, and a melanoma weighs twice, because a missed melanoma costs \
    more than a false alarm. The command refuses fewer than \(CalibrationRefusal.minimumLesions) lesions, a class of the model without any \
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
    guard case .model(let model) = classifier.source else { throw CalibrationRefusal.ensemble(folder) }
    let list = try TestList(table, path: labelsPath, labels: classifier.labels)
    try require(list.entries.map(\.label), lesions: list.entries.map(\.lesion), classifier.labels, labelsPath)
    let overlap = try TrainingOverlap(list, model: folder, members: [])
    if overlap.trainedFolder != nil {
      throw CalibrationRefusal.trainedOn(lesions: overlap.trainingLesions, labels: labelsPath)
    }
    let files = try CalibratedFiles(folder, identity: classifier.model)
    let index = try ImageIndex(folders: arguments.values(of: CommandOption<String>.imageFolders))

    var run = EvaluationRun(arguments, classifier: classifier, index: index, terminal: terminal)
    try run.evaluate(list)
    let known = zip(run.images, run.outputs).map { image, output in
      CalibrationImage(
        lesion: image.lesion, label: image.label, logits: output.logits, distance: output.distance,
        reasons: image.abstention.reasons)
    }
    try require(known.map(\.label), lesions: known.map(\.lesion), classifier.labels, labelsPath)

    let present = ModelCalibration(model.configuration)
    let stored = files.model.stored
    let fitted = ModelCalibration(fittedTo: known, hasLimits: present.limits != nil, stored: stored)
    let report = CalibrationReport(
      origin: classifier.model, labels: classifier.labels, listedCount: list.rowCount,
      imageCounts: known.counts(classifier.labels),
      lesionCount: Set(known.map(\.lesion)).count, biasType: files.model.biasType,
      present: present, fitted: fitted,
      comparison: CalibrationComparison(known, present: present, stored: stored),
      calibratedBefore: overlap.validationLesions.count)
    let written = try files.write(report, entries: zip(run.names, run.images).map { ($0, $1) }, to: target)
    try terminal.write(
      CalibrationOutput(report: report, model: written, folder: target),
      as: arguments.value(of: OutputFormat.option))
    return run.status
  }

  /// - Throws: ``CalibrationRefusal`` where they are too few.
  private static func require(
    _ shown: [LesionLabel], lesions: [String], _ labels: Labels, _ path: String
  ) throws(CalibrationRefusal) {
    let count = Set(lesions.map(\.imageKey)).count
    guard count >= CalibrationRefusal.minimumLesions else { throw .fewLesions(count, path) }
    let missing = labels.filter { label in !shown.contains { $0.index == label.index } }
    guard missing.isEmpty else { throw .missingClasses(missing.map(\.id), path) }
  }
}

extension [CalibrationImage] {
  /// How many show each class.
  fileprivate func counts(_ labels: Labels) -> [Int] {
    labels.map { label in count { $0.label.index == label.index } }
  }
}
