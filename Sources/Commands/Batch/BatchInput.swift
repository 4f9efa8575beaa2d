import DermaFusion
import ImageCodecs
import SystemModule

/// The input of every command on images: the images, the patients' metadata, and the model's folder.
struct BatchInput: Sendable {
  let images: ImageList
  let modelFolder: String
  let limits: DecodingLimits
  private let arguments: ParsedArguments
  private let table: MetadataTable.Rows?
  private let frameRows: FrameRows

  /// Reads the table and the folders, not the images.
  ///
  /// - Parameter needsLesions: true if ``lesion(of:)`` is wanted.
  init(_ arguments: ParsedArguments, terminal: Terminal, needsLesions: Bool = false) throws {
    self.arguments = arguments
    images = try ImageList(arguments.positionals)
    let table = try MetadataOptions.readTable(arguments)
    let frameRows = FrameRows(table?.names, images.sources)
    self.frameRows = frameRows
    self.table = try table?.rows(
      of: images.sources.map { frameRows.listed($0) }, in: FileBytes.currentFolder,
      needsLesions: needsLesions)
    modelFolder = try ModelLocation.folder(arguments, terminal: terminal)
    limits = DecodingOptions.limits(arguments)
    images.leftOut.note(on: terminal)
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
    try MetadataOptions.metadata(arguments, entry: table?.entry(ofImage: frameRows.name(of: source)))
  }

  /// The name of an image's lesion in the table; nil where it names none.
  func lesion(of source: ImageSource) -> String? { table?.lesion(ofImage: frameRows.name(of: source)) }

  /// Notes that the model was not fitted to abstain.
  func noteModel(_ classifier: Classifier, on terminal: Terminal) {
    guard classifier.abstentionKind == .basic else { return }
    terminal.remark("\(classifier.model.name) has \(classifier.abstentionWords).")
  }

  /// Tells a person that many images are of a kind that the model seldom met, as those of another camera are.
  ///
  /// - Parameter unfamiliar: images further out than nine in ten of the model's validation; a quarter of all is worth a note.
  func noteUnfamiliar(_ unfamiliar: Int, of count: Int, on terminal: Terminal) {
    guard unfamiliar > 0, unfamiliar * 4 >= count else { return }
    let subject = count == 1 ? "the image looks" : "\(unfamiliar) of \(count) images look"
    terminal.noteOnScreen(
      """
      Note: \(subject) less like those that the model was trained on than nine in ten of its validation images. \
      Another camera may be the reason; 'dermafusion calibrate' fits the model to images of yours.
      """)
  }

  /// Tells how many images of several look as if no dermatoscope took them.
  func noteNotDermoscopic(_ found: Int, of count: Int, on terminal: Terminal) {
    guard found > 0, count > 1 else { return }
    terminal.remark(
      """
      \(found) of \(count) images \(found == 1 ? "does" : "do") not look like pictures through a dermatoscope. \
      The model abstains from them.
      """)
  }

  /// Prints the table's notes, such as rows without an image.
  func noteTable(on terminal: Terminal) {
    for note in table?.notes ?? [] { terminal.remark("\(note)") }
  }
}

/// The images that a command line names, in its order.
struct ImageList: Sendable {
  /// Each image, or why there is none in its place.
  private(set) var items: [Result<ImageSource, DermaFusionError>] = []
  private(set) var leftOut = LeftOutFiles()
  /// The ``items`` that are no images: folders without any, or that cannot be read.
  private(set) var failedFolderCount = 0
  /// True if one image was named, and no folder.
  let isSingleImage: Bool

  /// - Throws: ``DermaFusionError`` where standard input is named twice.
  init(_ arguments: [String]) throws(DermaFusionError) {
    if arguments.count(where: { $0 == "-" }) > 1 {
      throw .usage("'-' was given more than once, but standard input holds one image.")
    }
    var hasFolder = false
    for argument in arguments {
      guard argument != "-", FolderWalk.isFolder(argument) else {
        items += ImageSource.all(argument)
        continue
      }
      hasFolder = true
      do throws(DermaFusionError) {
        let images = try FolderImages(argument)
        leftOut.add(images.leftOut)
        items += images.failures.map { .failure($0) }
        items += images.paths.flatMap { ImageSource.all($0, in: argument) }
      } catch {
        items.append(.failure(error))
        failedFolderCount += 1
      }
    }
    isSingleImage = arguments.count == 1 && !hasFolder && items.count == 1
  }

  var count: Int { items.count - failedFolderCount }

  var sources: [ImageSource] { items.compactMap { try? $0.get() } }
}
