import DermaFusion
import SystemModule

/// Results as the ISIC challenges take them: a row of probabilities for each image, called by its file's name without the
/// ending. An image from which the model abstains has its probabilities too: a submission has a row for every image.
enum ISICSubmission {
  /// The classes of the challenge of 2018, in its order.
  static let classes = ["MEL", "NV", "BCC", "AKIEC", "BKL", "DF", "VASC"]

  static let header = ClassificationCSV.line(["image"] + classes)

  /// - Precondition: the classes are these seven.
  static func row(_ result: Classification, imageName: String, isForTerminal: Bool) -> String {
    guard let labels = labels(result.probabilities.labels) else { preconditionFailure("other classes") }
    return ClassificationCSV.line(
      [ClassificationCSV.identifier(imageName)] + labels.map { result.probabilities[$0].description },
      isForTerminal: isForTerminal)
  }

  /// A model's labels in the order of ``classes``; nil where it has others.
  private static func labels(_ labels: Labels) -> [LesionLabel]? {
    let found = classes.compactMap { name in labels.first { $0.id.uppercased() == name } }
    return found.count == classes.count && labels.count == classes.count ? found : nil
  }

  /// Refuses what would make no submission: a model of other classes, and two images of one name.
  static func check(_ images: [ImageSource], labels: Labels) throws {
    if self.labels(labels) == nil {
      throw DermaFusionError.invalidValue(
        OutputFormat.isic.rawValue, display: ClassifyOptions.format.display,
        expectation: """
          A submission has the classes \(classes.joined(separator: ", ")), and the model's classes are \
          \(labels.ids.quotedList).
          """)
    }
    var seen: [[UInt8]: String] = [:]
    for image in images {
      let identifier = ClassificationCSV.identifier(image.name)
      if let other = seen.updateValue(image.name, forKey: identifier.imageKey) {
        throw DermaFusionError.failure(
          name: image.name,
          reason: "a submission has one row for each image, and '\(identifier)' is the name of \(other) too")
      }
    }
  }
}
