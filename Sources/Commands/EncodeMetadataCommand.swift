import DermaFusion
import Files

/// Prints the vector that the model would get.
enum EncodeMetadataCommand: Command {
  static let name = "encode-metadata"
  static let abstract = "Print the model's metadata vector as JSON."
  static let discussion = """
    The vector is [age / 100 within 0 to 1, or 0 when missing; 1 when the age is missing; index of the sex; \
    index of the site]. What was not given, or was given as unknown, is listed as missing.
    """
  static let options = MetadataOptions.all
  static let runsNetwork = false
  static let examples = [
    "dermafusion encode-metadata --age 55 --sex female --site back"
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The vector was printed."), ("1", "It cannot be written; standard error says why."),
    ("64", "Wrong usage."),
  ]

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let metadata = try MetadataOptions.metadata(arguments, entry: nil)
    let json = JSONValue.object([
      "vector": .array(metadata.encoded().values.map(JSONValue.float)),
      "missing": .strings(metadata.missing),
    ])
    try session.terminal.write(json.text + "\n")
    return .success
  }
}
