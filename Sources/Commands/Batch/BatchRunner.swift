import DermaFusion
import SystemModule

/// Does a command's work on many images: results in their order, progress, failures by name, and the closing summary.
struct BatchRunner {
  let terminal: Terminal
  private(set) var summary = BatchSummary()
  /// Messages of what failed, each of which was reported.
  private(set) var failures: [Sentence] = []

  init(terminal: Terminal) { self.terminal = terminal }

  /// The exit status, by what failed so far.
  var status: ExitStatus { failures.isEmpty ? .success : .failure }

  /// Reports something that failed.
  mutating func fail(_ message: Sentence) {
    terminal.report(message)
    failures.append(message)
    summary.addFailure()
  }

  /// - Parameters:
  ///   - classifier: whose threads work on several items at once.
  ///   - workerCount: threads that work without a classifier.
  ///   - writesOnScreen: whether `consume` writes where the progress is shown.
  ///   - interruption: what a person who interrupts the batch is told.
  ///   - work: for one item; called on several threads. What it throws is reported and ends nothing, except for
  ///     wrong usage and output that cannot be written.
  ///   - consume: is given the results in the order of the items, on the calling thread. Returns what the summary counts.
  mutating func run<Item: Sendable, Value: Sendable>(
    _ items: [Item], sideBySideOn classifier: Classifier?, workerCount: Int = 1,
    writesOnScreen: Bool = false, interruption: String, work: @escaping @Sendable (Item) throws -> Value,
    consume: (Value) throws -> Classification?
  ) throws {
    if items.count > 1, !terminal.isQuiet {
      terminal.setInterruptionMessage("Interrupted. \(interruption)".printable)
    }
    defer { terminal.setInterruptionMessage(nil) }
    var progress = Progress(terminal: terminal, total: items.count)
    defer { progress.clear() }
    var severalPictures = 0
    let outcome = { @Sendable (item: Item) -> Result<Value, any Error> in Result { try work(item) } }
    func take(_ outcome: Result<Value, any Error>) throws {
      switch outcome {
      case .failure(let error as DermaFusionError) where error.isUsage || error.isOfOutput: throw error
      case .failure(let error):
        progress.pause { fail((error as? DermaFusionError)?.fault ?? "\(String(describing: error))") }
        progress.advance(failed: true)
      case .success(let value):
        var result: Classification?
        // Only what is written on the same screen needs room.
        if writesOnScreen {
          try progress.pause { result = try consume(value) }
        } else {
          result = try consume(value)
        }
        if let result {
          summary.add(result)
          if result.warnings.contains(.severalPictures) { severalPictures += 1 }
        }
        progress.advance()
      }
    }
    if let classifier {
      try classifier.forEach(items, outcome) { (outcome) throws(any Error) in try take(outcome) }
    } else {
      try ParallelMap.forEach(items, workerCount: workerCount, outcome) { (outcome) throws(any Error) in
        try take(outcome)
      }
    }
    if severalPictures > 0 {
      let subject = severalPictures == 1 ? "1 image file holds" : "\(severalPictures) image files hold"
      progress.clear()
      terminal.remark("\(subject) several pictures, of which only the first was looked at.")
    }
  }

  /// Tells a person how many images got which result.
  ///
  /// - Parameter other: the summary to show instead of the images'.
  func showSummary(ofImages count: Int, _ other: BatchSummary? = nil) {
    if count > 1 { terminal.noteOnScreen((other ?? summary).sentences.joined(separator: " ")) }
  }
}
