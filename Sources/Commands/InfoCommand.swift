import DermaFusion

/// Says what would compute, with which model.
enum InfoCommand: Command {
  static let name = "info"
  static let abstract = "Show the version, the model, the instruction set, threads and preprocessing."
  static let options: [any AnyCommandOption] = [
    ModelLocation.option, models, CommandOption<Int>.threads, CommandOption<Precision>.precision, OutputFormat.option,
  ]
  static let examples = [
    "dermafusion info",
    "dermafusion info --model ensemble/first --format json",
    "dermafusion info --models",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The model can be loaded, and everything was shown."),
    ("1", "The model cannot be loaded; standard error says why."), ("64", "Wrong usage."),
  ]

  private static let models = Flag(
    "models",
    abstract: "List the models that --model finds by name instead: the model itself and those in its folder.")

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    if arguments[models] {
      return try list(folder, arguments, session)
    }
    let classifier = try session.classifier(folder, arguments)
    try terminal.write(
      InfoReport(classifier: classifier, folder: folder), as: arguments.value(of: OutputFormat.option))
    return .success
  }

  private static func list(_ folder: String, _ arguments: ParsedArguments, _ session: Session) throws
    -> ExitStatus
  {
    var report = ModelList(models: [])
    var hasFailed = false
    for name in [nil] + ModelLocation.names(beside: folder) {
      let path = name.map { "\(folder)/\($0)" } ?? folder
      do {
        let classifier = try session.classifier(path, arguments)
        report.models.append(ModelList.Model(name: name, folder: path, classifier: classifier))
      } catch {
        session.terminal.report("\(error)")
        hasFailed = true
      }
    }
    try session.terminal.write(report, as: arguments.value(of: OutputFormat.option))
    return hasFailed ? .failure : .success
  }
}
