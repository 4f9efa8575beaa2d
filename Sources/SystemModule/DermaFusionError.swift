/// Why something could not be done: what went wrong, and what to do about it. The only error that this library throws.
public struct DermaFusionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of error it is. Later versions may have more of them.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, `invalidImage`.
    public let description: String

    package init(_ name: String) { description = name }

    /// The model's folder or one of its files is not there or cannot be read.
    public static let modelNotFound = Code("modelNotFound")
    /// A file of the model breaks a rule.
    public static let invalidModel = Code("invalidModel")
    /// An image is in no known format, damaged, too small or too large.
    public static let invalidImage = Code("invalidImage")
    /// A picture could not be written as PNG.
    public static let encodingFailed = Code("encodingFailed")
    /// A patient's age is outside 0...130 years or is not a number.
    public static let invalidMetadata = Code("invalidMetadata")
    /// The network's outputs, or an activation map, are not all finite; no result is made from them.
    public static let nonFiniteOutput = Code("nonFiniteOutput")
    /// An activation map of a layer that the model does not have was requested.
    public static let unknownLayer = Code("unknownLayer")
    /// An activation map of a class that the model does not have was requested.
    public static let unknownClass = Code("unknownClass")
    /// Activation maps are of one network, and this is an ensemble.
    public static let ensembleNotExplained = Code("ensembleNotExplained")
    /// What a program in another language asked for breaks a rule.
    public static let invalidRequest = Code("invalidRequest")
  }

  /// What kind of error it is.
  public let code: Code
  /// What went wrong, in one line that names the file, the value and the rule.
  public let message: String
  /// What to do about it, one sentence.
  public let remedy: String

  package init(_ code: Code, message: String, remedy: String) {
    self.code = code
    self.message = message
    self.remedy = remedy
  }

  /// The same failure of a named file, image or table: its message begins with the name.
  package func named(_ name: String) -> DermaFusionError {
    DermaFusionError(code, message: "\(name): \(message)", remedy: remedy)
  }

  /// What `body` returns; the message of its failure begins with the name of the file that it speaks of.
  package static func naming<Value>(
    _ name: String, _ body: () throws(DermaFusionError) -> Value
  ) throws(DermaFusionError) -> Value {
    do throws(DermaFusionError) {
      return try body()
    } catch {
      throw error.named(name)
    }
  }

  /// The same failure in another role.
  package func withCode(_ code: Code, remedy: String? = nil) -> DermaFusionError {
    DermaFusionError(code, message: message, remedy: remedy ?? self.remedy)
  }

  /// ``message``
  public var description: String { message }
}
