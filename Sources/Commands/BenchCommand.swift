import DermaFusion
import Evaluation
import Files

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

/// A benchmark's report, for a program and for a person.
struct BenchmarkOutput: PlainReport {
  let report: Benchmark.Report

  var members: [(key: String, value: JSONValue)] {
    var members: [(key: String, value: JSONValue)] = [
      ("model", report.model.json),
      ("runs", .integer(report.latencies.count)), ("latencyMs", Self.spread(report.latencies)),
      ("preprocessMs", .number(report.preprocessing.percentile(50))),
      ("threads", .integer(report.threadCount)), ("instructionSet", .string(report.instructionSet)),
      ("gflops", .number(report.speed)), ("peakGflopsPerThread", .number(report.peak)),
    ]
    if !report.profile.isEmpty {
      members.append(
        (
          "profile",
          .array(
            report.profile.map { step, milliseconds in
              .object([
                "layer": .string(step.layer), "step": .string(step.title), "shapes": .string(step.shapes),
                "ms": .number(milliseconds),
                "gflops": .number(report.speed(multiplyAdds: step.multiplyAdds, milliseconds: milliseconds)),
              ])
            })
        ))
    }
    if !report.maps.isEmpty { members.append(("maps", .array(report.maps.map(Self.map)))) }
    return members
  }

  private static func map(_ timing: Benchmark.MapTiming) -> JSONValue {
    .object([
      "method": .string(timing.method.rawValue), "layer": .string(timing.layer),
      "ms": .number(timing.milliseconds), "forwardPasses": .number(timing.forwardPasses),
    ])
  }

  private static func spread(_ values: [Double]) -> JSONValue {
    .object([
      "min": .number(values[0]), "p50": .number(values.percentile(50)), "p90": .number(values.percentile(90)),
      "p99": .number(values.percentile(99)),
    ])
  }

  func lines(width: Int?) -> [String] {
    let latencies = report.latencies
    let share = report.shareOfPeak(report.speed)
    var lines = [
      "Model            \(report.model.words)",
      "Kernels          \(report.instructionSet), \(report.threadCount) "
        + (report.threadCount == 1 ? "thread" : "threads"),
      "Latency          \(latencies.percentile(50).fixed(digits: 2)) ms (least \(latencies[0].fixed(digits: 2)), "
        + "90 % within \(latencies.percentile(90).fixed(digits: 2)), 99 % within \(latencies.percentile(99).fixed(digits: 2)); "
        + "\(latencies.count) runs)",
      "Preprocessing    \(report.preprocessing.percentile(50).fixed(digits: 2)) ms",
      "Speed            \(report.speed.fixed(digits: 1)) GFLOP/s, \(share.fixed(digits: 0)) % of the measured peak "
        + "of \(report.peak.fixed(digits: 1)) GFLOP/s a thread",
    ]
    if !report.profile.isEmpty { lines += [""] + profile }
    if !report.maps.isEmpty { lines += [""] + Self.maps(report.maps) }
    return lines
  }

  /// One row for each layer.
  private static func maps(_ timings: [Benchmark.MapTiming]) -> [String] {
    let methods = ActivationMapMethod.allCases
    var lines = [
      "Maps of one class, in forward passes, with the pass that each map needs",
      "layer".padding(to: 12) + methods.map { $0.displayName.leftPadding(to: 11) }.joined(),
    ]
    for start in stride(from: 0, to: timings.count, by: methods.count) {
      let row = timings[start..<start + methods.count]
      lines.append(
        row[start].layer.padding(to: 12)
          + row.map { $0.forwardPasses.fixed(digits: 2).leftPadding(to: 11) }.joined())
    }
    return lines
  }

  private var profile: [String] {
    let steps = report.profile.map { $0.step }
    func width(_ heading: String, _ cells: [String], atLeast least: Int) -> Int {
      max(([heading] + cells).map(\.count).max()! + 1, least)
    }
    let layers = width("layer", steps.map(\.layer), atLeast: 12)
    let titles = width("step", steps.map(\.title), atLeast: 27)
    let shapes = width("shapes", steps.map(\.shapes), atLeast: 34)
    let heading =
      "layer".padding(to: layers) + "step".padding(to: titles) + "shapes".padding(to: shapes)
      + "     ms  GFLOP/s  of peak"
    let total = report.profile.reduce(0) { $0 + $1.milliseconds }
    return [heading]
      + report.profile.map { step, milliseconds in
        let speed = report.speed(multiplyAdds: step.multiplyAdds, milliseconds: milliseconds)
        let share = report.shareOfPeak(speed)
        return step.layer.padding(to: layers) + step.title.padding(to: titles)
          + step.shapes.padding(to: shapes)
          + milliseconds.fixed(digits: 3).leftPadding(to: 7) + speed.fixed(digits: 1).leftPadding(to: 9)
          + "\(share.fixed(digits: 0)) %".leftPadding(to: 9)
      } + ["sum".padding(to: layers + titles + shapes) + total.fixed(digits: 3).leftPadding(to: 7)]
  }
}
