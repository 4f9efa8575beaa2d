import DermaFusion
import ImageCodecs
import SystemModule

/// Where the bytes of one image come from: `-` is standard input, everything else the path of a file.
struct ImageSource: Equatable, Sendable {
  /// The image's name in results and messages: as it was given.
  let name: String
  /// The path from the named folder to the image's own folder; empty for an image that was named itself.
  var folder = ""

  /// The file name without its folders and its ending, by which tables know the image.
  var identifier: String? { name.imageIdentifier }

  /// Without its folders.
  var fileName: String? { name.fileName }

  /// Where the system has it.
  var systemPath: String { name == "-" ? "/dev/stdin" : name }

  /// The image's bytes.
  func read(terminal: Terminal) throws(DermaFusionError) -> [UInt8] {
    if name == "-" { return try terminal.readInput(ImageDecoder.fileByteLimit) }
    return try FileBytes.read(
      path: name, limit: ImageDecoder.fileByteLimit, refusal: ImageDecoder.refusal(ofStart:))
  }

  /// Does some work on the image; errors that do not themselves say of what they speak are given its name.
  func naming<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let error as DermaFusionError {
      throw error.namesItsFile || error.isOfOutput || error.isUsage ? error : error.named(name)
    } catch {
      throw DermaFusionError.failure(name: name, reason: "\(error)")
    }
  }
}
