import CDermaFusion
import DermaFusion
import Files
import SystemModule

// Errors, texts and structs that may grow, on their way between Swift and C.

extension DermaFusionError.Code {
  static let invalidHandle = Self("invalidHandle")

  /// The code of a C program's error.
  var status: dermafusion_status {
    let status =
      switch self {
      case .modelNotFound: DERMAFUSION_MODEL_NOT_FOUND
      case .invalidModel: DERMAFUSION_INVALID_MODEL
      case .invalidImage: DERMAFUSION_INVALID_IMAGE
      case .invalidMetadata, .invalidTable: DERMAFUSION_INVALID_METADATA
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
  static func argument(_ message: Sentence, remedy: Sentence) -> DermaFusionError {
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
      // A zero byte would end the text for C.
      let bytes = character == "\0" ? Array("?".utf8) : Array(character.utf8)
      if count + bytes.count >= target.count { break }
      for (offset, byte) in bytes.enumerated() { target[count + offset] = byte }
      count += bytes.count
    }
    target[count] = 0
  }
}

/// True if `body` could do its work; where it could not, `target` is told why.
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

/// Texts in memory as C programs read them.
enum CText {
  /// The text's UTF-8 and a zero byte, to be deallocated by the caller.
  static func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
    let bytes = Array(text.utf8)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
    copy[bytes.count] = 0
    return copy
  }

  /// More than a path or a name has.
  private static let byteLimit = 1 << 16

  /// The text that a C program hands over; nil where it hands over none. What is not UTF-8 is refused: put right, it would be
  /// another text, and might name another file.
  ///
  /// - Parameter limit: the most bytes that it may have, looked at before it is copied.
  static func read(
    _ text: UnsafePointer<CChar>?, _ name: String, limit: Int = byteLimit
  ) throws(DermaFusionError) -> String? {
    guard let text else { return nil }
    guard (0...limit).contains(where: { text[$0] == 0 }) else {
      throw .argument("\(name) is longer than \(limit) bytes", remedy: "Hand over a shorter text.")
    }
    guard let valid = String(validatingCString: text) else {
      throw .argument("\(name) is not UTF-8", remedy: "Hand over UTF-8 text.")
    }
    return valid
  }
}

/// Checks the size that a C program writes into a struct: at least that of the struct's first version.
func requireSize(_ size: UInt32, atLeast first: Int, _ name: String) throws(DermaFusionError) {
  guard Int(size) >= first else {
    throw .argument(
      "the \(name)'s size is \(size), not \(first)", remedy: "Set size to the sizeof of the struct.")
  }
}

/// Fills a struct of a C program whose first member is its size: as much of it as the program knows.
///
/// - Parameter first: the size of the struct's first version.
func fill<Struct: BitwiseCopyable>(
  _ target: UnsafeMutablePointer<Struct>, size: UInt32, atLeast first: Int, _ name: String, with value: Struct
) throws(DermaFusionError) {
  try requireSize(size, atLeast: first, name)
  withUnsafeBytes(of: value) {
    let known = UnsafeRawBufferPointer(rebasing: $0.prefix(Int(size)))
    let target = UnsafeMutableRawPointer(target)
    target.copyMemory(from: known.baseAddress!, byteCount: known.count)
    target.storeBytes(of: UInt32(known.count), as: UInt32.self)
  }
}
