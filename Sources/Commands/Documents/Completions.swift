import DermaFusion

/// Prints a script that a shell completes command lines by.
enum CompletionsCommand: Command {
  static let name = "completions"
  static let abstract = "Print a script that makes a shell complete commands, options and values."
  static let positionals = [
    Positional(
      "shell", allowedValues: Completions.Shell.allCases.map { $0.rawValue }, abstract: "bash, zsh or fish.")
  ]
  static let examples = [
    #"eval "$(dermafusion completions bash)""#,
    "dermafusion completions fish > ~/.config/fish/completions/dermafusion.fish",
  ]
  static let exitStatuses: [HelpEntry] = [("0", "The script was printed.")]
  static let runsNetwork = false

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    guard let shell = Completions.Shell(rawValue: arguments.positionals[0]) else {
      preconditionFailure("\(arguments.positionals[0]) passed the parser")
    }
    try session.terminal.write(Completions.script(for: shell, Tool.dermafusion))
    return .success
  }
}

/// Scripts that make shells complete a program's commands, options and values.
package enum Completions {
  package enum Shell: String, Sendable, CaseIterable {
    case bash, zsh, fish
  }

  package static func script(for shell: Shell, _ program: Tool) -> String {
    switch shell {
    case .bash: bash(program)
    case .zsh: zsh(program)
    case .fish: fish(program)
    }
  }

  private static func names(_ program: Tool) -> [String] {
    program.commands.map { $0.name } + ["help"]
  }

  private static func options(_ command: any Command.Type) -> [String] {
    command.options.map { "--\($0.name)" } + ["--help", "--version"]
  }

  private static func values(_ command: any Command.Type) -> [String] {
    command.positionals.first?.allowedValues ?? []
  }

  // MARK: - bash

  private static func bash(_ program: Tool) -> String {
    let function = "_\(program.name)"
    var cases: [String] = []
    for command in program.commands {
      for option in command.options where option.valueName != nil {
        let action =
          option.isPath
          ? "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))"
          : option.allowedValues.isEmpty ? "" : "\(function)_words \(quoted(option.allowedValues))"
        cases.append("    \(command.name):--\(option.name)) \(action.isEmpty ? ":" : action); return ;;")
      }
    }
    let commandCases = program.commands.map { command in
      let plain = values(command)
      let arguments =
        plain.isEmpty
        ? (command.positionals.isEmpty
          ? ":" : "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\"))")
        : "\(function)_words \(quoted(plain))"
      return """
            \(command.name)) if [[ $current == -* ]]; then \(function)_words \(quoted(options(command))); \
        else \(arguments); fi ;;
        """
    }
    return """
      # Completions of \(program.name) \(DermaFusionVersion.current) for bash, made by '\(program.name) completions bash'.

      # Offers those of its arguments, one a word, that begin with what is typed.
      \(function)_words() {
        local word
        COMPREPLY=()
        for word in "$@"; do
          [[ $word == "$current"* ]] || continue
          if [[ -n $quote ]]; then COMPREPLY+=("$word"); else COMPREPLY+=("$(printf '%q' "$word")"); fi
        done
      }

      \(function)() {
        local IFS=$'\\n' current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word quote=''
        COMPREPLY=()
        # bash gives the word as it was typed, with its quotation mark or its backslashes.
        case $current in
          [\\"\\']*) quote=${current:0:1} current=${current:1} ;;
          *) current=${current//\\\\/} ;;
        esac
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
          if [[ $word != -* ]]; then command=$word; break; fi
        done
        case "$command:$previous" in
      \(cases.joined(separator: "\n"))
        esac
        case "$command" in
          '') \(function)_words \(quoted(names(program) + ["--help", "--version"])) ;;
          help) \(function)_words \(quoted(names(program))) ;;
      \(commandCases.joined(separator: "\n"))
        esac
      }

      complete -F \(function) \(program.name)

      """
  }

  private static func quoted(_ words: [String]) -> String {
    words.map { $0.singleQuoted }.joined(separator: " ")
  }

  // MARK: - zsh

  private static func zsh(_ program: Tool) -> String {
    let commands = program.commands.map { "    \("\($0.name):\($0.abstract.firstClause)".singleQuoted)" }
    let cases = program.commands.map { command in
      var specs = command.options.map(zshSpec)
      specs += ["'--help[Show help information]'", "'--version[Show the version]'"]
      if let positional = command.positionals.first {
        let values = positional.allowedValues
        specs.append(
          "'\(positional.isRepeated ? "*" : "1"):\(positional.name):\(values.isEmpty ? "_files" : "(\(values.joined(separator: " ")))")'"
        )
      }
      return
        "    \(command.name))\n      _arguments -S \\\n        \(specs.joined(separator: " \\\n        ")) ;;"
    }
    return """
      #compdef \(program.name)
      # Completions of \(program.name) \(DermaFusionVersion.current) for zsh, made by '\(program.name) completions zsh'.

      _\(program.name)() {
        local -a commands
        commands=(
      \(commands.joined(separator: "\n"))
          'help:Show help'
        )
        if (( CURRENT == 2 )); then
          _describe -t commands command commands
          _arguments '--help[Show help information]' '--version[Show the version]'
          return
        fi
        local command=$words[2]
        shift words
        (( CURRENT-- ))
        case $command in
          help) _describe -t commands command commands ;;
      \(cases.joined(separator: "\n"))
        esac
      }

      _\(program.name) "$@"

      """
  }

  private static func zshSpec(_ option: any AnyCommandOption) -> String {
    let description = option.abstract.firstClause.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }
      .joined()
    let values = option.allowedValues.map { $0.map { $0 == " " ? "\\ " : String($0) }.joined() }
    let action = option.isPath ? "_files" : values.isEmpty ? " " : "(\(values.joined(separator: " ")))"
    let value =
      option.valueName.map { ":\($0.map { $0 == ":" ? "\\:" : String($0) }.joined()):\(action)" } ?? ""
    return "\(option.isRepeatable ? "*" : "")--\(option.name)[\(description)]\(value)".singleQuoted
  }

  // MARK: - fish

  private static func fish(_ program: Tool) -> String {
    let start = "complete -c \(program.name)"
    var lines = [
      "# Completions of \(program.name) \(DermaFusionVersion.current) for fish, made by '\(program.name) completions fish'.",
      "",
      "\(start) -n __fish_use_subcommand -f",
      "\(start) -l help -s h -d 'Show help information'",
      "\(start) -l version -d 'Show the version'",
      "\(start) -n __fish_use_subcommand -a help -d 'Show help'",
      "\(start) -n '__fish_seen_subcommand_from help' -f -a \(fishList(names(program)))",
    ]
    for command in program.commands {
      lines.append(
        "\(start) -n __fish_use_subcommand -a \(command.name) -d \(fishQuoted(command.abstract.firstClause))")
      let condition = "-n '__fish_seen_subcommand_from \(command.name)'"
      if !values(command).isEmpty { lines.append("\(start) \(condition) -f -a \(fishList(values(command)))") }
      if command.positionals.isEmpty { lines.append("\(start) \(condition) -f") }
      for option in command.options {
        let value =
          option.valueName == nil
          ? ""
          : option.isPath
            ? " -r -F" : " -x" + (option.allowedValues.isEmpty ? "" : " -a \(fishList(option.allowedValues))")
        lines.append(
          "\(start) \(condition) -l \(option.name)\(value) -d \(fishQuoted(option.abstract.firstClause))")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fishQuoted(_ text: String) -> String {
    "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
  }

  /// A list of words as one word: fish splits it at blanks, where they are not escaped.
  private static func fishList(_ words: [String]) -> String {
    "'" + words.map { $0.map { $0 == " " ? "\\ " : String($0) }.joined() }.joined(separator: " ") + "'"
  }
}

extension String {
  /// For a POSIX shell: `'it'\''s'`.
  var singleQuoted: String { "'" + map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'" }

  /// Up to its first full stop or colon that a blank follows, for descriptions that have one line.
  var firstClause: String {
    var previous: Character = " "
    for index in indices {
      if self[index] == " ", previous == "." || previous == ":" || previous == ";" {
        return String(self[..<self.index(before: index)])
      }
      previous = self[index]
    }
    return hasSuffix(".") ? String(dropLast()) : self
  }
}
