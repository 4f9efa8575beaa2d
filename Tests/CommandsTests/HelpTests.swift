import DermaFusion
import Foundation
import TestFiles
import Testing

@testable import Commands

@Suite struct HelpTests {
  @Test func helpOfTheTool() {
    #expect(
      runTool("--help").output == """
        OVERVIEW: Classify dermoscopy images on this machine, for research and
        education.

        DermaFusion is a research and educational tool. It is NOT a medical device and
        has NOT been approved by the FDA or any regulatory authority. Results should NOT
        be used for self-diagnosis. Always consult a qualified dermatologist for skin
        concerns.

        USAGE: dermafusion <subcommand>

        OPTIONS:
          -V, --version           Show the version.
          -h, --help              Show help information.

        SUBCOMMANDS:
          classify                Classify dermoscopy images into the classes of a
                                  model.
          gradcam                 Draw heatmaps of the regions that support a class.
          report                  Write a page with the results and heatmaps of images.
          evaluate                Measure the model on images whose labels are known.
          calibrate               Fit a model's probabilities and limits to images of
                                  your own.
          compare                 Compare two models on the same images.
          duplicates              Find near copies among images, or images that a model
                                  was trained on.
          embed                   Write the network's features of images as a NumPy
                                  array.
          preprocess              Write one stage of an image's preprocessing as a NumPy
                                  array.
          encode-metadata         Print the model's metadata vector as JSON.
          parity                  Compare every stage with what the Python pipeline
                                  computed.
          bench                   Time the model on this machine.
          info                    Show the version, the model, the instruction set,
                                  threads and preprocessing.
          doctor                  Check this machine, the program and the model, and say
                                  how to fix what is wrong.
          completions             Print a script that makes a shell complete commands,
                                  options and values.
          manual                  Print the manual page for man.

          See 'dermafusion help <subcommand>' for detailed help.

        ENVIRONMENT:
          DERMAFUSION_MODEL       Folder of the model, used without --model.
          DERMAFUSION_INSTRUCTION_SET
                                  Instruction set to compute with instead of the best
                                  that this machine has: baseline; avx2, avxvnni, avx512
                                  or avx512vnni on x86-64; dotprod on ARM. One that the
                                  machine does not have is wrong usage.
          NO_COLOR                No colours on a terminal, unless it is empty.

        EXIT STATUS:
          0                       All done.
          1                       Something failed; standard error names it. Of several
                                  images, the others got their results.
          64                      Wrong usage.
          128 + N                 Ended by signal N (SIGINT 130, SIGTERM 143, ...);
                                  half-written files were removed.
          132 to 136, 139         The program crashed: internal error or out of memory;
                                  standard error says so.

        """)
  }

  @Test func helpOfClassifyNamesWhatResultsSayOfAbstention() {
    let words = runTool("classify", "--help").output.split { $0.isWhitespace || "(),;.".contains($0) }
    for key in ["abstain", "abstainReasons", "conformalSet", "conformalCoverage"] {
      #expect(words.contains(Substring(key)), "\(key)")
    }
    for reason in AbstentionReason.allCases {
      #expect(words.contains(Substring(reason.rawValue)), "\(reason)")
    }
  }

  @Test func helpOfACommand() {
    #expect(
      runTool("preprocess", "--help").output == """
        OVERVIEW: Write one stage of an image's preprocessing as a NumPy array.

        decoded, cropped, resized and constancy are uint8 [height, width, 3]; normalized
        is float32 [3, size, size]. Size and constants are the model's, the same for
        each member of an ensemble. The file appears when it is complete.

        USAGE: dermafusion preprocess <image> --stage <stage> --output <file.npy>
                 [--model <folder>] [--max-pixels <n>] [--max-scanned-pixels <n>]
                 [--max-decoding-memory <MB>] [--max-decoding-time <s>]

        ARGUMENTS:
          <image>                 A file, FILE#N for frame N of a DICOM file, or - for
                                  an image's bytes on standard input.

        OPTIONS:
          --stage <stage>         Stage to write. (values: decoded, cropped, resized,
                                  constancy, normalized)
          -o, --output <file.npy> File to write; one that exists is replaced. - is
                                  standard output.
          --model <folder>        Folder of a model or an ensemble, or the name of one
                                  beside the installed model (info --models lists them).
                                  Without this option: $DERMAFUSION_MODEL, else Weights
                                  in the current folder, else Weights or
                                  share/dermafusion/Weights beside the program or in a
                                  folder above it.
          --max-pixels <n>        Refuse images of more pixels. The default is also the
                                  greatest value. (default: 178956970)
          --max-scanned-pixels <n>
                                  Refuse a JPEG whose pixels times scans are more. Each
                                  scan of a progressive file passes over the whole
                                  image. (default: 2000000000)
          --max-decoding-memory <MB>
                                  Refuse images that take more memory to decode. Images
                                  that are decoded at the same time share this memory
                                  and wait for it. (default: 1024)
          --max-decoding-time <s> Refuse an image that takes more seconds to decode.
                                  (default: 60)
          -V, --version           Show the version.
          -h, --help              Show help information.

        EXAMPLES:
          dermafusion preprocess lesion.jpg --stage normalized --output lesion.npy
          cat lesion.jpg | dermafusion preprocess - --stage decoded --output - > a.npy

        EXIT STATUS:
          0                       The array was written.
          1                       Something failed; standard error names it.
          64                      Wrong usage.

        """)
  }

  /// As a shell takes it apart, with `dermafusion` a function that says what it was given.
  @Test(
    arguments: Tool.dermafusion.commands.flatMap { command in command.examples.map { (command.name, $0) } })
  func everyExampleIsACommandLine(name: String, example: String) throws {
    // Examples that write into a person's folders write into the test's.
    let result = try ProgramTests().shell(
      """
      HOME=$PWD; mkdir -p .config/fish/completions; cat() { :; }
      dermafusion() { printf '%s\\n' "$@" >&2; }
      \(example)
      """)
    let words = result.errors.split(separator: "\n").map(String.init)
    #expect(words.first == name)
    let command = try #require(Tool.dermafusion.commands.first { $0.name == name })
    _ = try parsedArguments(
      Array(words.dropFirst()), positionals: command.positionals, options: command.options)
  }

  @Test func everyCommandHasExamples() {
    for command in Tool.dermafusion.commands { #expect(!command.examples.isEmpty, "\(command)") }
  }

  @Test func optionsThatMayBeRepeatedSaySo() {
    let help = runTool("evaluate", "--help").output
    #expect(
      help.contains(
        """
        USAGE: dermafusion evaluate --labels <file.csv> --images <folder> ...
                 [--join-patient] [--model <folder>] [--threads <n>]
                 [--precision <type>] [--tta] [--by <unit>] [--group <column,...>]
                 [--format <format>] [--plots <folder>] [--plot-format <format>]
                 [--predictions <file.csv>] [--allow-training-lesions] [--quiet]

        """), "\(help)")
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }
}
