import DermaFusion
import Evaluation

/// Times the model on this machine.
enum BenchCommand: Command {
  static let name = "bench"
  static let abstract = "Time the model on this machine."
  static let discussion = """
    Latency is the network alone, from the normalised image to the logits; preprocessing is from the pixels of \
    a 600x450 photograph to the network's input. Some runs come first and are not measured. \
    Of an ensemble, name the folder of a member.
    """
  static let options: [any AnyCommandOption] = [
    ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision, runs, profile, maps,
    OutputFormat.option,
  ]
  static let examples = [
    "dermafusion bench --threads 1 --profile",
    "DERMAFUSION_INSTRUCTION_SET=baseline dermafusion bench --runs 100",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The model was timed."), ("1", "The model cannot be loaded; standard error says why."),
    ("64", "Wrong usage."),
  ]

  private static let runs = CommandOption<Int>.wholeNumber(
    "runs", valueName: "n", in: 1...100_000, initial: 50, abstract: "Measured runs, 1 to 100000.")
  private static let profile = Flag(
    "profile", abstract: "Show each step of the network: shapes, least time, speed, share of the peak.")
  private static let maps = Flag(
    "maps",
    abstract: """
      Time the activation map of one class, from the normalised image on, by every method at the last feature map and at \
      the end of every stage; in forward passes too.
      """)

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let benchmark = Benchmark(
      try Model(
        directory: folder, threadCount: arguments[CommandOption<Int>.threads],
        precision: arguments[CommandOption<Precision>.precision]))
    let report = try benchmark.run(
      runCount: arguments.value(of: runs), profiles: arguments[profile], timesMaps: arguments[maps])
    try terminal.write(BenchmarkOutput(report: report), as: arguments.value(of: OutputFormat.option))
    return .success
  }
}
