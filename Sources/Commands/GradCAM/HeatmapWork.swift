import DermaFusion
import Evaluation
import Figures
import Files
import ImageCodecs
import ImageFiles
import ImagePipeline
import SystemModule

/// Makes the picture of an image; what is the same for every image of a command line.
struct HeatmapWork: Sendable {
  let arguments: ParsedArguments
  let classifier: Classifier
  let classes: ImageRequest.Classes
  let input: BatchInput
  let outputs: OutputFiles
  let terminal: Terminal

  init(
    arguments: ParsedArguments, model: Model, input: BatchInput, outputs: OutputFiles, terminal: Terminal
  ) throws(DermaFusionError) {
    self.arguments = arguments
    classifier = Classifier(model)
    classes = try GradCAMOptions.classes(
      arguments.value(of: GradCAMOptions.lesionClass), labels: model.labels)
    self.input = input
    self.outputs = outputs
    self.terminal = terminal
  }

  static let pdfEnding = ".pdf"

  /// Writes the picture and the array of an image.
  func explain(_ source: ImageSource, picturePath: String) throws -> ExplanationReport {
    let answer = try self.answer(of: source)
    let explanation = answer.explanation
    let trusts = try self.trusts(of: answer)
    let style = FigureOptions.style(arguments)
    let isPDF = picturePath.fileEnding == Self.pdfEnding
    let picture =
      isPDF
      ? try explanation.pdf(style, trusts: trusts, imageName: source.fileName)
      : try explanation.png(style, trusts: trusts, imageName: source.fileName)
    var files = [(bytes: picture, path: picturePath)]
    let isSigned = arguments[GradCAMOptions.signed]
    if let path = arguments[GradCAMOptions.raw] {
      files.append((Self.array(explanation.maps, isSigned: isSigned), path))
    }
    try outputs.write(files)
    return ExplanationReport(
      explanation: explanation, trusts: trusts, imageName: source.name, picturePath: picturePath,
      rawPath: arguments[GradCAMOptions.raw], includesSignedMap: isSigned, language: style.language)
  }

  private func answer(of source: ImageSource) throws -> ImageAnswer {
    let bytes = try source.read(terminal: terminal)
    var request = ImageRequest(metadata: try input.metadata(of: source), frame: source.frame)
    request.explains = true
    request.classes = classes
    request.method = arguments.value(of: GradCAMOptions.method)
    request.layer = arguments[GradCAMOptions.layer]
    do throws(DermaFusionError) {
      return try classifier.run(request, onFile: bytes, limits: input.limits)
    } catch {
      // Only the model knows its layers, so it was not found out when the words were read.
      guard error.code == .unknownLayer else { throw error }
      throw DermaFusionError.invalidValue(
        arguments[GradCAMOptions.layer] ?? "", display: GradCAMOptions.layer.display,
        expectation: error.remedy)
    }
  }

  private func trusts(of answer: ImageAnswer) throws -> [MapTrust] {
    guard arguments[GradCAMOptions.trust] else { return [] }
    // For several images, the progress of the batch is shown.
    let isBatch = input.images.items.count > 1
    var progress = Progress(
      terminal: terminal, total: isBatch ? 0 : MapTrust.runCount(maps: answer.maps.count),
      unit: "runs of the network")
    defer { progress.clear() }
    return try classifier.trust(
      in: answer.maps, of: answer.input, metadata: answer.classification.metadata,
      onRun: { progress.advance() })
  }

  /// One map as `[rows, columns]`, several as `[maps, rows, columns]`.
  private static func array(_ maps: [ActivationMap], isSigned: Bool) -> [UInt8] {
    let shape = isSigned ? [maps[0].height, maps[0].width] : [maps[0].size, maps[0].size]
    return NPYFile.bytes(
      maps.flatMap { isSigned ? $0.signedValues : $0.values },
      shape: maps.count == 1 ? shape : [maps.count] + shape)
  }
}

/// The place of a batch's pictures.
struct PicturePaths {
  /// One for each image, in their order.
  let paths: [String]
  /// To be made where they are missing, outer ones first.
  private let folders: [String]

  /// An image, or why there is none, and the path of its picture.
  struct Job: Sendable {
    let item: Result<ImageSource, DermaFusionError>
    let path: String?
  }

  /// - Throws: ``DermaFusionError`` for an option that takes one image.
  init(of images: ImageList, _ arguments: ParsedArguments) throws(DermaFusionError) {
    let output = arguments[GradCAMOptions.output]
    let isFolder = output.map { $0.withCString(FolderWalk.isFolder) } ?? false
    let isBatch = !images.isSingleImage
    try Self.refuse(arguments, isBatch: isBatch, isFolder: isFolder)
    let places = images.sources.map { (folder: $0.folder, name: $0.identifier ?? "image") }
    guard isBatch || isFolder else {
      paths = [output ?? "\(places[0].name)-gradcam.png"]
      folders = []
      return
    }
    let root = output.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
    // Without --output the pictures go to the current folder, and no folders are made there.
    let bases = places.map { $0.folder.isEmpty || output == nil ? $0.name : "\($0.folder)/\($0.name)" }
    paths = Self.unique(bases).map { root + $0 + "-gradcam.png" }
    var needed: [String] = []
    var seen: Set<String> = []
    if let output, !places.isEmpty { needed.append(output) }
    for place in places where output != nil && !place.folder.isEmpty && seen.insert(place.folder).inserted {
      var path = root
      for part in place.folder.split(separator: "/") {
        path += part
        needed.append(path)
        path += "/"
      }
    }
    folders = needed.unique
  }

  private static func refuse(
    _ arguments: ParsedArguments, isBatch: Bool, isFolder: Bool
  ) throws(DermaFusionError) {
    let (output, raw) = (GradCAMOptions.output, GradCAMOptions.raw)
    let path = arguments[output]
    let ending = path?.fileEnding
    if isBatch, let path = arguments[raw] {
      throw .invalidValue(path, display: raw.display, expectation: "Please name a single image with it.")
    }
    if isBatch, path == "-" {
      throw .invalidValue(
        "-", display: output.display, expectation: "Please provide a folder for the pictures.")
    }
    if isBatch, let path, !isFolder, let ending, ImageFileName.endings.contains(ending) {
      throw .invalidValue(
        path, display: output.display,
        expectation:
          "The pictures of several images go into a folder; please provide a name that does not end in \(ending)."
      )
    }
  }

  /// - Throws: ``DermaFusionError`` for the picture of a single image with a name that promises another kind of file.
  func requirePicture(_ arguments: ParsedArguments) throws(DermaFusionError) {
    guard let path = arguments[GradCAMOptions.output], paths == [path],
      let ending = path.fileEnding, ![".png", HeatmapWork.pdfEnding].contains(ending)
    else { return }
    throw .invalidValue(
      path, display: GradCAMOptions.output.display,
      expectation:
        "The picture is a PNG or PDF file; please provide a name that ends in .png or .pdf, not in \(ending)."
    )
  }

  /// Names that occur more than once get numbers, which may be names of others.
  private static func unique(_ names: [String]) -> [String] {
    let plain = Set(names.map(\.imageKey))
    var taken: Set<[UInt8]> = []
    var numbers: [[UInt8]: Int] = [:]
    return names.map { name in
      if taken.insert(name.imageKey).inserted { return name }
      var number = numbers[name.imageKey, default: 1]
      var numbered = name
      repeat {
        number += 1
        numbered = "\(name)-\(number)"
      } while plain.contains(numbered.imageKey) || !taken.insert(numbered.imageKey).inserted
      numbers[name.imageKey] = number
      return numbered
    }
  }

  /// Makes the folders that are missing.
  func makeFolders() throws(DermaFusionError) {
    for folder in folders { try FileBytes.makeFolder(folder) }
  }

  func jobs(for images: ImageList) -> [Job] {
    var rest = paths[...]
    return images.items.map { Job(item: $0, path: (try? $0.get()) == nil ? nil : rest.popFirst()) }
  }
}
