import Foundation
import TestFiles
import Testing

@testable import Commands

@Suite struct DocumentCommandTests {
  let program = ProgramTests()
  var folder: TemporaryFolder { program.folder }

  /// The words that bash offers for a command line whose last word is being typed.
  private func offered(_ words: String...) throws -> [String] {
    let line = words.map { "'\($0)'" }.joined(separator: " ")
    folder.write(
      """
      compopt() { :; }
      \(runTool("completions", "bash").output)
      COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1)
      _dermafusion; printf '%s\\n' "${COMPREPLY[@]}"
      """, to: "ask.bash")
    let result = try program.shell("bash --norc ask.bash")
    #expect(result.status == 0, "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
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
    for (shell, check) in [(Completions.Shell.bash, "-n"), (.zsh, "-n"), (.fish, "--no-execute")] {
      folder.write(runTool("completions", shell.rawValue).output, to: "script")
      let result = try program.shell("! command -v \(shell) > found || \(shell) \(check) script")
      #expect(result.status == 0, "\(shell): \(result.errors)")
    }
  }

  @Test func anUnknownShellIsWrongUsage() {
    let result = runTool("completions", "tcsh")
    result.expect(
      .usage,
      "Error: The value 'tcsh' is invalid for '<shell>'. Please provide one of 'bash', 'zsh' or 'fish'.")
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
