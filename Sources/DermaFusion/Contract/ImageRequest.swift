import Files
import ImagePipeline
import SystemModule

/// What may be asked of a classifier beside the pixels. C fills it from a struct, the page from JSON.
package struct ImageRequest: Sendable {
  /// What the result calls the image.
  package var imageName = ""
  /// SHA-256 of the file that the image comes from.
  package var imageSHA256: String?
  package var metadata = PatientMetadata.unknown
  package var views = ImageViews.upright
  /// Whether the result tells what each field of the metadata does to the logits.
  package var includesMetadataShares = false
  package var classes = Classes.top
  package var method = ActivationMapMethod.gradcam
  /// The feature map to explain; nil: the last.
  package var layer: String?
  /// Whether maps are given before their negative part is cut off too.
  package var includesSignedMap = false
  /// Whether maps are checked: about 100 runs of the network and 35 for each map.
  package var includesTrust = false
  /// The stage of the preprocessing, which is not that of the decoded image.
  package var stage: PreprocessingStage?

  /// The classes whose maps are asked for.
  package enum Classes: Sendable {
    case top
    case all
    /// By their ids; at least one.
    case named([String])
  }

  /// Asks for nothing special, with nothing known.
  package init() {}

  /// The labels of ``classes``; none for the likeliest.
  ///
  /// - Throws: ``DermaFusionError/Code/unknownClass``, ``DermaFusionError/Code/invalidRequest`` for maps of several views.
  package func labels(of classifier: Classifier) throws(DermaFusionError) -> [LesionLabel] {
    guard views == .upright else {
      throw DermaFusionError(
        .invalidRequest, message: "maps of several views are not made",
        remedy: "Ask for maps of the image as it is.")
    }
    switch classes {
    case .top: return []
    case .all: return Array(classifier.labels)
    case .named(let names):
      var labels: [LesionLabel] = []
      for name in names {
        guard let label = classifier.labels[name] else {
          throw .unknownClass(named: name, among: classifier.labels)
        }
        labels.append(label)
      }
      return labels
    }
  }

  // MARK: Values by their names

  /// - Parameter key: what the asker calls the value, for the error.
  /// - Throws: ``DermaFusionError/Code/invalidMetadata``
  package static func sex(named name: String, key: String = "sex") throws(DermaFusionError) -> Sex {
    guard let sex = Sex(name: name) else {
      throw unknown(name, key, among: Sex.allCases.map { $0.rawValue }, .invalidMetadata)
    }
    return sex
  }

  /// See ``sex(named:key:)``.
  package static func site(named name: String, key: String = "site") throws(DermaFusionError) -> BodySite {
    guard let site = BodySite(name: name) else {
      throw unknown(name, key, among: BodySite.allCases.map { $0.rawValue }, .invalidMetadata)
    }
    return site
  }

  /// - Throws: ``DermaFusionError/Code/invalidRequest``
  package static func method(
    named name: String, key: String = "method"
  ) throws(DermaFusionError) -> ActivationMapMethod {
    guard let method = ActivationMapMethod(rawValue: name) else {
      throw unknown(name, key, among: ActivationMapMethod.allCases.map { $0.rawValue })
    }
    return method
  }

  static func unknown(
    _ name: String, _ key: String, among names: [String], _ code: DermaFusionError.Code = .invalidRequest
  ) -> DermaFusionError {
    DermaFusionError(
      code, message: "\(key) \(quoted(name)) is not one of \(names.joined(separator: ", "))",
      remedy: "Give one of the names, or leave it out.")
  }
}
