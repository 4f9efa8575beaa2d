/// Why a model is not fitted.
enum CalibrationRefusal: Error, Equatable, CustomStringConvertible {
  case ensemble(String)
  case fewLesions(Int, String)
  case missingClasses([String], String)
  case trainedOn(lesions: [String], labels: String)
  case changed(String)

  /// A fit to fewer lesions would say more about chance than about the images.
  static let minimumLesions = 50

  var description: String {
    switch self {
    case .ensemble(let folder):
      "\(folder): is an ensemble, which has no last layer of its own; please calibrate its members"
    case .fewLesions(let count, let path):
      "\(path): \(count) lesions are too few to fit a model to; at least \(Self.minimumLesions) are needed"
    case .missingClasses(let ids, let path):
      """
      \(path): there is no photograph of \(ids.quotedList), which the model knows; each of its classes \
      needs at least one
      """
    case .trainedOn(let lesions, let path):
      """
      \(path): the model was trained on \(lesions.count) of its lesions, the first of them '\(lesions[0])'; a model is \
      surer of those than of others, and a fit to them would be wrong for all others
      """
    case .changed(let folder): "\(folder): the model's files changed while they were read"
    }
  }
}
