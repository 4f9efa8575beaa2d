import DermaFusion
import Evaluation
import Files
import ImageCodecs
import SystemModule

/// Finds near copies among photographs, and photographs that a model has seen.
enum DuplicatesCommand: Command {
  static let name = "duplicates"
  static let abstract = "Find near copies among images, or images that a model was trained on."
  static let discussion = """
    Two images are near copies if one shows all of the other or at least four fifths of its width and height, also if it is \
    of another size, turned by quarter turns, mirrored, brighter or darker, or compressed more. The images are compared with \
    each other, within folders and between them, and printed in groups. Two photographs of one lesion that were taken \
    separately are not copies. An image's score is the likeness to its nearest copy in the group: 1 for files that are equal \
    to the last byte, at least \(NearCopies.leastScore) for all. An image without contrast, or with next to nothing \
    beside the dark around a round field, is compared by its bytes only.

    With --against, images are also compared with those of another folder, whose own copies are not looked for, or with the \
    photographs that a model was made from. For this a model has \(TrainingFingerprints.relativePath) beside its list \
    \(TrainingList.relativePath): \(Fingerprint.byteCount) bytes for each photograph, which say where it is locally light and \
    dark. What is found so is likely a copy, and the photograph itself should be looked at. Folders are searched as in \
    '\(ClassifyCommand.name)'. A file that is named twice counts once.
    """
  static let positionals = [Positional.images]
  static let options: [any AnyCommandOption] =
    [against, fingerprints, CommandOption<Int>.threads, OutputFormat.rowsOption, Flag.quiet]
    + DecodingOptions.all
  static let examples = [
    "dermafusion duplicates photographs",
    "dermafusion duplicates test --against training --format csv",
    "dermafusion duplicates photographs --against Weights",
  ]
  static let exitStatuses: [HelpEntry] = [
    ("0", "Every image was compared, whether or not there are copies."),
    ("1", "Something failed; standard error names it. The other images were compared."),
  ]
  static let runsNetwork = false

  private static let against = CommandOption<String>.path(
    "against", valueName: "folder",
    abstract: """
      Folder of images, or folder or name of a model, to compare with. A folder that holds config.json is a model.
      """)
  private static let fingerprints = CommandOption<String>.path(
    "fingerprints", valueName: "list.csv",
    abstract: """
      Compare nothing. Write \(TrainingFingerprints.fileName) beside a model's list of photographs, with the fingerprint of the \
      image of each row's image_id.
      """)

  static func run(_ arguments: ParsedArguments, session: Session) throws -> ExitStatus {
    let terminal = session.terminal
    if let list = arguments[fingerprints] {
      if arguments[against] != nil {
        throw DermaFusionError.usage(
          "'--fingerprints' compares nothing, so '--against' means nothing beside it.")
      }
      return try TrainingFingerprints.write(beside: list, arguments, terminal: terminal)
    }
    let seen = try arguments[against].flatMap { try ModelSight(named: $0, terminal: terminal) }
    let others = seen == nil ? try arguments[against].map(imagesToCompareWith) : nil
    var pictures = PictureList(arguments, terminal: terminal)
    try pictures.read(ImageList(arguments.positionals), interruption: "Nothing was written.")
    let givenCount = pictures.pictures.count
    if let others { try pictures.read(others, interruption: "Nothing was written.") }
    guard givenCount > 0 else { return .failure }

    var progress = Progress(
      terminal: terminal, total: pictures.pictures.count * (seen == nil ? 1 : 2), unit: "images compared")
    defer { progress.clear() }
    var pairs = NearCopies.pairs(
      among: pictures.pictures, withOneOfFirst: givenCount, threadCount: pictures.threadCount
    ) { progress.advance() }
    var entries = pictures.names.enumerated().map {
      DuplicateReport.Entry(
        image: $1,
        source: $0 < givenCount ? DuplicateReport.Entry.given : DuplicateReport.Entry.against)
    }
    if let seen {
      let found = seen.matches(of: pictures.pictures, threadCount: pictures.threadCount) {
        progress.advance()
      }
      pairs += found.map { place, match in
        NearCopyPair(first: place, second: givenCount + match.place, score: match.agreement)
      }
      entries += seen.entries
    }
    progress.clear()
    try terminal.write(
      DuplicateReport(
        listedCount: pictures.listedCount, comparedCount: pictures.pictures.count, model: seen,
        groups: DuplicateReport.groups(entries, pairs)),
      as: arguments.value(of: OutputFormat.rowsOption))
    return pictures.status
  }

  /// - Throws: if there is no image, before others are read: the answer would be that of another question.
  private static func imagesToCompareWith(_ path: String) throws -> ImageList {
    let images = try ImageList([path])
    for item in images.items where images.sources.isEmpty { _ = try item.get() }
    guard images.sources.contains(where: { $0.name == "-" || FileBytes.isThere($0.path) }) else {
      throw DermaFusionError.notFound(path)
    }
    return images
  }
}

/// Images that are decoded to be compared, each file once.
struct PictureList {
  private(set) var pictures: [ComparedPicture] = []
  /// As they were given.
  private(set) var names: [String] = []
  private(set) var listedCount = 0
  let threadCount: Int
  private var runner: BatchRunner
  private let limits: DecodingLimits
  private var seen: Set<PictureIdentity> = []

  init(_ arguments: ParsedArguments, terminal: Terminal) {
    threadCount = arguments[CommandOption<Int>.threads] ?? ProcessorCount.available()
    runner = BatchRunner(terminal: terminal)
    limits = DecodingOptions.limits(arguments)
  }

  var status: ExitStatus { runner.status }

  /// Reads images. What cannot be read is reported.
  mutating func read(_ images: ImageList, interruption: String) throws {
    images.leftOut.note(on: runner.terminal)
    let items = images.items.once(&seen)
    listedCount += items.count - images.failedFolderCount
    let (limits, terminal) = (limits, runner.terminal)
    try runner.run(items, sideBySideOn: nil, workerCount: threadCount, interruption: interruption) { item in
      let source = try item.get()
      return try source.naming {
        let bytes = try source.read(terminal: terminal)
        let image = try ImageDecoder.decode(bytes, frame: source.frame, part: .whole, limits: limits).pixels
        let content = SHA256.hexDigest(bytes) + (source.frame.map { "#\($0)" } ?? "")
        return (name: source.name, picture: ComparedPicture(image, content: content))
      }
    } consume: { read in
      names.append(read.name)
      pictures.append(read.picture)
      return nil
    }
  }
}
