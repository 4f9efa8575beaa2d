import DermaFusion
import SystemModule

/// The places that a command reads and writes, and what it may ask about its surroundings: a value, so that tests can
/// run commands with all of it in memory.
package struct Terminal: Sendable {
  /// Data.
  package let output: any ByteOutput
  /// Everything else.
  package let errors: any ByteOutput
  /// Reads standard input to its end, at most as many bytes as asked for.
  package let readInput: @Sendable (_ limit: Int) throws(DermaFusionError) -> [UInt8]
  /// Characters a line when a person looks at the output, or `nil` when it goes to a file or a pipe.
  package let width: Int?
  /// True if a person looks at the output and wants colour.
  package let usesColour: Bool
  /// True if a person looks at the errors and can be told how far a long command has come.
  package var showsProgress = false
  /// True if neither progress nor remarks are wanted.
  package var isQuiet = false
  /// The value of an environment variable.
  package let environment: @Sendable (String) -> String?
  /// True if a path is that of standard output: `-`, or one that leads to the same pipe, file or terminal.
  package var isStandardOutput: @Sendable (String) -> Bool = { _ in false }
  /// The language of failures, where it has words for them.
  package var language = Language.english
  /// The message after Ctrl-C; nil: none.
  package var setInterruptionMessage: @Sendable (String?) -> Void = { _ in }
  /// Today, as `2026-11-24`; empty where the output must not depend on it.
  package var date: @Sendable () -> String = { "" }
  /// Absolute path of the running program with symbolic links followed; `nil` when it cannot be known.
  package let executablePath: String?

  /// Writes data, all of it before this returns.
  package func write(_ text: String) throws(DermaFusionError) {
    try output.write(Array(text.utf8))
  }

  /// The errors, for text that has no room among the data because another form of data fills standard output. Where they cannot
  /// be written, the text is left out.
  package var textBesideData: any ByteOutput { LenientOutput(output: errors) { _ in true } }

  /// The output of a command whose results are files, which are written whether or not somebody reads the text.
  package var outputBesideFiles: any ByteOutput {
    LenientOutput(output: output) { $0.code == .closedOutput }
  }

  /// Writes one failure to the errors in ``language``, on one line whatever names and values it holds, then the advice if
  /// there is any. A failure to do so is not reported: there is nowhere left to.
  package func report(_ message: Sentence, advice: String? = nil) {
    let lines = ["Error: \(language.words(of: message).printable)", advice].compactMap { $0 }
    try? errors.write(Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  /// Puts a text in the place of the errors' last line, which was written so, too; no text clears it.
  package func overwriteLine(_ text: String) {
    try? errors.write(Array("\r\(text.printable)\u{1B}[K".utf8))
  }

  /// Writes a remark that is neither data nor a failure to the errors, on one line.
  package func note(_ message: String) {
    try? errors.write(Array("\(message.printable)\n".utf8))
  }

  /// Writes a note that is left out if the terminal is to be quiet.
  func remark(_ message: String) {
    if !isQuiet { note("Note: \(message)") }
  }

  /// Writes a remark only where a person looks at the errors: a script gets nothing there but what failed.
  package func noteOnScreen(_ message: String) {
    guard showsProgress, !isQuiet else { return }
    for line in message.wrapped(width: width, indent: 0).split(separator: "\n") { note(String(line)) }
  }
}

/// Leaves out what cannot be written.
private struct LenientOutput: ByteOutput {
  let output: any ByteOutput
  /// True for failures that are left out.
  let leavesOut: @Sendable (DermaFusionError) -> Bool

  func write(_ bytes: [UInt8]) throws(DermaFusionError) {
    do throws(DermaFusionError) {
      try output.write(bytes)
    } catch {
      if !leavesOut(error) { throw error }
    }
  }
}

extension Terminal {
  /// The process's own standard streams and environment.
  package static func system() -> Terminal {
    ProgramSignals.install()
    StandardStreams.prepare()
    let isTerminal = StandardStreams.outputIsTerminal
    let hasControls = Environment.value("TERM") != "dumb"
    let refusesColour = Environment.value("NO_COLOR").map { !$0.isEmpty } ?? false
    return Terminal(
      output: StandardStreams.output, errors: StandardStreams.errors, readInput: StandardStreams.readInput,
      width: isTerminal ? StandardStreams.outputWidth() : nil,
      usesColour: isTerminal && !refusesColour && hasControls,
      showsProgress: StandardStreams.errorsAreTerminal && hasControls,
      environment: Environment.value, isStandardOutput: StandardStreams.isStandardOutput,
      setInterruptionMessage: ProgramSignals.setInterruptionMessage, date: Program.date,
      executablePath: Program.executablePath())
  }
}
