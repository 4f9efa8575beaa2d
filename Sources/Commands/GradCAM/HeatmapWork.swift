import DermaFusion
import Evaluation
import Figures
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

  /// Writes the picture and the array of an image.
  ///
  /// - Returns: what is said of it.
  func explain(_ source: ImageSource, picturePath: String) throws -> ExplanationReport {
    let bytes = try source.read(terminal: terminal)
    let patient = try input.metadata(of: source)
    let answer = try self.answer(to: bytes, patient)
    let explanation = answer.explanation
    let trusts = try self.trusts(of: answer)
    var files = [
      (
        bytes: try explanation.png(
          FigureOptions.style(arguments), trusts: trusts, imageName: source.fileName), path: picturePath
      )
    ]
    let isSigned = arguments[GradCAMOptions.signed]
    if let path = arguments[GradCAMOptions.raw] {
      files.append((Self.array(explanation.maps, isSigned: isSigned), path))
    }
    try outputs.write(files)
    return ExplanationReport(
      explanation: explanation, trusts: trusts, imageName: source.name, picturePath: picturePath,
      rawPath: arguments[GradCAMOptions.raw], includesSignedMap: isSigned)
  }

  private func answer(to bytes: [UInt8], _ patient: PatientMetadata) throws -> ImageAnswer {
    var request = ImageRequest(metadata: patient)
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
    // Of several images, the progress of the batch is shown.
    var progress = Progress(
      terminal: terminal, total: MapTrust.runCount(maps: answer.maps.count), unit: "runs of the network",
      isQuiet: arguments[Flag.quiet] || input.images.items.count > 1)
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
