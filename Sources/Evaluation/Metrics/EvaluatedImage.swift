import DermaFusion

/// One image of a test list, with what the model made of it.
package struct EvaluatedImage: Sendable, Equatable {
  package let lesion: String
  /// Whose lesion it is; `nil` where the list does not say.
  package let patient: String?
  /// What the list says it is.
  package let label: LesionLabel
  /// 0...1, summing to 1; those that mean little where the model abstained, too.
  package let probabilities: ClassScores
  /// What went into the model besides the image.
  package let metadata: PatientMetadata
  /// Where the image came from, a folder for instance.
  package let source: String
  /// What the list has in other columns, by the name of the column; what is missing there is missing here.
  package let cells: [String: String]
  /// Whether the model abstained, and its set of classes.
  package let abstention: Abstention

  package init(
    lesion: String, label: LesionLabel, probabilities: ClassScores, metadata: PatientMetadata, source: String,
    patient: String? = nil, cells: [String: String] = [:], abstention: Abstention = .none
  ) {
    self.lesion = lesion
    self.label = label
    self.probabilities = probabilities
    self.metadata = metadata
    self.source = source
    self.patient = patient
    self.cells = cells
    self.abstention = abstention
  }

  /// Images with the same are drawn together when figures get their intervals: those of a patient where the list tells
  /// patients, else those of a lesion.
  var drawnWith: String { patient.map { "patient \($0)" } ?? lesion }

  var prediction: LesionLabel { probabilities.highest }
  /// The greatest probability.
  var confidence: Double { Double(probabilities[prediction]) }
}
