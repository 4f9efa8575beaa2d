import DermaFusion
import Figures
import ImageCodecs
import ImageFiles
import ImagePipeline

/// The levels that `--only` selects.
enum ReportSelection: String, CaseIterable {
  case low, moderate, high
  /// The model suggests no class.
  case abstained
  /// The model does not say which of its classes are malignant.
  case unjudged

  init(_ result: Classification) {
    switch result.answer?.risk {
    case .high: self = .high
    case .moderate: self = .moderate
    case .low: self = .low
    case nil: self = result.abstains ? .abstained : .unjudged
    }
  }

  /// In an index, the images that a person should look at come first.
  var place: Int {
    switch self {
    case .high: 0
    case .moderate: 1
    case .abstained: 2
    case .unjudged: 3
    case .low: 4
    }
  }
}

/// One image of a report.
struct ReportEntry: Sendable {
  let name: String
  let result: Classification
  /// The image's label, if a table has one.
  let label: LesionLabel?
  /// The square that the model saw, as a JPEG file.
  let photograph: [UInt8]
  /// The asked map first, or of all that of the likeliest class; empty where there is none to show.
  let maps: [ReportMap]
  /// The reason for the absence of maps.
  let noMaps: String?
  /// The colour bar, from 0 to 1; empty without a heatmap.
  let ramp: [String]
  /// As ``photograph``, small; empty where there is no index.
  let thumbnail: [UInt8]
}

/// A map of one class.
struct ReportMap: Sendable {
  let label: LesionLabel
  /// The photograph with the map over it, as a JPEG file; nil where the map has nothing to show.
  let picture: [UInt8]?
  let caption: String
}

extension ReportEntry {
  /// The greatest side of a picture: of the only image, and of each of several.
  private static func side(isSingle: Bool) -> Int { isSingle ? 640 : 400 }
  private static let thumbnailSide = 144
  /// The side of the maps behind the first.
  private static let smallSide = 240
  /// A quarter of the bytes of a PNG file, and nothing to be seen of it.
  private static let quality = 90

  /// Classifies and explains one image. An ensemble has no maps.
  ///
  /// - Parameters:
  ///   - frame: of a DICOM file of several; nil for other files.
  ///   - classes: that maps are asked of.
  ///   - isSingle: whether the report is of this image only.
  /// - Throws: ``DermaFusionError`` for a file that is no image, or a picture that cannot be encoded.
  init(
    _ bytes: [UInt8], frame: Int?, name: String, metadata: PatientMetadata, label: LesionLabel?,
    classifier: Classifier,
    classes: ImageRequest.Classes, language: Language, isSingle: Bool, limits: DecodingLimits
  ) throws {
    self.name = name
    self.label = label
    let side = Self.side(isSingle: isSingle)
    var request = ImageRequest(metadata: metadata, frame: frame)
    request.explains = classifier.members.isEmpty
    request.classes = classes == .all ? .likeliest(classifier.labels.count) : classes
    request.pictureSide = side
    let answer = try classifier.run(request, onFile: bytes, limits: limits)
    result = answer.classification
    let square = answer.picture
    let style = FigureStyle()
    if !request.explains {
      (maps, noMaps) = ([], language["reportFile.noMap"])
    } else if result.abstains {
      // A map of the likeliest class would suggest that class.
      (maps, noMaps) = ([], language["heatmap.abstains"])
    } else {
      let explanation = answer.explanation
      let first =
        explanation.maps.firstIndex { explanation.label(of: $0) == answer.classification.prediction } ?? 0
      let order = [first] + explanation.maps.indices.filter { $0 != first }
      maps = try order.map { place in
        let map = explanation.maps[place]
        let small = min(square.width, Self.smallSide)
        let overlay = explanation.overlay(of: map, on: square, style: style)
          .map { place == first ? $0 : $0.resized(width: small, height: small) }
        return ReportMap(
          label: explanation.label(of: map),
          picture: try overlay.map { try JPEGEncoder.encode($0, quality: Self.quality) },
          caption: map.status.sentence(in: language) ?? explanation.sentence(on: map, in: language))
      }
      noMaps = nil
    }
    ramp = maps.contains { $0.picture != nil } ? style.ramp(over: square) : []
    photograph = try JPEGEncoder.encode(square, quality: Self.quality)
    let thumbnailSide = min(square.width, Self.thumbnailSide)
    thumbnail =
      isSingle
      ? []
      : try JPEGEncoder.encode(
        square.resized(width: thumbnailSide, height: thumbnailSide), quality: Self.quality)
  }
}
