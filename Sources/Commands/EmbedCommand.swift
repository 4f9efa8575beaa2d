import DermaFusion
import Evaluation
import Files
import ImageFiles
import SystemModule

/// Writes what the network sees in images, for programs that compare, search or group them.
enum EmbedCommand: Command {
  static let name = "embed"
  static let abstract = "Write the network's features of images as a NumPy array."
  static let discussion = """
    The array is float32 [images, channels], a row for each image in the order given: the means of the network's last \
    feature map, from which the classes follow. They are not scaled, and the age, the sex and the site do not change \
    them. Features of two models cannot be compared. Every image gets a row, even if the model would abstain. \
    Folders are searched as in '\(ClassifyCommand.name)'.

    An image that fails is named on standard error and has no row; --ids lists the image of each row. The files appear \
    when they are complete. Features come from one network: of an ensemble, name the folder of a member. A folder of timm \
    whose network was saved without a last layer (num_classes 0) will do.
    """
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    [
      output, ids, ModelLocation.option, CommandOption<Int>.threads, CommandOption<Precision>.precision,
      Flag.quiet,
    ] + DecodingOptions.all
  static let examples = [
    "dermafusion embed photographs --output features.npy --ids features.csv",
    "cat lesion.jpg | dermafusion embed - --output - > features.npy",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every image has its row."),
    ("1", "Something failed; standard error names it. The other images got their rows."),
  ]

  private static let output = CommandOption<String>.path(
    "output", valueName: "file.npy", isRequired: true,
    abstract: "Array to write; one that exists is replaced. - is standard output.")
  private static let ids = CommandOption<String>.path(
    "ids", valueName: "file.csv",
    abstract: """
      Also write a table with a row for each row of the array: image_id (the file's name without its ending) and image. - is \
      standard output.
      """)

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let path = arguments.value(of: output)
    let input = try BatchInput(arguments, terminal: terminal)
    let outputs = try input.outputs(
      [(output.display, path)] + (arguments[ids].map { [(ids.display, $0)] } ?? []), terminal: terminal)
    let classifier = try session.classifier(input.modelFolder, arguments, needsClasses: false)
    try requireSingleNetwork(classifier, folder: input.modelFolder)

    var features: [Float] = []
    var table = ClassificationCSV.line(["image_id", "image"])
    var count = 0
    var runner = BatchRunner(terminal: terminal)
    try runner.run(
      input.images.items, sideBySideOn: classifier, interruption: "\(path) was not written."
    ) { item in
      let source = try item.get()
      return try source.naming {
        let features = try classifier.features(
          ofFile: source.read(terminal: terminal), frame: source.frame, limits: input.limits)
        return (imageName: source.name, features: features)
      }
    } consume: { image in
      features += image.features
      table += ClassificationCSV.line(ClassificationCSV.names(image.imageName))
      count += 1
      return nil
    }
    guard count > 0 else { return .failure }
    let channels = features.count / count
    var files = [(bytes: NPYFile.bytes(features, shape: [count, channels]), path: path)]
    if let ids = arguments[ids] { files.append((Array(table.utf8), ids)) }
    try outputs.write(files)
    let failed = runner.failures.isEmpty ? "" : " \(runner.failures.count) failed."
    terminal.noteOnScreen(
      "\(path): \(count) \(count == 1 ? "image" : "images"), \(channels) features each.\(failed)")
    return runner.status
  }

  private static func requireSingleNetwork(
    _ classifier: Classifier, folder: String
  ) throws(DermaFusionError) {
    if classifier.members.isEmpty { return }
    throw DermaFusionError.failure(
      name: "\(folder)/config.json",
      reason: """
        features are of one network, and this is an ensemble; name the folder of one of its members as the model \
        (\(classifier.members.map(\.folder).joined(separator: ", ")))
        """)
  }
}
