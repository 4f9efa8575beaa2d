/// Says what went wrong, and what to do about it. The only error that this library throws.
public struct DermaFusionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of the error. Later versions may have more of them.
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
    /// A request of a program in another language breaks a rule.
    public static let invalidRequest = Code("invalidRequest")
  }

  /// The kind of the error.
  public let code: Code
  /// The fault, in one line that names the file, the value and the rule.
  public var message: String { fault.description }
  /// The remedy, one sentence.
  public var remedy: String {
    let words = advice.description
    return words.prefix(1).uppercased() + words.dropFirst()
  }
  /// ``message`` as other languages word it.
  package let fault: Sentence
  /// ``remedy`` as other languages word it; its first letter may be small.
  package let advice: Sentence

  package init(_ code: Code, message: Sentence, remedy: Sentence) {
    self.code = code
    fault = message
    advice = remedy
  }

  /// The same failure of a named file, image or table: its message begins with the name.
  package func named(_ name: String) -> DermaFusionError {
    DermaFusionError(code, message: "\(name): \(fault)", remedy: advice)
  }

  /// The result of `body`; the message of its failure begins with the name of the file that it speaks of.
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
  package func withCode(_ code: Code, remedy: Sentence? = nil) -> DermaFusionError {
    DermaFusionError(code, message: fault, remedy: remedy ?? advice)
  }

  /// ``message``
  public var description: String { message }
}

extension DermaFusionError.Code {
  /// A file or folder is not there, is of the wrong kind, or cannot be opened.
  package static let fileNotFound = Self("fileNotFound")
  package static let emptyFile = Self("emptyFile")
  package static let unusableFile = Self("unusableFile")
  package static let closedOutput = Self("closedOutput")
  package static let failedOutput = Self("failedOutput")
}

/// Files and folders. Every message names the path and the rule.
extension DermaFusionError {
  private static func missing(_ path: String, _ reason: Sentence) -> Self {
    Self(.fileNotFound, message: "\(path): \(reason)", remedy: "Check the path.")
  }

  private static func unusable(_ path: String, _ reason: Sentence) -> Self {
    Self(.unusableFile, message: "\(path): \(reason)", remedy: "Check the file, or name another one.")
  }

  package static func notFound(_ path: String) -> Self { missing(path, "no such file or folder") }
  package static func isFolder(_ path: String) -> Self { missing(path, "is a folder, not a file") }
  package static func notFolder(_ path: String) -> Self { missing(path, "is a file, not a folder") }
  package static func brokenLink(_ path: String) -> Self {
    missing(path, "is a link to something that is not there")
  }
  package static func notFile(_ path: String) -> Self { missing(path, "is neither a file nor a folder") }
  /// - Parameter reason: the system's own words.
  package static func unreadable(_ path: String, reason: String) -> Self {
    missing(path, "cannot be read: \(reason)")
  }
  /// A folder that was to be made is there and holds something.
  package static func folderNotEmpty(_ path: String) -> Self {
    unusable(path, "the folder is there and not empty; please name one that is not")
  }
  package static func empty(_ path: String) -> Self {
    Self(.emptyFile, message: "\(path): the file is empty", remedy: "Name a file that holds something.")
  }
  package static func tooLarge(_ path: String, limit: Int) -> Self {
    let limit = limit < 1 << 20 ? "\(limit >> 10) kB" : "\(limit >> 20) MB"
    return unusable(path, "the file is larger than the limit of \(limit)")
  }
  package static func outOfMemory(_ path: String, byteCount: Int) -> Self {
    unusable(path, "there is no memory for its \(byteCount) bytes")
  }
  /// Another process wrote to the file while it was read.
  package static func changed(_ path: String) -> Self {
    unusable(path, "the file changed while it was read; try again when it is complete")
  }
  package static func folderWithout(_ path: String, kind: String) -> Self {
    unusable(path, "the folder holds no \(kind)")
  }
  /// - Parameter path: the wrong bytes of its name as `\xE9`.
  package static func nameNotText(_ path: String) -> Self { unusable(path, "the name is not UTF-8 text") }
  package static func pipeWithoutWriter(_ path: String, seconds: Int) -> Self {
    unusable(path, "is a pipe that nothing was written to for \(seconds) seconds")
  }
  /// Something was written to the pipe, but not its end.
  package static func pipeWithoutEnd(_ path: String, seconds: Int) -> Self {
    unusable(path, "is a pipe that did not end within the limit of \(seconds) seconds")
  }
  package static func pipeWithoutReader(_ path: String, seconds: Int) -> Self {
    unusable(path, "is a pipe that nobody read from for \(seconds) seconds")
  }
  /// - Parameter reason: the system's own words.
  package static func unwritable(_ path: String, reason: String) -> Self {
    unusable(path, "cannot be written: \(reason)")
  }
  /// A failure that does not itself name its file.
  package static func failure(name: String, reason: Sentence) -> Self { unusable(name, reason) }

  /// True if the message begins with the name of a file already.
  package var namesItsFile: Bool { [.fileNotFound, .emptyFile, .unusableFile].contains(code) }

  /// True if results cannot be written any more, so that a batch must end.
  package var isOfOutput: Bool { code == .closedOutput || code == .failedOutput }

  // Standard output
  package static var closed: Self {
    Self(.closedOutput, message: "standard output was closed", remedy: "Read all of the output.")
  }
  /// - Parameters:
  ///   - path: `nil` for standard output.
  ///   - reason: the system's own words.
  package static func failed(path: String? = nil, reason: String) -> Self {
    Self(
      .failedOutput, message: "\(path.map { "\($0):" } ?? "standard output") cannot be written: \(reason)",
      remedy: "Write to another place.")
  }
}
