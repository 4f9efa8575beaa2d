import DermaFusion
import ImageFiles
import SystemModule

/// What the commands on images have in common: the images, what is known of the patients, and the model's folder.
struct BatchInput: Sendable {
  let images: ImageList
  let modelFolder: String
  let limits: DecodingLimits
  private let arguments: ParsedArguments
  private let table: MetadataTable?

  /// Reads the table and the folders, not the images.
  init(_ arguments: ParsedArguments, terminal: Terminal) throws {
    self.arguments = arguments
    images = try ImageList(arguments.positionals)
    table = try MetadataOptions.readTable(arguments)
    modelFolder = try ModelLocation.folder(arguments, terminal: terminal)
    limits = DecodingOptions.limits(arguments)
    images.leftOut.note(on: terminal, isQuiet: arguments[Flag.quiet])
  }

  /// The files that the command writes, checked against what it reads.
  func outputs(_ outputs: [(display: String, path: String)], terminal: Terminal) throws -> OutputFiles {
    try OutputFiles(
      outputs, images: images.sources,
      table: arguments[MetadataOptions.table].map { ("the table of metadata", $0) }, model: modelFolder,
      terminal: terminal)
  }

  /// What the options and the table say of the patient.
  func metadata(of source: ImageSource) throws -> PatientMetadata {
    try MetadataOptions.metadata(arguments, entry: table?.entry(ofImage: source.name))
  }

  /// Tells a person of a model that was not fitted to abstain.
  func noteModel(_ classifier: Classifier, on terminal: Terminal) {
    let configurations =
      classifier.members.isEmpty
      ? [classifier.configuration] : classifier.members.map(\.model.configuration)
    guard configurations.allSatisfy({ $0.abstention == nil }), !arguments[Flag.quiet] else { return }
    terminal.noteOnScreen(
      """
      Note: \(classifier.model.name) has no limits of abstention: it answers pictures that show no skin too, and abstains \
      only from damaged, black and single-coloured ones.
      """)
  }

  /// Tells of images and rows of the table that do not go one to one.
  func noteTable(on terminal: Terminal) {
    guard let table, !arguments[Flag.quiet] else { return }
    for note in table.notes(onImages: images.sources.map(\.name)) { terminal.note("Note: \(note)") }
  }
}
