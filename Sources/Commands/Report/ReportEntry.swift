import DermaFusion
import Figures
import ImageFiles
import ImagePipeline

/// One image of a report.
struct ReportEntry: Sendable {
  let name: String
  let result: Classification
  /// The square that the model saw, as a PNG file.
  let photograph: [UInt8]
  /// ``photograph`` with the map over it, as a PNG file; nil where there is none to show.
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
  static func side(imageCount: Int) -> Int { imageCount == 1 ? 640 : 400 }
  private static let thumbnailSide = 144

  /// Classifies and explains one image. An ensemble has no maps.
  ///
  /// - Throws: ``DermaFusionError``, `ImageError` where a picture cannot be encoded.
  init(
    _ bytes: [UInt8], name: String, metadata: PatientMetadata, classifier: Classifier, style: FigureStyle,
    imageCount: Int
  ) throws {
    self.name = name
    let side = Self.side(imageCount: imageCount)
    func shown(_ image: PixelImage, _ side: Int) -> PixelImage {
      image.width > side ? image.resized(width: side, height: side) : image
    }
    let square: PixelImage
    if classifier.members.isEmpty {
      let explanation = try classifier.explain(encodedImage: bytes, metadata: metadata)
      result = explanation.classification
      square = shown(explanation.cropped, side)
      // A map of the likeliest class would suggest that class.
      let overlay = result.abstains ? nil : explanation.overlay(on: square, style: style)
      heatmap = try overlay.map { try PNGEncoder.encode($0) }
      mapSentence =
        result.abstains
        ? "The model abstains and suggests no class, so there is no heatmap."
        : explanation.maps[0].status.sentence ?? explanation.sentence
      ramp = overlay == nil ? [] : style.ramp(over: square)
    } else {
      let input: PreprocessedImage
      (result, input) = try classifier.classify(wholeImage: bytes, metadata: metadata)
      square = shown(input.cropped, side)
      (heatmap, ramp) = (nil, [])
      mapSentence = "An ensemble has no map of its own; ask gradcam for one of a member."
    }
    photograph = try PNGEncoder.encode(square)
    thumbnail = imageCount == 1 ? [] : try PNGEncoder.encode(shown(square, Self.thumbnailSide))
  }
}
