import CDermaFusion
import DermaFusion

/// Why a call fails, as a C program is told.
struct Failure: Error {
  let code: dermafusion_status
  /// What went wrong, in one line.
  let message: String
  /// What to do about it.
  let remedy: String

  init(_ code: Int, message: String, remedy: String) {
    self.code = dermafusion_status(code)
    self.message = message
    self.remedy = remedy
  }

  init(_ error: DermaFusionError) {
    self.init(Self.status(of: error.code), message: error.message, remedy: error.remedy)
  }

  static func argument(_ message: String, remedy: String) -> Failure {
    Failure(DERMAFUSION_INVALID_ARGUMENT, message: message, remedy: remedy)
  }

  static func null(_ name: String) -> Failure {
    argument("\(name) is NULL", remedy: "Hand over \(name).")
  }

  private static func status(of code: DermaFusionError.Code) -> Int {
    switch code {
    case .modelNotFound: DERMAFUSION_MODEL_NOT_FOUND
    case .invalidModel: DERMAFUSION_INVALID_MODEL
    case .invalidImage: DERMAFUSION_INVALID_IMAGE
    case .invalidMetadata: DERMAFUSION_INVALID_METADATA
    case .nonFiniteOutput: DERMAFUSION_NON_FINITE_OUTPUT
    case .unknownLayer: DERMAFUSION_UNKNOWN_LAYER
    case .unknownClass: DERMAFUSION_UNKNOWN_CLASS
    case .ensembleNotExplained: DERMAFUSION_ENSEMBLE_NOT_EXPLAINED
    case .invalidRequest: DERMAFUSION_INVALID_ARGUMENT
    default: DERMAFUSION_FAILED
    }
  }

  /// Tells a C program; a text that is too long is cut between characters.
  func fill(_ error: UnsafeMutablePointer<dermafusion_error>?) {
    guard let error else { return }
    error.pointee.code = code
    withUnsafeMutableBytes(of: &error.pointee.message) { Self.copy(message, to: $0) }
    withUnsafeMutableBytes(of: &error.pointee.remedy) { Self.copy(remedy, to: $0) }
  }

  private static func copy(_ text: String, to target: UnsafeMutableRawBufferPointer) {
    var count = 0
    for character in text {
      // What lies in a zero byte's place ends the text for C.
      let bytes = character == "\0" ? Array("?".utf8) : Array(character.utf8)
      if count + bytes.count >= target.count { break }
      for (offset, byte) in bytes.enumerated() { target[count + offset] = byte }
      count += bytes.count
    }
    target[count] = 0
  }
}

/// Whether `body` could do its work; where it could not, `target` is told why.
func status(
  _ target: UnsafeMutablePointer<dermafusion_error>?, _ body: () throws(Failure) -> Void
) -> dermafusion_status {
  do throws(Failure) {
    try body()
    return dermafusion_status(DERMAFUSION_OK)
  } catch {
    error.fill(target)
    return error.code
  }
}

/// What `body` returns, its error as a C program is told.
func converting<Value>(
  _ body: () throws(DermaFusionError) -> Value
) throws(Failure) -> Value {
  do throws(DermaFusionError) {
    return try body()
  } catch {
    throw Failure(error)
  }
}
