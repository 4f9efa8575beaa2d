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
    let classifier =
      try HeadlessModel.classifier(input.modelFolder, arguments)
      ?? session.classifier(input.modelFolder, arguments)
    try requireSingleNetwork(classifier, folder: input.modelFolder)

    var features: [Float] = []
    var table = ClassificationCSV.line(["image_id", "image"])
    var count = 0
    var runner = BatchRunner(arguments, terminal: terminal)
    try runner.run(
      input.images.items, sideBySideOn: classifier, interruption: "\(path) was not written."
    ) { item in
      let source = try item.get()
      return try source.naming {
        // As a whole, so that what is no result is no row either.
        let answer = try classifier.run(
          ImageRequest(frame: source.frame), onFile: source.read(terminal: terminal), limits: input.limits)
        return (imageName: source.name, features: answer.output.pooled)
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
    if !arguments[Flag.quiet] {
      let failed = runner.failures.isEmpty ? "" : " \(runner.failures.count) failed."
      terminal.noteOnScreen(
        "\(path): \(count) \(count == 1 ? "image" : "images"), \(channels) features each.\(failed)")
    }
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

/// A network of timm that was saved without a last layer (`num_classes` is 0). It has features and no classes.
private enum HeadlessModel {
  /// The network with a last layer of zeros, so that it can be loaded as others are; no feature depends on that layer. Nil for
  /// any other model.
  static func classifier(
    _ folder: String, _ arguments: ParsedArguments
  ) throws(DermaFusionError) -> Classifier? {
    // Loading the model names a file that cannot be read.
    guard let bytes = try? FileBytes.read(path: "\(folder)/\(ConfigurationFile.name)", limit: 4 << 20),
      case .object(let root)? = try? JSONParser.parse(bytes), root["format_version"] == nil,
      case .number(let count)? = root["num_classes"], count.integer == 0,
      let weights = try? FileBytes.read(
        path: "\(folder)/\(ModelFolder.weightsName)", limit: SafetensorsFile.byteLimit)
    else { return nil }
    let named = root.members.filter { !labelKeys.contains($0.key) }.map { ($0.key, withoutCount($0.value)) }
    let configuration = JSONValue.object(
      named + [("num_classes", .integer(2)), ("label_names", .strings(["0", "1"]))])
    return try Classifier(
      configuration: Array(configuration.text.utf8),
      weights: try withZeros(weights, root, name: "\(folder)/\(ModelFolder.weightsName)"),
      threadCount: arguments[CommandOption<Int>.threads],
      precision: arguments[CommandOption<Precision>.precision])
  }

  /// `model_args` names the number of outputs a second time.
  private static func withoutCount(_ value: JSONValue) -> JSONValue {
    guard case .object(let object) = value else { return value }
    return .object(object.members.filter { $0.key != "num_classes" }.map { ($0.key, $0.value) })
  }

  private static let labelKeys = ["num_classes", "label_names", "labels", "id2label", "label_descriptions"]

  /// A safetensors file with a last layer of two outputs behind its tensors.
  private static func withZeros(
    _ bytes: [UInt8], _ root: JSONObject, name: String
  ) throws(DermaFusionError) -> [UInt8] {
    let file = try SafetensorsFile(bytes: bytes, name: name, hasCounters: true)
    let wrapper = "timm_model."
    let prefix = file.tensors.allSatisfy { $0.name.hasPrefix(wrapper) } ? wrapper : ""
    var layer = file[prefix + "conv1.weight"] == nil ? "classifier" : "fc"
    if case .object(let settings)? = root["pretrained_cfg"], case .string(let told)? = settings["classifier"]
    {
      layer = told
    }
    // MobileNetV3 has a layer between its features and the last one.
    var width = file[prefix + "conv_head.weight"]?.shape.first
    if width == nil, case .number(let number)? = root["num_features"] { width = number.integer }
    guard let width, (1...65_536).contains(width) else {
      throw DermaFusionError.failure(
        name: name, reason: "config.json does not say how many features there are (num_features)")
    }
    let start = 8 + bytes[..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    let end = bytes.count - start
    guard case .object(let header) = try JSONParser.parse(Array(bytes[8..<start])) else { return bytes }
    func entry(_ shape: [Int], from first: Int) -> JSONValue {
      let shapes = JSONValue.array(shape.map { .integer($0) })
      let last = first + 4 * shape.reduce(1, *)
      return .object([
        "dtype": .string("F32"), "shape": shapes, "data_offsets": .array([.integer(first), .integer(last)]),
      ])
    }
    let text = JSONValue.object(
      header.members.map { ($0.key, $0.value) } + [
        ("\(prefix)\(layer).weight", entry([2, width], from: end)),
        ("\(prefix)\(layer).bias", entry([2], from: end + 8 * width)),
      ]
    ).text
    let length = (0..<8).map { UInt8(truncatingIfNeeded: text.utf8.count >> (8 * $0)) }
    return length + Array(text.utf8) + bytes[start...] + [UInt8](repeating: 0, count: 8 * width + 8)
  }
}
