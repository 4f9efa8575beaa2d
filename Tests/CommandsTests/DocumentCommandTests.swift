import Foundation
import TestFiles
import Testing

@testable import Commands

@Suite struct DocumentCommandTests {
  let folder = TemporaryFolder()

  /// The words that bash offers for a command line whose last word is being typed.
  private func offered(_ words: String...) throws -> [String] {
    let script = runTool("completions", "bash").output
    folder.write(script, to: "completions.bash")
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    process.arguments = [
      "--norc", "-c",
      """
      compopt() { :; }; source completions.bash; COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1)
      _dermafusion; printf '%s\\n' "${COMPREPLY[@]}"
      """,
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func bashOffersCommandsOptionsAndValues() throws {
    #expect(try offered("dermafusion", "cl") == ["classify"])
    #expect(try offered("dermafusion", "gradcam", "--cl") == ["--class"])
    #expect(try offered("dermafusion", "classify", "--sex", "") == ["male", "female", "unknown"])
    // A blank is escaped, or the shell would take the value for two words.
    #expect(try offered("dermafusion", "classify", "--site", "low") == ["lower\\ extremity"])
    #expect(try offered("dermafusion", "classify", "--site", "lower\\ ext") == ["lower\\ extremity"])
    #expect(try offered("dermafusion", "classify", "--site", "\"lower e") == ["lower extremity"])
    #expect(try offered("dermafusion", "completions", "") == ["bash", "zsh", "fish"])
    #expect(try offered("dermafusion", "help", "eval") == ["evaluate"])
    folder.write("x", to: "lesion of a back.jpg")
    #expect(try offered("dermafusion", "classify", "les") == ["lesion of a back.jpg"])
    #expect(try offered("dermafusion", "classify", "lesion\\ of") == ["lesion of a back.jpg"])
    #expect(try offered("dermafusion", "classify", "--metadata", "les") == ["lesion of a back.jpg"])
  }

  @Test func everyShellKnowsEveryOption() {
    for shell in Completions.Shell.allCases {
      let script = runTool("completions", shell.rawValue).output
      for command in Tool.dermafusion.commands {
        #expect(script.contains(command.name), "\(shell) lacks \(command.name)")
        for option in command.options {
          let spelling = shell == .fish ? "-l \(option.name)" : "--\(option.name)"
          #expect(script.contains(spelling), "\(shell) lacks \(spelling) of \(command.name)")
        }
      }
    }
  }

  /// Those shells that are installed read their script without complaint.
  @Test func shellsReadTheirScripts() throws {
    for (shell, check) in [(Completions.Shell.bash, ["-n"]), (.zsh, ["-n"]), (.fish, ["--no-execute"])] {
      let path = ["/bin/", "/usr/bin/"].map { $0 + shell.rawValue }
        .first { FileManager.default.isExecutableFile(atPath: $0) }
      guard let path else { continue }
      folder.write(runTool("completions", shell.rawValue).output, to: "script")
      let process = Process()
      process.executableURL = URL(fileURLWithPath: path)
      process.arguments = check + [folder.path + "/script"]
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(shell)")
    }
  }

  @Test func anUnknownShellIsWrongUsage() {
    let result = runTool("completions", "tcsh")
    #expect(result.status == .usage)
    #expect(
      result.errors.hasPrefix(
        "Error: The value 'tcsh' is invalid for '<shell>'. Please provide one of 'bash', 'zsh' or 'fish'."))
  }

  @Test func theManualNamesWhatHelpNames() {
    let page = runTool("manual").output
    #expect(page.contains(".TH DERMAFUSION 1"))
    let plain = page.replacingOccurrences(of: "\\-", with: "-")
    for command in Tool.dermafusion.commands {
      #expect(plain.contains("\n.SS \(command.name)\n"))
      for option in command.options {
        #expect(plain.contains(".B \(option.fullDisplay)"), "\(command.name) \(option.fullDisplay)")
      }
    }
    // A line that begins with a dot is a request, and roff knows only these.
    for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(
        [".\\\"", ".TH", ".SH", ".SS", ".PP", ".TP", ".B ", ".I ", ".nf", ".fi"].contains {
          line.hasPrefix($0)
        }, "\(line)")
    }
  }
}
