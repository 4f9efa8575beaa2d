/// What completions and the manual are made from: the same that help is made from.
package struct ProgramSummary: Sendable {
  package let name: String
  package let abstract: String
  package let discussion: String
  package let version: String
  package let commands: [any CommandDescription.Type]
  package let environment: [HelpEntry]
  package let exitStatuses: [HelpEntry]

  package init(
    name: String, abstract: String, discussion: String, version: String,
    commands: [any CommandDescription.Type], environment: [HelpEntry], exitStatuses: [HelpEntry]
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.version = version
    self.commands = commands
    self.environment = environment
    self.exitStatuses = exitStatuses
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
