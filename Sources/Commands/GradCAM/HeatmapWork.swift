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
  let select: @Sendable (ClassScores) -> [LesionLabel]
  let input: BatchInput
  let outputs: OutputFiles
  let terminal: Terminal

  init(
    arguments: ParsedArguments, model: Model, input: BatchInput, outputs: OutputFiles, terminal: Terminal
  ) throws(DermaFusionError) {
    self.arguments = arguments
    classifier = Classifier(model)
    select = try GradCAMOptions.selection(
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
    let (explanation, image) = try self.explanation(of: bytes, patient)
    let trusts = try self.trusts(in: explanation, of: image)
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

  private func explanation(
    of bytes: [UInt8], _ patient: PatientMetadata
  ) throws -> (Explanation, PreprocessedImage) {
    do throws(DermaFusionError) {
      return try classifier.explain(
        encodedImage: bytes, metadata: patient, method: arguments.value(of: GradCAMOptions.method),
        layer: arguments[GradCAMOptions.layer], limits: input.limits, selecting: select)
    } catch {
      // Only the model knows its layers, so it was not found out when the words were read.
      guard error.code == .unknownLayer else { throw error }
      throw DermaFusionError.invalidValue(
        arguments[GradCAMOptions.layer] ?? "", display: GradCAMOptions.layer.display,
        expectation: error.remedy)
    }
  }

  private func trusts(in explanation: Explanation, of image: PreprocessedImage) throws -> [MapTrust] {
    guard arguments[GradCAMOptions.trust] else { return [] }
    // Of several images, the progress of the batch is shown.
    var progress = Progress(
      terminal: terminal, total: MapTrust.runCount(maps: explanation.maps.count), unit: "runs of the network",
      isQuiet: arguments[Flag.quiet] || input.images.items.count > 1)
    defer { progress.clear() }
    return try classifier.trust(
      in: explanation.maps, of: image, metadata: explanation.classification.metadata,
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
