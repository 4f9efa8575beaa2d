import SystemModule

extension Terminal {
  /// The process's own standard streams and environment.
  package static func system() -> Terminal {
    ProgramSignals.install()
    StandardStreams.prepare()
    let isTerminal = StandardStreams.outputIsTerminal
    let hasControls = Program.environment("TERM") != "dumb"
    let refusesColour = Program.environment("NO_COLOR").map { !$0.isEmpty } ?? false
    return Terminal(
      output: StandardStreams.output, errors: StandardStreams.errors, readInput: StandardStreams.readInput,
      width: isTerminal ? StandardStreams.outputWidth() : nil,
      usesColour: isTerminal && !refusesColour && hasControls,
      showsProgress: StandardStreams.errorsAreTerminal && hasControls,
      environment: Program.environment, isStandardOutput: StandardStreams.isStandardOutput,
      setInterruptionMessage: ProgramSignals.setInterruptionMessage, date: Program.date,
      executablePath: Program.executablePath())
  }
}
