import CDermaFusion
import DermaFusion
import SystemModule

/// The objects that C programs hold handles of. A handle is a number that is never used twice, so that one that was closed or
/// made up is recognised.
struct Handles: Sendable {
  enum Content: Sendable {
    case classifier(OpenClassifier)
    case result(CResult)
  }

  private static let shared = Locked(Handles())

  /// Not near 0, so that counts and indices are no handles.
  private var last: UInt64 = 0xDF << 32
  private var contents: [UInt64: Content] = [:]

  static func add(_ content: Content) -> UInt64 {
    shared.withLock { handles in
      handles.last += 1
      handles.contents[handles.last] = content
      return handles.last
    }
  }

  static func classifier(_ handle: dermafusion_classifier) throws(DermaFusionError) -> OpenClassifier {
    let content = shared.withLock { $0.contents[handle] }
    guard case .classifier(let classifier) = content else { throw unknown(handle, kind: "classifier") }
    return classifier
  }

  static func result(_ handle: dermafusion_result) throws(DermaFusionError) -> CResult {
    let content = shared.withLock { $0.contents[handle] }
    guard case .result(let result) = content else { throw unknown(handle, kind: "result") }
    return result
  }

  /// Forgets what a handle stands for. It is freed when the last call that uses it returns.
  static func close(classifier handle: dermafusion_classifier) throws(DermaFusionError) {
    try remove(handle, kind: "classifier") { if case .classifier = $0 { true } else { false } }
  }

  /// See ``close(classifier:)``.
  static func close(result handle: dermafusion_result) throws(DermaFusionError) {
    try remove(handle, kind: "result") { if case .result = $0 { true } else { false } }
  }

  private static func remove(
    _ handle: UInt64, kind: String, _ isOfKind: (Content) -> Bool
  ) throws(DermaFusionError) {
    if handle == 0 { return }
    // Looked at and removed at once: of two threads that close a handle, one is told. Not freed under the lock, which takes
    // a while for a model.
    let content: Content? = shared.withLock { handles in
      guard let content = handles.contents[handle], isOfKind(content) else { return nil }
      handles.contents[handle] = nil
      return content
    }
    if content == nil { throw unknown(handle, kind: kind) }
  }

  private static func unknown(_ handle: UInt64, kind: String) -> DermaFusionError {
    DermaFusionError(
      .invalidHandle, message: "\(handle) is no open \(kind)",
      remedy: "Use a handle of a \(kind) that was opened in this process and is not closed.")
  }
}

/// A classifier and the texts that C programs read of it.
///
/// `@unchecked Sendable`: the texts are written before anyone else has the object, and freed with it.
final class OpenClassifier: @unchecked Sendable {
  let classifier: Classifier
  /// The language of the errors of opening, and of the classifiers that are opened from now on.
  static let firstLanguage = Locked(Language.english)
  /// The language of results of requests that name none.
  let language = Locked(OpenClassifier.firstLanguage.withLock { $0 })
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
        refusal.fault, remedy: "Unset the environment variable \(Classifier.instructionSetVariable).")
    }
    self.init(try load(threadCount == 0 ? nil : Int(threadCount)))
  }

  /// Valid as long as this object; nil beyond the last class.
  func classID(_ index: UInt32) -> UnsafePointer<CChar>? {
    classIDs.indices.contains(Int(index)) ? UnsafePointer(classIDs[Int(index)]) : nil
  }
}
