import ImageLists
import JSONModule
import CommandLineSupport
import DermaFusion

/// Prints the vector that the model would get.
package enum EncodeMetadataCommand: Command {
  package static let name = "encode-metadata"
  package static let abstract = "Print the model's metadata vector as JSON."
  package static let discussion = """
    The vector is [age / 100 within 0 to 1, or 0 when missing; 1 when the age is missing; index of the sex; \
    index of the site]. What was not given, or was given as unknown, is listed as missing.
    """
  package static let positionals: [Positional] = []
  package static let options = MetadataOptions.all
  package static let runsNetwork = false
  package static let examples = [
    "dermafusion encode-metadata --age 55 --sex female --site back"
  ]
  package static let exitStatuses: [HelpEntry] = [
    ("0", "The vector was printed."), ("1", "It cannot be written; standard error says why."),
    ("64", "Wrong usage."),
  ]

  package static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let metadata = try MetadataOptions.metadata(arguments, entry: nil)
    let json = JSONValue.object([
      "vector": .array(metadata.encoded().values.map(JSONValue.float)),
      "missing": .strings(metadata.missing),
    ])
    try session.terminal.write(json.text + "\n")
    return .success
  }
}
