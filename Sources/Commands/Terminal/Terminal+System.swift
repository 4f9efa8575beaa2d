import SystemModule

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
