import Files
import SystemModule

/// The progress of a long command, on one line of the terminal that is written over; nothing where the errors go to a file
/// or a pipe, and for a single item.
package struct Progress {
  private let terminal: Terminal
  private let total: Int
  private let unit: String
  private let clock: () -> Double
  private let start: Double
  private var lastShown = -Double.infinity
  private(set) var doneCount = 0
  private(set) var failedCount = 0

  /// Seconds between two texts.
  private static let interval = 0.1
  /// Below so many seconds a rate means nothing.
  private static let leastElapsed = 0.5

  /// - Parameters:
  ///   - unit: what is counted, in the plural.
  ///   - clock: seconds that only grow.
  package init(
    terminal: Terminal, total: Int, unit: String = "images",
    clock: @escaping () -> Double = Self.seconds
  ) {
    self.terminal = terminal
    self.total = terminal.showsProgress && !terminal.isQuiet ? total : 0
    self.unit = unit
    self.clock = clock
    start = clock()
    show()
  }

  /// Seconds of a clock that only grows.
  package static func seconds() -> Double { MonotonicClock.milliseconds / 1000 }

  /// One item more is done.
  package mutating func advance(failed: Bool = false) {
    doneCount += 1
    if failed { failedCount += 1 }
    show()
  }

  /// Takes the line away while something else is written.
  package mutating func pause<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
    clear()
    try body()
    lastShown = -.infinity
    show()
  }

  /// Takes the line away.
  package func clear() {
    if total > 1 { terminal.overwriteLine("") }
  }

  private mutating func show() {
    guard total > 1 else { return }
    let now = clock()
    guard now - lastShown >= Self.interval else { return }
    lastShown = now
    terminal.overwriteLine(text(elapsed: now - start))
  }

  /// `412 of 900 images, 21.3 a second, 23 s left, 2 failed`, cut to the terminal's width: a line that wraps cannot be
  /// written over.
  func text(elapsed: Double) -> String {
    var parts = ["\(doneCount) of \(total) \(unit)"]
    if doneCount > 0, elapsed >= Self.leastElapsed {
      let rate = Double(doneCount) / elapsed
      parts.append(rate >= 1 ? rate.fixed(digits: 1) + " a second" : (1 / rate).fixed(digits: 1) + " s each")
      if doneCount < total { parts.append("\(Self.duration(Double(total - doneCount) / rate)) left") }
    }
    if failedCount > 0 { parts.append("\(failedCount) failed") }
    return String(parts.joined(separator: ", ").prefix((terminal.width ?? 80) - 1))
  }

  /// `23 s`, `4 min 10 s`, `2 h 5 min`
  package static func duration(_ seconds: Double) -> String {
    let whole = max(Int(seconds.rounded(.up)), 1)
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return whole % 60 == 0 ? "\(whole / 60) min" : "\(whole / 60) min \(whole % 60) s" }
    let minutes = whole / 60
    return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
  }
}
