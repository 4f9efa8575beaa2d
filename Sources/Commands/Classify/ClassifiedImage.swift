import DermaFusion
import Files

/// The result of one image.
struct ClassifiedImage: ImageReport, Sendable {
  let classification: Classification
  let imageName: String
  /// nil: not to be told.
  var timing: ClassificationTiming? = nil
  /// nil: not to be told.
  var shares: MetadataShares? = nil
  var usesColour = false

  var json: JSONValue {
    .object(classification.members(imageName: imageName, shares: shares, timing: timing))
  }

  func text(width: Int?) -> String {
    ClassificationText(width: width, usesColour: usesColour)
      .text(classification, imageName: imageName, timing: timing, shares: shares)
  }

  func csv(isForTerminal: Bool) -> (header: String, rows: String) {
    (
      ClassificationCSV.header(
        labels: classification.probabilities.labels, showsTiming: timing != nil, views: classification.views),
      ClassificationCSV.row(
        classification, imageName: imageName, timing: timing, isForTerminal: isForTerminal)
    )
  }

  func submission(isForTerminal: Bool) -> (header: String, rows: String) {
    (
      ISICSubmission.header,
      ISICSubmission.row(classification, imageName: imageName, isForTerminal: isForTerminal)
    )
  }
}

extension ClassificationTiming {
  var totalMilliseconds: Double { decodeMilliseconds + preprocessMilliseconds + networkMilliseconds }

  var words: String {
    let parts = [
      ("decode", decodeMilliseconds), ("preprocess", preprocessMilliseconds),
      ("network", networkMilliseconds),
    ]
    return parts.map { "\($0.0) \($0.1.fixed(digits: 1)) ms" }.joined(separator: ", ")
  }
}
