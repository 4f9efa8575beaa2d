import DermaFusion
import Figures
import ImageFiles
import ImagePipeline

/// One image of a report.
struct ReportEntry: Sendable {
  let name: String
  let result: Classification
  /// The square that the model saw, as a JPEG file.
  let photograph: [UInt8]
  /// ``photograph`` with the map over it, as a JPEG file; nil where there is none to show.
  let heatmap: [UInt8]?
  /// What the map shows, or why there is none.
  let mapSentence: String?
  /// The colour bar, from 0 to 1; empty without a heatmap.
  let ramp: [String]
  /// As ``photograph``, small; empty where there is no index.
  let thumbnail: [UInt8]
}

extension ReportEntry {
  /// The greatest side of a picture: of the only image, and of each of several.
  private static func side(isSingle: Bool) -> Int { isSingle ? 640 : 400 }
  private static let thumbnailSide = 144
  /// A quarter of the bytes of a PNG file, and nothing to be seen of it.
  private static let quality = 90

  /// Classifies and explains one image. An ensemble has no maps.
  ///
  /// - Parameter isSingle: whether the report is of this image only.
  /// - Throws: ``DermaFusionError``, `DermaFusionError` where a picture cannot be encoded.
  init(
    _ bytes: [UInt8], name: String, metadata: PatientMetadata, classifier: Classifier, isSingle: Bool,
    limits: DecodingLimits
  ) throws {
    self.name = name
    let side = Self.side(isSingle: isSingle)
    var request = ImageRequest(metadata: metadata)
    request.explains = classifier.members.isEmpty
    request.pictureSide = side
    let answer = try classifier.run(request, onFile: bytes, limits: limits)
    result = answer.classification
    let square = answer.picture
    if request.explains {
      let explanation = answer.explanation
      // A map of the likeliest class would suggest that class.
      let style = FigureStyle()
      let overlay = result.abstains ? nil : explanation.overlay(on: square, style: style)
      heatmap = try overlay.map { try JPEGEncoder.encode($0, quality: Self.quality) }
      mapSentence =
        result.abstains
        ? "The model abstains and suggests no class, so there is no heatmap."
        : explanation.maps[0].status.sentence ?? explanation.sentence
      ramp = overlay == nil ? [] : style.ramp(over: square)
    } else {
      (heatmap, ramp) = (nil, [])
      mapSentence = "An ensemble has no map of its own; ask gradcam for one of a member."
    }
    photograph = try JPEGEncoder.encode(square, quality: Self.quality)
    let thumbnailSide = min(square.width, Self.thumbnailSide)
    thumbnail =
      isSingle
      ? []
      : try JPEGEncoder.encode(
        square.resized(width: thumbnailSide, height: thumbnailSide), quality: Self.quality)
  }
}
