import Foundation
import TestFiles
import TestModels
import Testing

/// The built program as a person sees it, on a terminal.
@Suite struct TerminalTests {
  private static let weights = Fixtures.root.appendingPathComponent("Weights").path
  private static let images = ["phantom_brown.jpg", "phantom_melanoma.jpg"].map {
    Fixtures.root.appendingPathComponent("ParityFixtures/images/\($0)").path
  }.filter { FileManager.default.fileExists(atPath: $0) }

  /// The lines on the screen in the end: a line that was written over counts as it was last.
  private func screen(_ text: String) -> [String] {
    text.components(separatedBy: "\n").map { line in
      let last = line.components(separatedBy: "\r").last ?? ""
      var plain = ""
      var rest = last[...]
      while let escape = rest.firstIndex(of: "\u{1B}") {
        plain += rest[..<escape]
        rest = rest[escape...].drop { !$0.isLetter }.dropFirst()
      }
      return plain + rest
    }
  }

  private func run(_ words: [String], width: Int, environment: [String: String] = ["TERM": "xterm"]) throws
    -> (
      status: Int32, text: String
    )
  {
    let terminal = try #require(Pseudoterminal(width: width))
    return try terminal.run(
      ProgramTests.program, words,
      environment: environment.merging(["DERMAFUSION_MODEL": Self.weights]) { first, _ in first })
  }

  @Test(arguments: [60, 80, 200])
  func manyImagesAreATableThatFitsAndProgressLeavesNothing(width: Int) throws {
    let words = ["classify"] + Self.images + Self.images + ["missing.jpg"]
    let (status, text) = try run(words, width: width)
    #expect(status == 1)
    #expect(text.contains("of \(words.count - 1) images"), "no progress in \(text)")
    let lines = screen(text)
    for line in lines { #expect(line.count <= min(width, 100), "\(width): '\(line)'") }
    #expect(!lines.contains { $0.contains("of \(words.count - 1) images") }, "progress was left: \(lines)")
    #expect(lines.count { $0.contains("phantom_brown.jpg") || $0.contains("tom_brown.jpg") } == 2, "\(lines)")
    #expect(lines.joined(separator: " ").components(separatedBy: "NOT a medical device").count == 2)
    #expect(lines.contains { $0.contains("missing.jpg") && $0.hasPrefix("Error: ") })
  }

  @Test func noColourWhereNobodyWantsIt() throws {
    let (status, text) = try run(
      ["classify", "--quiet"] + Self.images, width: 80, environment: ["TERM": "xterm", "NO_COLOR": "1"])
    #expect(status == 0)
    #expect(!text.contains("\u{1B}"), "\(text)")
    let dumb = try run(["classify"] + Self.images, width: 80, environment: ["TERM": "dumb"])
    #expect(!dumb.text.contains("\u{1B}") && !dumb.text.contains("\r"), "\(dumb.text)")
  }

  /// Names of files may hold what a terminal obeys.
  @Test func tablesHoldNothingThatATerminalObeys() throws {
    let folder = TemporaryFolder()
    let name = "p\u{1B}[31m\u{202E}"
    try FileManager.default.createDirectory(
      atPath: folder.path + "/images", withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: try #require(Self.images.first), toPath: "\(folder.path)/images/\(name).jpg")
    let labels = folder.write("image_id,dx\n\(name),mel\n", to: "labels.csv")
    for words in [
      ["embed", "\(folder.path)/images", "--output", "\(folder.path)/e.npy", "--ids", "-"],
      ["evaluate", "--labels", labels, "--images", "\(folder.path)/images", "--predictions", "-"],
    ] {
      let (status, text) = try run(words + ["--quiet"], width: 80, environment: ["TERM": "dumb"])
      #expect(status == 0)
      #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"), "\(text)")
      #expect(text.contains("\\u{1B}[31m"), "\(text)")
    }
    // An array is no text.
    let (status, text) = try run(
      ["embed", "\(folder.path)/images", "--output", "-", "--quiet"], width: 80, environment: ["TERM": "dumb"]
    )
    #expect(status == 64 && text.contains("is a terminal, which cannot show this output"), "\(text)")
  }

  @Test(arguments: [44, 60, 80, 200])
  func aResultFits(width: Int) throws {
    let (status, text) = try run(["classify", try #require(Self.images.first)], width: width)
    #expect(status == 0)
    let lines = screen(text)
    for line in lines.dropFirst() { #expect(line.count <= min(width, 100), "\(width): '\(line)'") }
    #expect(lines.contains { $0.contains("█") } == (width > 44), "\(lines)")
  }

  @Test(arguments: [60, 80, 200])
  func helpAndDoctorFit(width: Int) throws {
    let doctor = try run(["doctor"], width: width)
    #expect(doctor.status == 0)
    let isPath = { (line: String) in line.contains("/") }
    for line in screen(doctor.text) where !isPath(line) { #expect(line.count <= min(width, 100), "\(line)") }
    #expect(doctor.text.contains("Images can be classified."))
  }
}

/// The built program in pipes and files.
extension ProgramTests {
  @Test func withoutWordsTheProgramShowsItsHelp() throws {
    let bare = try shell("$dermafusion")
    #expect(bare.status == 0 && bare.errors == "")
    #expect(bare.output == (try shell("$dermafusion --help")).output)
  }

  @Test func aPipeThatCloseEndsQuietly() throws {
    let result = try shell("{ $dermafusion help gradcam; echo $? > status; } | head -n 1")
    #expect(result.errors == "")
    #expect(result.output.hasPrefix("OVERVIEW: "))
  }

  /// All results of a command are written if they are files, and failures stay failures, when nobody reads the text.
  @Test func aPipeThatClosesHidesNoFailureAndLeavesNoFileOut() throws {
    for seed in 0..<3 { folder.write(pnm(width: 140, height: 133, seed: seed), to: "\(seed).ppm") }
    folder.write("no image", to: "broken.ppm")
    let weights = Fixtures.root.appendingPathComponent("Weights").path
    // The reader ends at once: each line is written to a pipe that nobody reads.
    func status(_ words: String) throws -> String {
      _ = try shell("{ sleep 1; $dermafusion \(words) --model '\(weights)'; echo $? > status; } | true")
      return folder.text(of: "status") ?? ""
    }
    #expect(try status("classify 0.ppm 1.ppm 2.ppm --format json") == "0\n")
    #expect(try status("classify broken.ppm 1.ppm 2.ppm --format json") == "1\n")
    #expect(try status("gradcam 0.ppm 1.ppm 2.ppm --format json --output maps") == "0\n")
    let made = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/maps").sorted()
    #expect(made.count == 3, "\(made)")
  }

  @Test func aWrongValueSuggestsTheRightOne() throws {
    let result = try shell("$dermafusion classify a.png --site bak")
    #expect(result.status == 64)
    #expect(result.errors.contains("Did you mean 'back'?"), "\(result.errors)")
  }

  @Test func anInstalledProgramFindsItsModelThroughALink() throws {
    let weights = Fixtures.root.appendingPathComponent("Weights").path
    let result = try shell(
      """
      mkdir -p prefix/bin prefix/share/dermafusion elsewhere && cp "$dermafusion" prefix/bin/ \
      && ln -s '\(weights)' prefix/share/dermafusion/Weights && ln -s ../prefix/bin/dermafusion elsewhere/df \
      && cd elsewhere && ./df info --format json
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("/prefix/share/dermafusion/Weights"), "\(result.output)")
  }
}
