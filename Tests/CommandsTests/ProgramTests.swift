import Files
import Foundation
import TestFiles
import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

/// The program itself, as users run it: in a process of its own, through a shell.
@Suite struct ProgramTests {
  let folder = TemporaryFolder()

  /// The program stands beside the tests: both are built into one folder.
  static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("dermafusion").path

  /// Runs a line of shell in which `$dermafusion` is the program.
  func shell(_ line: String) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "(\(line)) >output.txt 2>errors.txt"]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ["dermafusion": Self.program, "PATH": "/usr/bin:/bin"]
    try process.run()
    process.waitUntilExit()
    return (
      process.terminationStatus, folder.text(of: "output.txt") ?? "", folder.text(of: "errors.txt") ?? ""
    )
  }

  @Test func theProgramStandsBesideTheTests() {
    #expect(FileManager.default.isExecutableFile(atPath: Self.program), "\(Self.program)")
  }

  @Test func dataGoesToStandardOutputAndTheStatusIsZero() throws {
    let result = try shell("$dermafusion encode-metadata --age 55 --sex male --site back")
    #expect(result.status == 0)
    #expect(result.output == "{\"vector\":[0.55,0.0,0.0,2.0],\"missing\":[]}\n")
    #expect(result.errors == "")
  }

  @Test func wrongUsageIsStatus64OnStandardError() throws {
    let result = try shell("$dermafusion classify a.png --age abc")
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("Error: The value 'abc' is invalid for '--age <age>'."))
    #expect(result.errors.hasSuffix("See 'dermafusion classify --help' for more information.\n"))
  }

  @Test func aWordThatIsNotUTF8IsWrongUsage() throws {
    let result = try shell("$dermafusion classify \"$(printf 'caf\\351.jpg')\"")
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("Error: The argument 'caf\\xE9.jpg' is not UTF-8 text.\n"))
  }

  @Test(arguments: ["avx1024", "AVX2", " "])
  func anInstructionSetThatThereIsNotIsWrongUsage(name: String) throws {
    let result = try shell("DERMAFUSION_INSTRUCTION_SET='\(name)' $dermafusion info --model nowhere")
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(
      result.errors.hasPrefix(
        "Error: the environment variable DERMAFUSION_INSTRUCTION_SET is '\(name)', and must be one of those that "
          + "this machine runs: baseline"))
    #expect(result.errors.split(separator: "\n").count == 1)
    let none = try shell("DERMAFUSION_INSTRUCTION_SET='' $dermafusion info --model nowhere")
    #expect(none.errors == "Error: nowhere: there is no such model folder\n")
  }

  /// The shipped network as a whole: each set of kernels adds up in an order of its own.
  @Test func instructionSetsAgree() throws {
    var expected: [String: Double]?
    for name in ["baseline", "avx2", "avxvnni", "avx512", "avx512vnni"] {
      let result = try shell(
        """
        DERMAFUSION_INSTRUCTION_SET=\(name) $dermafusion classify --format json --model \(Self.root)/Weights \
        \(Self.root)/ParityFixtures/images/phantom_brown.jpg
        """)
      // What this machine cannot run is refused, as the test above holds; the baseline runs everywhere.
      if result.status == 64, name != "baseline" { continue }
      try #require(result.status == 0, "\(name): \(result.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      let logits = try #require(object?["logits"] as? [String: Double], "\(name): \(result.output)")
      #expect(logits.count == 7)
      for (lesionClass, logit) in expected ?? logits {
        #expect(abs(logits[lesionClass, default: .nan] - logit) <= 1e-3, "\(name): \(lesionClass) \(logits)")
      }
      expected = expected ?? logits
    }
  }

  @Test func aModelThatIsMissingIsStatus1() throws {
    let result = try shell("$dermafusion classify a.png --model nowhere")
    #expect(result.status == 1)
    #expect(result.output == "")
    #expect(result.errors == "Error: nowhere: there is no such model folder\n")
  }

  @Test func standardInputIsReadAsBytes() throws {
    folder.write(pnm(width: 40, height: 33), to: "image.ppm")
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    let result = try shell(
      "cat image.ppm | $dermafusion preprocess - --stage decoded --output out.npy --model model")
    #expect(result.status == 0, "\(result.errors)")
    let array = try NPYFile.readBytes(try #require(folder.contents(of: "out.npy")))
    #expect(array.shape == [33, 40, 3])
    #expect(array.values == pnm(width: 40, height: 33).suffix(40 * 33 * 3))
  }

  @Test func aTableFromAPipeIsReadOnce() throws {
    folder.write(pnm(), to: "image.ppm")
    folder.write("image_id,lesion_id\nimage,L1\n", to: "table.csv")
    try SmallModel.write(to: "\(folder.path)/model", size: 32)
    let result = try shell(
      "cat table.csv | $dermafusion classify image.ppm --metadata /dev/stdin --by lesion --format csv --model model"
    )
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("\nL1,image,image,image.ppm,"), "\(result.output)")
  }

  @Test func aPipeThatNobodyReadsEndsTheProgramQuietly() throws {
    // The reader has gone before the program writes: it takes one line, which is written first, and ends.
    let result = try shell(
      """
      mkfifo pipe gone
      (head -n 1 < pipe > line; echo > gone) &
      (echo; read ended < gone; $dermafusion --help; echo $? > status) > pipe
      """)
    #expect(result.errors == "")
    #expect(folder.contents(of: "status") == Array("0\n".utf8))
  }

  @Test func aFileThatGrowsTooLargeIsNamedAndLeavesNothing() throws {
    folder.write(pnm(width: 140, height: 133), to: "image.ppm")
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    let result = try shell(
      "ulimit -f 10; $dermafusion preprocess image.ppm --stage decoded --model model --output out.npy")
    #expect(result.status == 1)
    #expect(result.errors == "Error: out.npy: cannot be written: File too large\n")
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(left == ["errors.txt", "image.ppm", "model", "output.txt"])
  }

  @Test func outputThatIsFullOrClosedIsStatus1() throws {
    if FileManager.default.fileExists(atPath: "/dev/full") {
      let full = try shell("$dermafusion --help > /dev/full")
      #expect(full.status == 1)
      #expect(full.errors == "Error: standard output cannot be written: No space left on device\n")
    }
    let closed = try shell("$dermafusion --help >&-")
    #expect(closed.status == 1)
    #expect(closed.errors == "Error: standard output cannot be written: Bad file descriptor\n")
  }

  @Test func aFileThatIsWrittenNeverTakesThePlaceOfAClosedStream() throws {
    // Were standard error's number given to the array's file, the warning would end in it.
    folder.write(pnm(width: 40, height: 33), to: "image.ppm")
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    let result = try shell(
      "$dermafusion preprocess image.ppm --stage resized --output out.npy --model model 2>&- >&- <&-")
    #expect(result.status == 0)
    #expect(try NPYFile.readBytes(try #require(folder.contents(of: "out.npy"))).shape == [48, 48, 3])
  }

  @Test func anArrayGoesToStandardOutputWhateverThatIs() throws {
    folder.write(pnm(width: 40, height: 33), to: "image.ppm")
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    let command = "$dermafusion preprocess image.ppm --stage decoded --model model --output"
    let plain = try shell("\(command) plain.npy")
    #expect(plain.status == 0, "\(plain.errors)")
    let expected = try #require(folder.contents(of: "plain.npy"))
    for line in [
      "/dev/stdout | cat > piped", "/dev/stdout > piped", "piped > piped", "/dev/fd/1 > piped", "- > piped",
    ] {
      let result = try shell("\(command) \(line)")
      #expect(result.status == 0 && result.errors == "", "\(line): \(result.errors)")
      #expect(folder.contents(of: "piped") == expected, "\(line)")
    }
    // A file that is named - is not standard output.
    let dash = try shell(
      "cp image.ppm -; $dermafusion preprocess ./- --stage decoded --model model --output - | cat > piped")
    #expect(dash.errors == "")
    #expect(folder.contents(of: "piped") == expected)
    #expect(folder.contents(of: "-") == folder.contents(of: "image.ppm"))
    let appended = try shell("printf before > piped; \(command) /dev/stdout >> piped")
    #expect(appended.status == 0)
    #expect(folder.contents(of: "piped") == Array("before".utf8) + expected)
    let same = try shell(
      "\(command) image.ppm < image.ppm; $dermafusion preprocess - --stage decoded --model model --output image.ppm < image.ppm"
    )
    #expect(same.status == 64)
    #expect(folder.contents(of: "image.ppm") == pnm(width: 40, height: 33))
  }

  /// The content of a log is kept, and what follows goes behind the array.
  @Test(arguments: ["/dev/stderr", "/dev/fd/2", "/dev/fd/3"])
  func anArrayGoesToAStreamOfTheCaller(path: String) throws {
    folder.write(pnm(width: 40, height: 33), to: "image.ppm")
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    let command = "$dermafusion preprocess image.ppm --stage decoded --model model --output"
    let plain = try shell("\(command) plain.npy")
    #expect(plain.status == 0, "\(plain.errors)")
    let result = try shell(
      "exec 4>&2 2>>log 3>&2; printf before >&2; \(command) \(path); printf after >&2; exec 2>&4")
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    let expected = try #require(folder.contents(of: "plain.npy"))
    #expect(folder.contents(of: "log") == Array("before".utf8) + expected + Array("after".utf8))
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "this system has no /dev/full"))
  func anArrayThatFindsNoRoomIsNamed() throws {
    folder.write(pnm(width: 40, height: 33), to: "image.ppm")
    folder.write(toyConfiguration(usesMetadata: true), to: "model/config.json")
    let command = "$dermafusion preprocess image.ppm --stage decoded --model model --output"
    let file = try shell("\(command) /dev/full")
    #expect(file.status == 1)
    #expect(file.errors == "Error: /dev/full: cannot be written: No space left on device\n")
    let stream = try shell("\(command) /dev/stdout > /dev/full")
    #expect(stream.status == 1)
    #expect(stream.errors == "Error: standard output cannot be written: No space left on device\n")
    let closed = try shell("\(command) /dev/stdout >&-")
    #expect(closed.status == 1)
    #expect(closed.errors == "Error: standard output cannot be written: Bad file descriptor\n")
  }

  @Test func withoutATerminalThereIsNoColour() throws {
    let result = try shell("TERM=xterm $dermafusion help classify")
    #expect(!result.output.contains("\u{1B}"))
  }

  /// The package's own folder.
  static let root = Fixtures.root.path

  @Test
  func theShippedModelIsFoundAndGivesTheSameBytesForAnyNumberOfThreads() throws {
    let image = "\(Self.root)/ParityFixtures/images/phantom_melanoma.jpg"
    let options = "--age 60 --sex female --site back --format json"
    let one = try shell("$dermafusion classify '\(image)' \(options) --threads 1")
    #expect(one.status == 0)
    #expect(one.errors == "")
    #expect(one.output.hasPrefix("{\"schemaVersion\":2,\"image\":\"\(image)\",\"imageSHA256\":\""))
    for threads in [2, 5] {
      #expect(
        try shell("$dermafusion classify '\(image)' \(options) --threads \(threads)").output == one.output)
    }
  }
}
