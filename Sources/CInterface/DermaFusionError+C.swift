import CDermaFusion
import DermaFusion

extension DermaFusionError.Code {
  static let invalidHandle = Self("invalidHandle")

  /// The code of a C program's error.
  var status: dermafusion_status {
    let status =
      switch self {
      case .modelNotFound: DERMAFUSION_MODEL_NOT_FOUND
      case .invalidModel: DERMAFUSION_INVALID_MODEL
      case .invalidImage: DERMAFUSION_INVALID_IMAGE
      case .invalidMetadata: DERMAFUSION_INVALID_METADATA
      case .nonFiniteOutput: DERMAFUSION_NON_FINITE_OUTPUT
      case .unknownLayer: DERMAFUSION_UNKNOWN_LAYER
      case .unknownClass: DERMAFUSION_UNKNOWN_CLASS
      case .ensembleNotExplained: DERMAFUSION_ENSEMBLE_NOT_EXPLAINED
      case .invalidRequest: DERMAFUSION_INVALID_ARGUMENT
      case .invalidHandle: DERMAFUSION_INVALID_HANDLE
      default: DERMAFUSION_FAILED
      }
    return dermafusion_status(status)
  }
}

extension DermaFusionError {
  static func argument(_ message: String, remedy: String) -> DermaFusionError {
    DermaFusionError(.invalidRequest, message: message, remedy: remedy)
  }

  static func null(_ name: String) -> DermaFusionError {
    argument("\(name) is NULL", remedy: "Hand over \(name).")
  }

  /// Tells a C program; a text that is too long is cut between characters.
  func fill(_ error: UnsafeMutablePointer<dermafusion_error>?) {
    guard let error else { return }
    error.pointee.code = code.status
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
  _ target: UnsafeMutablePointer<dermafusion_error>?, _ body: () throws(DermaFusionError) -> Void
) -> dermafusion_status {
  do throws(DermaFusionError) {
    try body()
    return dermafusion_status(DERMAFUSION_OK)
  } catch {
    error.fill(target)
    return error.code.status
  }
}
