import DermaFusion

/// A classifier and the texts that C programs read of it.
///
/// `@unchecked Sendable`: the texts are written before anyone else has the object, and freed with it.
final class OpenClassifier: @unchecked Sendable {
  let classifier: Classifier
  private let classIDs: [UnsafeMutablePointer<CChar>]

  init(_ classifier: Classifier) {
    self.classifier = classifier
    classIDs = classifier.labels.map { CText.copy($0.id) }
  }

  deinit { for id in classIDs { id.deallocate() } }

  /// Loads a model.
  ///
  /// - Parameter threadCount: 0: as many as the process may use.
  convenience init(
    threadCount: Int32, _ load: (_ threadCount: Int?) throws(DermaFusionError) -> Classifier
  ) throws(DermaFusionError) {
    guard (0...1024).contains(threadCount) else {
      throw .argument(
        "thread_count is \(threadCount), not within 0...1024",
        remedy: "Give 0 for as many as there are processors."
      )
    }
    if let refusal = Classifier.unavailableInstructionSet {
      throw .argument(
        refusal.description, remedy: "Unset the environment variable \(Classifier.instructionSetVariable).")
    }
    self.init(try load(threadCount == 0 ? nil : Int(threadCount)))
  }

  /// Valid as long as this object; nil beyond the last class.
  func classID(_ index: UInt32) -> UnsafePointer<CChar>? {
    classIDs.indices.contains(Int(index)) ? UnsafePointer(classIDs[Int(index)]) : nil
  }
}
