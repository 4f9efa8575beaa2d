import SystemModule

/// The files that a command writes beside its text, checked before any work is done.
package struct OutputFiles: Sendable {
  private let terminal: Terminal
  private let streamed: Set<String>

  /// - Parameters:
  ///   - outputs: by the display of their options.
  ///   - inputs: what is read or must not be replaced, as messages call it; of two names of a file the last counts.
  ///     Asked for only when there is an output: the inputs may be thousands.
  /// - Throws: ``DermaFusionError`` where an output would replace an input or another output; ``DermaFusionError`` where the folder
  ///   that it would go into is not there.
  package init(
    _ outputs: [(display: String, path: String)], inputs files: () -> [(name: String, path: String)],
    terminal: Terminal
  ) throws {
    self.terminal = terminal
    streamed = Set(outputs.map(\.path).filter(terminal.isStandardOutput))
    if outputs.isEmpty { return }
    var inputs: [FileIdentity: String] = [:]
    for (name, path) in files() {
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

  /// Whether one of them is standard output, which then has no room for text.
  package var usesStandardOutput: Bool { !streamed.isEmpty }

  /// Writes one of them: at once or not at all, or as a stream to standard output.
  package func write(_ bytes: [UInt8], path: String) throws {
    try write([(bytes, path)])
  }

  /// Writes several of them: all files or none, and what goes to standard output only when the files are there.
  package func write(_ files: [(bytes: [UInt8], path: String)]) throws {
    try FileBytes.write(files.filter { !streamed.contains($0.path) })
    for (bytes, path) in files where streamed.contains(path) { try terminal.output.write(shown(bytes, path)) }
  }

  /// What a person who looks at standard output may get: text, in which a terminal finds nothing to obey.
  private func shown(_ bytes: [UInt8], _ path: String) throws(DermaFusionError) -> [UInt8] {
    if terminal.width == nil { return bytes }
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      throw .usage("'\(path)' is a terminal, which cannot show this output. Please name a file or a pipe.")
    }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return Array(lines.map { String($0).printable }.joined(separator: "\n").utf8)
  }
}
