import Foundation
import TestFiles
import Testing

/// The example in C, a program of its own.
@Suite struct CExampleTests {
  let folder = TemporaryFolder()
  let root = CInterfaceTests.root.path

  /// Both programs stand beside the tests.
  static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

  func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: [String]) {
    let process = Process()
    let output = folder.path + "/\(program).txt"
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments =
      ["-c", "exec \"$0\" \"$@\" >'\(output)' 2>&1", Self.programs.appending(path: program).path] + arguments
    try process.run()
    process.waitUntilExit()
    let text = String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
    return (process.terminationStatus, text.split(separator: "\n").map(String.init))
  }

  @Test(arguments: ["jpeg_orientation6.jpg", "black.png"])
  func itsJSONIsTheCommandLinesToTheByte(name: String) throws {
    let image = "\(root)/ParityFixtures/images/\(name)"
    let example = try run("CExample", ["\(root)/Weights", image, "55", "male", "back"])
    let command = try run(
      "dermafusion",
      [
        "classify", image, "--model", "\(root)/Weights", "--format", "json", "--age", "55", "--sex", "male",
        "--site",
        "back",
      ])
    #expect(example.status == 0 && command.status == 0)
    #expect(example.output.first == command.output.first)
    #expect(example.output.contains { $0.hasPrefix("map of ") })
  }

  @Test func anErrorIsToldAndNothingCrashes() throws {
    let image = "\(root)/ParityFixtures/images/black.png"
    let noModel = try run("CExample", ["/nowhere", image])
    #expect(noModel.status == 1)
    #expect(noModel.output.first?.hasPrefix("error 1: ") == true, "\(noModel.output)")
    let noImage = try run("CExample", ["\(root)/Weights", "\(root)/Package.swift"])
    #expect(noImage.status == 1)
    #expect(noImage.output.first?.hasPrefix("error 3: ") == true, "\(noImage.output)")
  }
}
