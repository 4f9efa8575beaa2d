import Foundation
import NetworkModule
import SystemModule
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Files
@testable import ImagePipeline

/// The result of a run of the tool.
struct ToolResult {
  let status: Commands.ExitStatus
  let output: String
  /// Without ``modelNotes``, which every command on images writes for the small models of the tests.
  let errors: String
  /// The lines on a model without limits of its own.
  let modelNotes: [String]
  let outputBytes: [UInt8]

  init(status: Commands.ExitStatus, output: String, errors: String, outputBytes: [UInt8]) {
    let lines = errors.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let isNote = { (line: String) in line.hasPrefix("Note: ") && line.contains(" has no limits of its own: ")
    }
    self.status = status
    self.output = output
    self.errors = lines.filter { !isNote($0) }.joined(separator: "\n")
    modelNotes = lines.filter(isNote)
    self.outputBytes = outputBytes
  }

  /// The output, which is JSON.
  func object() throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any], "\(errors)")
  }

  /// The command refused: nothing was written, and the errors begin with `start`.
  func expect(
    _ status: Commands.ExitStatus, _ start: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expect(status, errors.hasPrefix(start), sourceLocation)
  }

  func expect(
    _ status: Commands.ExitStatus, whole text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expect(status, errors == text, sourceLocation)
  }

  func expect(_ status: Commands.ExitStatus, part: String, sourceLocation: SourceLocation = #_sourceLocation)
  {
    expect(status, errors.contains(part), sourceLocation)
  }

  private func expect(_ status: Commands.ExitStatus, _ saysSo: Bool, _ sourceLocation: SourceLocation) {
    #expect(self.status == status, sourceLocation: sourceLocation)
    #expect(output == "", sourceLocation: sourceLocation)
    #expect(saysSo, "\(errors)", sourceLocation: sourceLocation)
  }
}

/// Bytes kept in memory.
final class MemoryOutput: ByteOutput {
  private let storage = Locked<[UInt8]>([])
  private let failure: DermaFusionError?
  /// Bytes that are taken before the failure.
  private let capacity: Int

  init(failure: DermaFusionError? = nil, capacity: Int = .max) {
    self.failure = failure
    self.capacity = capacity
  }

  var bytes: [UInt8] { storage.withLock { $0 } }
  var text: String { String(decoding: bytes, as: UTF8.self) }

  func write(_ bytes: [UInt8]) throws(DermaFusionError) {
    let count = storage.withLock {
      $0 += bytes
      return $0.count
    }
    if let failure, count > capacity { throw failure }
  }
}

/// - Parameter streams: the paths that lead to standard output.
func memoryTerminal(
  output: MemoryOutput = MemoryOutput(), errors: MemoryOutput = MemoryOutput(), input: [UInt8] = [],
  environment: [String: String] = [:], width: Int? = nil, usesColour: Bool = false,
  showsProgress: Bool = false, streams: Set<String> = [], executablePath: String? = nil
) -> Terminal {
  Terminal(
    output: output, errors: errors,
    readInput: { (limit) throws(DermaFusionError) in
      if input.isEmpty { throw .empty("standard input") }
      if input.count > limit { throw .tooLarge("standard input", limit: limit) }
      return input
    },
    width: width, usesColour: usesColour, showsProgress: showsProgress,
    environment: { environment[$0] }, isStandardOutput: { streams.contains($0) },
    executablePath: executablePath)
}

/// The model of a folder, for a number of threads and a precision.
typealias Loading = @Sendable (String, Int?, Precision?) throws -> Classifier

/// The program's own way: the model that the folder holds.
let loadingFolders: Loading = Session(terminal: memoryTerminal()).loadClassifier

/// Runs the real parser and commands with everything around them in memory, and a network of a few lines in
/// the place of a trained one.
func runTool(
  _ words: String..., input: [UInt8] = [], environment: [String: String] = ["DERMAFUSION_MODEL": "model"],
  width: Int? = nil, usesColour: Bool = false, executablePath: String? = nil,
  output: MemoryOutput = MemoryOutput(), usesMetadata: Bool = true, showsProgress: Bool = false
) -> ToolResult {
  runTool(
    words: words, input: input, environment: environment, width: width, usesColour: usesColour,
    executablePath: executablePath, output: output, usesMetadata: usesMetadata, showsProgress: showsProgress)
}

/// ``runTool(_:input:environment:width:usesColour:executablePath:output:usesMetadata:showsProgress:)`` with its
/// words in an array.
///
/// - Parameter loading: in the place of the network of a few lines.
func runTool(
  words: [String], input: [UInt8] = [], environment: [String: String] = ["DERMAFUSION_MODEL": "model"],
  width: Int? = nil, usesColour: Bool = false, executablePath: String? = nil,
  output: MemoryOutput = MemoryOutput(), usesMetadata: Bool = true, showsProgress: Bool = false,
  streams: Set<String> = [], instructionSetRefusal: String? = nil, classifier: Classifier? = nil,
  loading: Loading? = nil
) -> ToolResult {
  let errors = MemoryOutput()
  let terminal = memoryTerminal(
    output: output, errors: errors, input: input, environment: environment, width: width,
    usesColour: usesColour, showsProgress: showsProgress, streams: streams, executablePath: executablePath)
  let session = Session(
    terminal: terminal, instructionSetRefusal: instructionSetRefusal,
    loadClassifier: loading ?? { folder, threadCount, _ in
      guard !folder.contains("missing") else {
        throw DermaFusionError(
          .modelNotFound, message: "\(folder): there is no such model folder", remedy: "Name a folder.")
      }
      return try classifier ?? toyClassifier(threadCount: threadCount ?? 2, usesMetadata: usesMetadata)
    })
  let status = Tool.dermafusion.run(words, session: session)
  return ToolResult(status: status, output: output.text, errors: errors.text, outputBytes: output.bytes)
}

/// The arguments of a command line that asks for neither help nor the version.
func parsedArguments(
  _ words: [String], positionals: [Positional] = [], options: [any AnyCommandOption]
) throws -> ParsedArguments {
  guard
    case .arguments(let arguments) = try ParsedArguments.parse(
      words, positionals: positionals, options: options)
  else { throw DermaFusionError.unexpectedArgument("no arguments") }
  return arguments
}

/// A classifier whose logits are read off the image's mean colour and the metadata, so that every input
/// shows in the output.
func toyClassifier(threadCount: Int, usesMetadata: Bool) throws -> Classifier {
  Classifier(try toyModel(threadCount: threadCount, usesMetadata: usesMetadata))
}

func toyModel(threadCount: Int, usesMetadata: Bool) throws -> Model {
  try StandIn.model(
    toyConfiguration(usesMetadata: usesMetadata), threadCount: threadCount,
    sha256: String(repeating: "0123456789abcdef", count: 4),
    metadata: [1: [1, 0, 0, 0], 3: [0, -1, 0, 0], 6: [0, 0, 0, 1.0 / 14]]
  ) { image in
    let pixels = image.pixels
    let means = (0..<3).map { channel in
      let values = stride(from: channel, to: pixels.count, by: 3).map { Float(pixels[$0]) }
      return values.reduce(0, +) / Float(values.count) / 64
    }
    return [means[0], 0, -1, 0, means[1], means[2], 0]
  }
}

func toyConfiguration(usesMetadata: Bool) -> String {
  StandIn.configuration(
    name: "toy", version: "0.0.1", size: 48, constancy: StandIn.shadesOfGray, hasFusion: usesMetadata)
}

/// A PNM image with a different colour in every pixel, deep red in the middle.
func pnm(width: Int = 120, height: Int = 100, seed: Int = 0) -> [UInt8] {
  var bytes = Array("P6\n\(width) \(height)\n255\n".utf8)
  for y in 0..<height {
    for x in 0..<width {
      bytes.append(UInt8(180 + (x + seed) % 40))
      bytes.append(UInt8(60 + (y * 3 + seed) % 90))
      bytes.append(UInt8((x * y + seed) % 120))
    }
  }
  return bytes
}
