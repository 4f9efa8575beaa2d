import DermaFusion

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files that a command writes beside its text, checked before any work is done.
struct OutputFiles {
  private let terminal: Terminal
  private let streamed: Set<String>

  /// - Parameters:
  ///   - outputs: by the display of their options.
  ///   - images: what is read.
  ///   - table: what else is read, as messages call it.
  ///   - model: the folder of a model or an ensemble.
  /// - Throws: ``UsageError`` where an output would replace what is read, or another output; ``FileError`` where the folder
  ///   that it would go into is not there.
  init(
    _ outputs: [(display: String, path: String)], images: [ImageSource],
    table: (name: String, path: String)? = nil, model: String, terminal: Terminal
  ) throws {
    self.terminal = terminal
    streamed = Set(outputs.map(\.path).filter(terminal.isStandardOutput))
    // Without an output there is nothing to be replaced, and the images may be thousands.
    if outputs.isEmpty { return }
    var inputs: [FileIdentity: String] = [:]
    let modelFiles = Classifier.filePaths(ofModel: model)
    var files = modelFiles.map { (name: "a file of the model", path: $0) }
    // Loading does without them, but nobody has another copy.
    let folders = modelFiles.map { String(decoding: PathBytes($0).folder.bytes, as: UTF8.self) }
    files += folders.flatMap { folder in
      [
        ("the model's card", "\(folder)/README.md"),
        ("the model's data list", "\(folder)/\(TrainingList.relativePath)"),
      ]
    }
    if let table { files.append(table) }
    let imageName = images.count == 1 ? "the image itself" : "one of the images"
    files += images.map { (imageName, $0.systemPath) }
    for (name, path) in files {
      // Devices such as /dev/null can be read and written by as many as like to.
      guard !Self.isDevice(path), let identity = FileIdentity(path: path) else { continue }
      inputs[identity] = name
    }
    var seen: [FileIdentity: String] = [:]
    for (display, path) in outputs {
      let systemPath = path == "-" ? "/dev/stdout" : path
      guard !Self.isDevice(systemPath), let identity = FileIdentity(path: systemPath) else { continue }
      if let input = inputs[identity] { throw UsageError.outputIsInput(path, input: input, display: display) }
      if let other = seen.updateValue(display, forKey: identity) {
        throw UsageError.repeatedOutput(path, displays: other, display)
      }
    }
    for (_, path) in outputs where !streamed.contains(path) { try FileBytes.requireFolder(of: path) }
    let streams = outputs.filter { streamed.contains($0.path) }
    if streams.count > 1 {
      throw UsageError.repeatedOutput(streams[1].path, displays: streams[0].display, streams[1].display)
    }
  }

  /// Whether one of them is standard output, which then has no room for text.
  var usesStandardOutput: Bool { !streamed.isEmpty }

  /// Writes one of them: at once or not at all, or as a stream to standard output.
  func write(_ bytes: [UInt8], path: String) throws {
    if streamed.contains(path) {
      try terminal.output.write(bytes)
    } else {
      try FileBytes.write(bytes, path: path)
    }
  }

  private static func isDevice(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
  }
}

extension ImageSource {
  /// Where the system has it.
  fileprivate var systemPath: String {
    switch self {
    case .standardInput: "/dev/stdin"
    case .file(let path): path
    }
  }
}
