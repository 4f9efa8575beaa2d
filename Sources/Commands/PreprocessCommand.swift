import DermaFusion
import Evaluation
import Files
import ImageCodecs
import ImagePipeline
import SystemModule

/// Writes one stage of preprocessing as an array for NumPy.
enum PreprocessCommand: Command {
  static let name = "preprocess"
  static let abstract = "Write one stage of an image's preprocessing as a NumPy array."
  static let discussion = """
    decoded, cropped, resized and constancy are uint8 [height, width, 3]; normalized is float32 \
    [3, size, size]. Size and constants are the model's, the same for each member of an ensemble. The \
    file appears when it is complete.
    """
  static let positionals = [
    Positional(
      "image",
      abstract: "A file, FILE#N for frame N of a DICOM file, or - for an image's bytes on standard input.")
  ]
  static let options: [any AnyCommandOption] = [stage, output, ModelLocation.option] + DecodingOptions.all
  static let runsNetwork = false
  static let examples = [
    "dermafusion preprocess lesion.jpg --stage normalized --output lesion.npy",
    "cat lesion.jpg | dermafusion preprocess - --stage decoded --output - > a.npy",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "The array was written."), ("1", "Something failed; standard error names it."),
  ]

  private static let stage = CommandOption<PreprocessingStage>.choice(
    "stage", of: PreprocessingStage.allCases, isRequired: true, abstract: "Stage to write.")
  private static let output = CommandOption<String>.path(
    "output", valueName: "file.npy", isRequired: true,
    abstract: "File to write; one that exists is replaced. - is standard output."
  )

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    let source = ImageSource(name: arguments.positionals[0])
    let path = arguments.value(of: output)
    let folder = try ModelLocation.folder(arguments, terminal: terminal)
    let outputs = try OutputFiles(
      [(output.display, path)], images: [source], model: folder, terminal: terminal)
    let preprocessor = Preprocessor(try ModelConfiguration(directory: folder).preprocessing)
    let bytes = try source.read(terminal: terminal)

    let (values, warnings) = try source.naming {
      try Self.values(
        of: arguments.value(of: stage), bytes, frame: source.frame, preprocessor,
        limits: DecodingOptions.limits(arguments))
    }
    switch values {
    case .bytes(let bytes, let shape): try outputs.write(NPYFile.bytes(bytes, shape: shape), path: path)
    case .floats(let floats, let shape): try outputs.write(NPYFile.bytes(floats, shape: shape), path: path)
    }
    for warning in warnings { terminal.note("Warning: \(source.name): \(warning)") }
    return .success
  }

  /// The image at one stage, and the warnings that a result would carry. The decoded image has only those of
  /// its file, as nothing has looked at it: it may be too small to classify.
  private static func values(
    of stage: PreprocessingStage, _ bytes: [UInt8], frame: Int?, _ preprocessor: Preprocessor,
    limits: DecodingLimits
  ) throws -> (StageValues, [String]) {
    if stage == .decoded {
      let image = try ImageDecoder.decode(bytes, frame: frame, part: .whole, limits: limits)
      let details = ClassificationWarning.allCases.compactMap { warning in
        image.details[warning].map { warning.sentence($0) }
      }
      return (StageValues(image.pixels), details)
    }
    let part: ImagePart = stage == .cropped ? .whole : ImagePart(for: preprocessor.configuration)
    let image = try preprocessor(ImageDecoder.decode(bytes, frame: frame, part: part, limits: limits))
    if stage == .cropped { try image.requireCroppedSize(limit: limits.pixels) }
    return (StageValues(image, stage: stage), image.warnings.map { $0.sentence(image.warningDetails[$0]) })
  }
}

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
