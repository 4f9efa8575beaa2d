import DermaFusion
import ImageFiles
import SystemModule

/// What the commands on images have in common: the images, what is known of the patients, and the model's folder.
struct BatchInput: Sendable {
  let images: ImageList
  let modelFolder: String
  let limits: DecodingLimits
  private let arguments: ParsedArguments
  private let table: MetadataTable.Rows?

  /// Reads the table and the folders, not the images.
  init(_ arguments: ParsedArguments, terminal: Terminal) throws {
    self.arguments = arguments
    images = try ImageList(arguments.positionals)
    table = try MetadataOptions.readTable(arguments)?.rows(ofImages: images.sources.map(\.name))
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

  /// The patient's metadata from the options and the table.
  func metadata(of source: ImageSource) throws -> PatientMetadata {
    try MetadataOptions.metadata(arguments, entry: table?.entry(ofImage: source.name))
  }

  /// Notes that the model was not fitted to abstain.
  func noteModel(_ classifier: Classifier, on terminal: Terminal) {
    guard classifier.abstentionKind == .basic, !arguments[Flag.quiet] else { return }
    terminal.note("Note: \(classifier.model.name) has \(AbstentionKind.basic.words).")
  }

  /// Prints the table's notes, such as rows without an image.
  func noteTable(on terminal: Terminal) {
    guard let table, !arguments[Flag.quiet] else { return }
    for note in table.notes { terminal.note("Note: \(note)") }
  }
}

/// The images that a command line names, in its order.
struct ImageList: Sendable {
  private(set) var items: [BatchItem] = []
  private(set) var leftOut = LeftOutFiles()
  /// Whether one image was named, and no folder.
  let isSingleImage: Bool

  /// - Throws: ``DermaFusionError`` where standard input is named twice.
  init(_ arguments: [String]) throws(DermaFusionError) {
    if arguments.count(where: { $0 == "-" }) > 1 {
      throw .usage("'-' was given more than once, but standard input holds one image.")
    }
    var hasFolder = false
    for argument in arguments {
      guard argument != "-", FolderWalk.isFolder(argument) else {
        items.append(.image(ImageSource(argument: argument), folder: ""))
        continue
      }
      hasFolder = true
      do throws(DermaFusionError) {
        let images = try FolderImages(argument)
        leftOut.add(images.leftOut)
        items += images.failures.map(BatchItem.failed)
        items += images.sources.map { .image($0, folder: $0.folder(below: argument)) }
      } catch {
        items.append(.failed(error))
      }
    }
    isSingleImage = arguments.count == 1 && !hasFolder
  }

  var sources: [ImageSource] { items.compactMap(\.source) }
}

extension ImageSource {
  /// The path of the image's own folder below one that it was found in.
  fileprivate func folder(below folder: String) -> String {
    let path = name.utf8.dropFirst(folder.utf8.count).drop { $0 == UInt8(ascii: "/") }
    guard let end = path.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[..<end]) ?? ""
  }
}

/// An image of a batch, or why there is none in its place.
enum BatchItem: Sendable {
  /// - folder: where a folder that was named has it: the path from there to the image's own folder; else empty.
  case image(ImageSource, folder: String)
  case failed(DermaFusionError)

  var source: ImageSource? {
    if case .image(let source, _) = self { source } else { nil }
  }

  /// - Throws: why there is none.
  func image() throws(DermaFusionError) -> ImageSource {
    switch self {
    case .image(let source, _): return source
    case .failed(let error): throw error
    }
  }
}

extension ImageSource {
  /// Does some work on the image; errors that do not themselves say of what they speak are given its name.
  func naming<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let error as DermaFusionError {
      throw error.namesItsFile || error.isOfOutput || error.isUsage ? error : error.named(name)
    } catch {
      throw DermaFusionError.failure(name: name, reason: "\(error)")
    }
  }
}

extension OutputFiles {
  /// - Parameters:
  ///   - outputs: by the display of their options.
  ///   - images: what is read.
  ///   - table: what else is read, as messages call it.
  ///   - model: the folder of a model or an ensemble.
  /// - Throws: ``DermaFusionError`` where an output would replace what is read, or another output; ``DermaFusionError`` where the folder
  ///   that it would go into is not there.
  init(
    _ outputs: [(display: String, path: String)], images: [ImageSource],
    table: (name: String, path: String)? = nil, model: String, terminal: Terminal
  ) throws {
    func inputs() -> [(name: String, path: String)] {
      let modelFiles = Classifier.filePaths(ofModel: model)
      var files = modelFiles.map { (name: "a file of the model", path: $0) }
      // Loading does without them, but nobody has another copy.
      files += modelFiles.map(FileBytes.folder(of:)).flatMap { folder in
        [
          ("the model's card", "\(folder)/README.md"),
          ("the model's data list", "\(folder)/\(TrainingList.relativePath)"),
        ]
      }
      if let table { files.append(table) }
      let imageName = images.count == 1 ? "the image itself" : "one of the images"
      return files + images.map { (imageName, $0.systemPath) }
    }
    try self.init(outputs, inputs: inputs, terminal: terminal)
  }
}

extension ImageSource {
  /// Where the system has it.
  fileprivate var systemPath: String {
    switch self {
    case .standardInput: "/dev/stdin"
    case .file(let path): path
    }
  }
}
