import DermaFusion
import Files
import SystemModule

/// The files that a command writes beside its text, checked before any work is done.
struct OutputFiles: Sendable {
  private let terminal: Terminal
  private let streamed: Set<String>

  /// - Parameters:
  ///   - outputs: by the display of their options.
  ///   - images: what is read.
  ///   - table: what else is read, as messages call it.
  ///   - model: the folder of a model or an ensemble.
  /// - Throws: ``DermaFusionError`` where an output would replace what is read, or another output, and where the folder that it
  ///   would go into is not there.
  init(
    _ outputs: [(display: String, path: String)], images: [ImageSource],
    table: (name: String, path: String)? = nil, model: String, terminal: Terminal
  ) throws {
    self.terminal = terminal
    streamed = Set(outputs.map(\.path).filter(terminal.isStandardOutput))
    // The inputs may be thousands.
    if outputs.isEmpty { return }
    let modelFiles = ModelFolder.filePaths(in: model)
    var files = modelFiles.map { (name: "a file of the model", path: $0) }
    // Loading does without them, but nobody has another copy.
    files += modelFiles.map(FileBytes.folder(of:)).flatMap { folder in
      [("the model's card", "README.md"), ("the model's data list", TrainingList.relativePath)]
        .map { ($0, "\(folder)/\($1)") }
    }
    if let table { files.append(table) }
    files += images.map { (images.count == 1 ? "the image itself" : "one of the images", $0.systemPath) }
    // The last of two names of a file counts.
    var inputs: [FileIdentity: String] = [:]
    for (name, path) in files {
      // Devices such as /dev/null can be read and written by as many as like to.
      guard !FileBytes.isDevice(path), let identity = FileIdentity(path: path) else { continue }
      inputs[identity] = name
    }
    var seen: [FileIdentity: String] = [:]
    for (display, path) in outputs {
      let systemPath = path == "-" ? "/dev/stdout" : path
      guard !FileBytes.isDevice(systemPath), let identity = FileIdentity(path: systemPath) else { continue }
      if let input = inputs[identity] {
        throw DermaFusionError.usage("'\(path)' is \(input), and '\(display)' would replace it.")
      }
      if let other = seen.updateValue(display, forKey: identity) {
        throw Self.repeated(path, other, display)
      }
    }
    for (_, path) in outputs where !streamed.contains(path) { try FileBytes.requireFolder(of: path) }
    let streams = outputs.filter { streamed.contains($0.path) }
    if streams.count > 1 {
      throw Self.repeated(streams[1].path, streams[0].display, streams[1].display)
    }
  }

  private static func repeated(_ path: String, _ one: String, _ other: String) -> DermaFusionError {
    .usage("'\(path)' would be written for '\(one)' and for '\(other)'.")
  }

  /// True if one of them is standard output, which then has no room for text.
  var usesStandardOutput: Bool { !streamed.isEmpty }

  /// Writes one of them: at once or not at all, or as a stream to standard output.
  func write(_ bytes: [UInt8], path: String) throws {
    try write([(bytes, path)])
  }

  /// Writes several of them: all files or none, and what goes to standard output only when the files are there.
  func write(_ files: [(bytes: [UInt8], path: String)]) throws {
    try FileBytes.write(files.filter { !streamed.contains($0.path) })
    for (bytes, path) in files where streamed.contains(path) { try terminal.output.write(shown(bytes, path)) }
  }

  /// Text for a terminal, without control sequences.
  private func shown(_ bytes: [UInt8], _ path: String) throws(DermaFusionError) -> [UInt8] {
    if terminal.width == nil { return bytes }
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage("'\(path)' is a terminal, which cannot show this output. Please name a file or a pipe.")
    }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return Array(lines.map { String($0).printable }.joined(separator: "\n").utf8)
  }
}
