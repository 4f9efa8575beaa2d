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
    forecast, OutputFormat.option,
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

  private static let forecast = Flag(
    "forecast",
    abstract: """
      Forecast the network's time on 1, 2, 4, 8 and 16 threads, which this machine need not have: the work is cut for so many, \
      and each task is timed alone. What threads cost each other is left out.
      """)

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let benchmark = try Benchmark(
      directory: folder, threadCount: arguments[CommandOption<Int>.threads],
      precision: arguments[CommandOption<Precision>.precision])
    let report = try benchmark.run(
      runCount: arguments.value(of: runs), profiles: arguments[profile], timesMaps: arguments[maps],
      forecasts: arguments[forecast])
    try terminal.write(BenchmarkOutput(report: report), as: arguments.value(of: OutputFormat.option))
    return .success
  }
}

/// A benchmark's report, for a program and for a person.
struct BenchmarkOutput: PlainReport {
  let report: Benchmark.Report

  var members: [(key: String, value: JSONValue)] {
    let steps = report.profile.map { step, milliseconds in
      JSONValue.object([
        "layer": .string(step.layer), "step": .string(step.title), "shapes": .string(step.shapes),
        "ms": .number(milliseconds),
        "gflops": .number(report.speed(multiplyAdds: step.multiplyAdds, milliseconds: milliseconds)),
      ])
    }
    return JSONValue.members([
      "model": report.model.json, "runs": .integer(report.latencies.count),
      "latencyMs": Self.spread(report.latencies),
      "preprocessMs": .number(report.preprocessing.percentile(50)), "threads": .integer(report.threadCount),
      "instructionSet": .string(report.instructionSet), "gflops": .number(report.speed),
      "peakGflopsPerThread": .number(report.peak), "profile": steps.isEmpty ? nil : .array(steps),
      "maps": report.maps.isEmpty ? nil : .array(report.maps.map(Self.map)),
      "forecasts": report.forecasts.isEmpty ? nil : .array(report.forecasts.map(Self.forecast)),
    ])
  }

  private static func map(_ timing: Benchmark.MapTiming) -> JSONValue {
    .object([
      "method": .string(timing.method.rawValue), "layer": .string(timing.layer),
      "ms": .number(timing.milliseconds), "forwardPasses": .number(timing.forwardPasses),
    ])
  }

  private static func forecast(_ forecast: Benchmark.Forecast) -> JSONValue {
    .object([
      "threads": .integer(forecast.threadCount), "ms": .number(forecast.milliseconds),
      "regions": .integer(forecast.regionCount),
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
    if !report.forecasts.isEmpty { lines += [""] + Self.forecasts(report.forecasts) }
    return lines
  }

  /// One row for each layer.
  private static func maps(_ timings: [Benchmark.MapTiming]) -> [String] {
    let methods = ActivationMapMethod.allCases
    let firsts = Array(stride(from: 0, to: timings.count, by: methods.count))
    let table = TextTable(
      names: .left("layer", least: 12, firsts.map { timings[$0].layer }),
      columns: methods.indices.map { index in
        .right(
          methods[index].displayName, 11,
          firsts.map { timings[$0 + index].forwardPasses.fixed(digits: 2) })
      })
    return ["Maps of one class, in forward passes, with the pass that each map needs"]
      + table.lines(width: nil)
  }

  private static func forecasts(_ forecasts: [Benchmark.Forecast]) -> [String] {
    let table = TextTable(
      names: .left("threads", least: 7, forecasts.map { "\($0.threadCount)" }),
      columns: [
        .right("ms", 9, forecasts.map { $0.milliseconds.fixed(digits: 2) }),
        .right(
          "speedup", 9,
          forecasts.map { (forecasts[0].milliseconds / $0.milliseconds).fixed(digits: 2) }),
        .right("regions", 9, forecasts.map { "\($0.regionCount)" }),
      ])
    return ["Forecast of the network, without what threads cost each other"] + table.lines(width: nil)
  }

  private var profile: [String] {
    let steps = report.profile.map { $0.step }
    let speeds = report.profile.map { step, milliseconds in
      report.speed(multiplyAdds: step.multiplyAdds, milliseconds: milliseconds)
    }
    let times = report.profile.map { $0.milliseconds }
    let table = TextTable(
      names: .left("layer", least: 12, steps.map(\.layer) + ["sum"]),
      columns: [
        .left("step", least: 27, steps.map(\.title) + [""]),
        .left("shapes", least: 34, steps.map(\.shapes) + [""]),
        .right("ms", 7, (times + [times.reduce(0, +)]).map { $0.fixed(digits: 3) }),
        .right("GFLOP/s", 9, speeds.map { $0.fixed(digits: 1) } + [""]),
        .right("of peak", 9, speeds.map { "\(report.shareOfPeak($0).fixed(digits: 0)) %" } + [""]),
      ])
    return table.lines(width: nil)
  }
}
