/// Why there is no comparison.
enum ComparisonError: Error, CustomStringConvertible {
  /// The models with the classes that only they have.
  case differentClasses([(folder: String, ids: [String])])
  case noLabelledImage(path: String, rowCount: Int, imageCount: Int)

  var description: String {
    switch self {
    case .differentClasses(let models):
      "the models have different classes: "
        + models.filter { !$0.ids.isEmpty }.map { "only '\($0.folder)' has \($0.ids.quotedList)" }
        .joined(separator: ", ")
    case .noLabelledImage(let path, let rowCount, let imageCount):
      """
      \(path): none of its \(rowCount) rows is of one of the \(imageCount) images; a row belongs to the image whose file \
      name without its ending is the image_id
      """
    }
  }
}
