/// Help in the sections and columns that users of Swift's own tools know.
package enum Help {
  /// Descriptions begin here; a longer label pushes its description to the next line.
  static let descriptionColumn = 26
  static let width = 80

  /// The help of one command.
  package static func text(for command: any Command.Type, in tool: String) -> String {
    var sections = [("OVERVIEW: " + command.abstract).wrapped(width: width, indent: 0)]
    if !command.discussion.isEmpty { sections.append(command.discussion.wrapped(width: width, indent: 0)) }
    sections.append(usage(of: command, in: tool, title: "USAGE:"))
    if !command.positionals.isEmpty {
      sections.append(section("ARGUMENTS", command.positionals.map { ("<\($0.name)>", $0.abstract) }))
    }
    let options = command.options.map { ($0.fullDisplay, description(of: $0)) }
    sections.append(section("OPTIONS", options + commonOptions))
    sections.append("EXAMPLES:\n" + command.examples.map { "  " + $0 }.joined(separator: "\n"))
    sections.append(section("EXIT STATUS", command.allExitStatuses))
    return sections.joined(separator: "\n\n") + "\n"
  }

  /// `USAGE: dermafusion classify <image> ... [--age <age>]`, wrapped under the command's name.
  package static func usage(of command: any Command.Type, in tool: String, title: String) -> String {
    let positionals = command.positionals.map { $0.isRepeated ? "<\($0.name)> ..." : "<\($0.name)>" }
    let options = command.options.map { option in
      let display = option.display + (option.isRepeatable ? " ..." : "")
      return option.isRequired ? display : "[\(display)]"
    }
    let start = "\(title) \(tool) \(command.name)"
    var lines = [start]
    for word in positionals + options {
      if lines[lines.count - 1].count + 1 + word.count > width {
        lines.append(String(repeating: " ", count: title.count) + " " + "  " + word)
      } else {
        lines[lines.count - 1] += " " + word
      }
    }
    return lines.joined(separator: "\n")
  }

  package static let commonOptions: [HelpEntry] = [
    ("-V, --version", "Show the version."),
    ("-h, --help", "Show help information."),
  ]

  static func description(of option: any AnyCommandOption) -> String {
    var notes: [String] = []
    if !option.allowedValues.isEmpty {
      notes.append("values: " + option.allowedValues.joined(separator: ", "))
    }
    if let value = option.defaultValue { notes.append("default: " + value) }
    return notes.isEmpty ? option.abstract : "\(option.abstract) (\(notes.joined(separator: "; ")))"
  }

  package static func section(_ title: String, _ entries: [HelpEntry]) -> String {
    let lines = TextTable.labelled(
      entries.map { ($0.label, $0.description) }, indent: 2, column: descriptionColumn, width: width)
    return "\(title):\n" + lines.joined(separator: "\n")
  }
}
