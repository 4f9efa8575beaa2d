import DermaFusion
import Evaluation
import ImageCodecs
import SystemModule

/// Measures a model on images whose labels are known.
enum EvaluateCommand: Command {
  static let name = "evaluate"
  static let abstract = "Measure the model on images whose labels are known."
  static let discussion = """
    \(Wording.disclaimer)

    A row belongs to the file whose name without the ending is the image_id \
    (\(ImageFileName.endings.joined(separator: ", ")), or another ending or none, if its first bytes are an image's). \
    Without such a file, a row finds its image as in \(ClassifyCommand.name), and a note says so. The folders are searched in \
    the order given, with the folders below them; a row that could be that of several files in a folder is refused. Images \
    that are missing or cannot be read are named on standard error and left out; the output says how many were evaluated. An \
    image from which the model abstains counts by its likeliest class. The share of these images and the balanced accuracy without \
    them are given too.

    Balanced accuracy is the mean recall, and macro AUROC the mean area under the ROC curve of one class against \
    the rest, both over the classes that occur. Macro F1 is the mean F1 of the classes, with an image predicted as its \
    likeliest class; above 0.5, as each class whose probability is above 0.5, as the ISIC archive's scorer has it. Macro average \
    precision is the mean over the classes that occur. Melanoma sensitivity at 90 % specificity is the greatest share of the \
    melanomas that a threshold on their probability finds while at most a tenth of the other images reach it. Malignant \
    AUROC ranks by the summed probability of the malignant and pre-malignant classes. A model without melanoma, or that \
    does not say which classes are malignant, has no such figures (null in JSON). The negative log-likelihood is the mean \
    of -ln of the label's probability. The expected calibration error (ECE) is the gap between the greatest probability \
    and the accuracy over \(EvaluationSet.calibrationBinCount) bins of equal width. A figure that cannot be computed from \
    the images is undefined (null in JSON), not 0.

    If the table has \(TestList.weightColumn), as the ground truth of an ISIC challenge may, figures weigh the images by it, and \
    images of weight 0 count in none. Figures by \(TestList.validationColumn) follow on their own. \(TestList.weightlessImage) has \
    weight 0, as in isic-challenge-scoring.

    Intervals hold 95 % of \
    \(Bootstrap.resampleCount) bootstrap resamples, drawn with a fixed seed: by patient if the table's patient_id names one, otherwise by lesion (lesion_id), otherwise by image. A lesion of two patients joins them. In each resample a mean over \
    classes is over the classes drawn. There is no interval if all resamples agree, for example if every image is right. \
    Subgroups of fewer than \(EvaluationReport.sufficientCount) images are insufficient. Compare the figures of two \
    subgroups only where the same classes occur in both.

    When the model's folder holds \(TrainingList.relativePath) (image_id, lesion_id, split), a test list with \
    a lesion that the model was trained on is refused. The same holds for an ensemble and the folders of its members. If the \
    folder also holds \(TrainingFingerprints.relativePath), photographs that were trained on under other names are found by \
    their pixels, as in \(DuplicatesCommand.name), but for copies that are both cut and turned. They are counted, and figures \
    without their lesions follow.
    """
  static let options: [any AnyCommandOption] = [
    labels, CommandOption<String>.imageFolders, MetadataOptions.joinPatient, ModelLocation.option,
    CommandOption<Int>.threads,
    CommandOption<Precision>.precision, ImageViews.flag,
    AnswerUnit.option, group, format, plots, plotFormat, predictions,
    Flag.allowTrainingLesions, Flag.quiet,
  ]
  static let examples = [
    "dermafusion evaluate --labels test.csv --images photographs",
    "dermafusion evaluate --labels test.csv --images a --images b --plots plots",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every image was evaluated."),
    ("1", "An image, a table or the model failed, or was refused; standard error names it."),
  ]

  private static let labels = CommandOption<String>.path(
    "labels", valueName: "file.csv", isRequired: true,
    abstract: """
      Table with a row for each image and a comma, semicolon or tab between the columns: the image \
      (\(PatientColumns.imageNames.joined(separator: ", "))) and its class (dx, label or class with the id or the \
      name of one of the model's classes, the ISIC archive's own column, or a column for each class with a 1). Rows of the archive's other classes are left out and \
      counted. It may also have lesion_id, patient_id, score_weight and validation_weight, age or age_approx, sex, \
      localization or anatom_site_general, and \(TestList.confirmationColumn) (how the label was confirmed), by which \
      figures are grouped. Other columns are ignored. An empty cell, NA, nan, NULL, None, - and ? are missing; a region that \
      could be several of the sites is unknown. A row with a cell that cannot be understood is named and left out.
      """)
  private static let group = CommandOption<[String]>(
    "group", valueName: "column,...",
    abstract: """
      Give figures for each value of these columns of the table (skin_tone,device).
      """,
    expectation: """
      Please name columns of the table, each once; \
      \(EvaluationReport.Grouping.always.map(\.name).joined(separator: ", ")) are grouped by anyway, and 'all' stands for all \
      images in the output.
      """,
    initial: [],
    convert: { text in
      let names = text.split(separator: ",", omittingEmptySubsequences: false).map { String($0).trimmed }
      let taken = EvaluationReport.Grouping.always.map(\.name) + ["all"]
      let isUsable = names.allSatisfy { !$0.isEmpty && !taken.contains($0.lowercased()) }
      return isUsable && Set(names.map { $0.lowercased() }).count == names.count ? names : nil
    })
  private static let format = OutputFormat.figuresOption
  private static let predictions = CommandOption<String>.path(
    "predictions", valueName: "file.csv",
    abstract: """
      Also write a table with a row for each image: image_id, label, the probability of each class, and abstain (true or \
      false).
      """)
  private static let plots = CommandOption<String>.path(
    "plots", valueName: "folder",
    abstract: """
      Also write \(EvaluationPlots.fileNames(.svg).joined(separator: ", ")) to this folder, which is made when it is \
      missing.
      """)
  private static let plotFormat = CommandOption<EvaluationPlots.Format>.choice(
    "plot-format", valueName: "format", of: EvaluationPlots.Format.allCases, defaultValue: "svg",
    abstract: "Format of the plots.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    if arguments[plotFormat] != nil, arguments[plots] == nil {
      throw DermaFusionError.missingCompanion(plotFormat.display, companions: "'\(plots.display)'")
    }
    let plotForm = arguments[plotFormat] ?? .svg
    let labelsPath = arguments.value(of: labels)
    let table = try FileBytes.read(path: labelsPath, limit: MetadataTable.byteLimit)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let classifier = try session.classifier(folder, arguments)
    try classifier.requireOneLabel(folder: folder, Self.self)
    let index = try ImageIndex(folders: arguments.values(of: CommandOption<String>.imageFolders))
    var list = try TestList(
      table, path: labelsPath, labels: classifier.labels, images: index.sources,
      groups: arguments.value(of: group), reading: MetadataOptions.reading(arguments))
    let unit = arguments.value(of: AnswerUnit.option)
    if unit == .lesion { list.refuseMixedLesions() }
    var overlap = try TrainingOverlap(list, model: folder, members: classifier.members.map(\.folder))
    if !arguments[Flag.allowTrainingLesions] { try overlap.refuseTrained(labels: labelsPath) }
    if let plotsFolder = arguments[plots] { try FileBytes.makeFolder(plotsFolder) }
    let plotPaths =
      arguments[plots].map { folder in
        EvaluationPlots.fileNames(plotForm).map { "\(folder)/\($0)" }
      } ?? []
    let outputs = try OutputFiles(
      plotPaths.map { (plots.display, $0) }
        + (arguments[predictions].map { [(predictions.display, $0)] } ?? []),
      images: index.sources,
      table: ("the table of labels", labelsPath), model: folder, terminal: terminal)

    var run = EvaluationRun(arguments, classifier: classifier, index: index, terminal: terminal)
    run.sight = try ModelSight(ofModel: folder)
    try run.evaluate(list)
    overlap.add(run.photographs)
    if unit == .lesion { run.combineLesions() }
    guard !run.images.isEmpty else {
      terminal.report("\(labelsPath): none of its \(list.entries.count) images could be evaluated")
      return .failure
    }
    guard run.images.contains(where: { $0.weights.score > 0 }) else {
      throw DermaFusionError.failure(
        name: labelsPath, reason: "every image that was evaluated has the \(TestList.weightColumn) 0")
    }
    let output = EvaluationOutput(
      report: EvaluationReport(
        run.images, sources: arguments.values(of: CommandOption<String>.imageFolders).unique,
        columns: arguments.value(of: group), isSeen: { [overlap] in overlap.isSeen($0.lesion) }),
      model: classifier.model,
      listedCount: list.rowCount + run.frameCount, views: run.views, unit: unit, warnings: run.warnings,
      overlap: overlap)
    // Hours of work may lie behind each of them: where one cannot be written, the others are.
    let isPrinted = Result { () throws(DermaFusionError) in
      try terminal.write(output, as: arguments.value(of: format))
    }
    let isTableWritten = Result {
      guard let path = arguments[predictions] else { return }
      try outputs.write(Array(run.predictions(labels: classifier.labels).utf8), path: path)
    }
    if !plotPaths.isEmpty {
      let files = EvaluationPlots(output).files(plotForm)
      try outputs.write(zip(plotPaths, files).map { (bytes: $1, path: $0) })
    }
    try isTableWritten.get()
    try isPrinted.get()
    return run.status
  }
}
