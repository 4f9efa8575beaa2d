import DermaFusion
import ImageCodecs
import SystemModule

extension Tool {
  /// The program `dermafusion`: a new command is one more entry here.
  package static let dermafusion = Tool(
    name: "dermafusion",
    abstract: "Classify dermoscopy images on this machine, for research and education.",
    discussion: Wording.disclaimer,
    commands: [
      ClassifyCommand.self, GradCAMCommand.self, ReportCommand.self, EvaluateCommand.self,
      CalibrateCommand.self, CompareCommand.self, DuplicatesCommand.self, EmbedCommand.self,
      PreprocessCommand.self, EncodeMetadataCommand.self, ParityCommand.self,
      BenchCommand.self, InfoCommand.self, DoctorCommand.self, CompletionsCommand.self, ManualCommand.self,
    ],
    environment: [
      (
        ModelLocation.environmentVariable,
        "Folder of the model, used without --model."
      ),
      (
        Classifier.instructionSetVariable,
        """
        Instruction set to compute with instead of the best that this machine has: baseline; avx2, avxvnni, \
        avx512 or avx512vnni on x86-64; dotprod on ARM. One that the machine does not have is wrong usage.
        """
      ),
      ("NO_COLOR", "No colours on a terminal, unless it is empty."),
    ],
    exitStatuses: [
      ("0", "All done."),
      ("1", "Something failed; standard error names it. Of several images, the others got their results."),
      ("64", "Wrong usage."),
      (
        "128 + N",
        "Ended by signal N (SIGINT 130, SIGTERM 143, ...); half-written files were removed."
      ),
      (
        "132 to 136, 139",
        "The program crashed: internal error or out of memory; standard error says so."
      ),
    ])

  /// Runs what the process's own command line asks for, and ends the process.
  package static func main() -> Never {
    FreshPages.keepFreed()
    // Before anything else takes memory: want of it is told too.
    let terminal = Terminal.system()
    if DecodingProcess.isAsked(Program.words) {
      Program.exit(status: DecodingProcess.answer(Program.words))
    }
    if let executable = terminal.executablePath { DecodingProcess.use(executable: executable) }
    Program.exit(status: dermafusion.run(Program.words, session: Session(terminal: terminal)).rawValue)
  }
}
