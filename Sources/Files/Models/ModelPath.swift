import SystemModule

/// Finds the folder that a model's path means. Otherwise says what lies there and how a model is made of it.
enum ModelPath {
  /// The folder with `config.json` that a path means: the folder itself or, of a folder of the Hugging Face Hub's cache
  /// (`models--OWNER--NAME`), its only snapshot. The error names the way to one if there is one.
  static func folder(_ path: String) throws(DermaFusionError) -> String {
    guard let isFolder = try ModelFiles.isFolder(path) else { throw missing(path) }
    guard isFolder else { throw file(path) }
    if try holdsConfiguration(path) { return path }
    if let snapshot = try snapshot(in: path) { return snapshot }
    throw withoutConfiguration(path)
  }

  static func missing(_ path: String) -> DermaFusionError {
    .modelNotFound("\(path): there is no such model folder", remedy: download(path))
  }

  /// A folder that holds `config.json` and no weights that can be read.
  static func withoutWeights(_ path: String) -> DermaFusionError {
    .modelNotFound(
      "\(path): the model folder lacks \(ModelFolder.weightsName)",
      remedy: weights(in: entries(of: path), folder: path))
  }

  private static func holdsConfiguration(_ folder: String) throws(DermaFusionError) -> Bool {
    try ModelFiles.isFolder(ModelFiles.path(of: ConfigurationFile.name, in: folder)) != nil
  }

  private static func withoutConfiguration(_ path: String) -> DermaFusionError {
    let entries = entries(of: path)
    let folders = entries.map { ModelFiles.path(of: $0, in: path) }.filter { inner in
      guard (try? ModelFiles.isFolder(inner)) == true else { return false }
      return (try? holdsConfiguration(inner)) == true
        || (try? ModelFiles.isFolder(ModelFiles.path(of: snapshots, in: inner))) == true
    }
    return .modelNotFound(
      "\(path): the model folder lacks \(ConfigurationFile.name)",
      remedy: folders.isEmpty ? weights(in: entries, folder: path) : choice(folders))
  }

  private static func choice(_ folders: [String]) -> Sentence {
    folders.count == 1
      ? "name the folder in it: \(shortened(folders[0], to: 400))"
      : "name one of the folders in it: \(shown(folders))"
  }

  private static func shown(_ names: [String]) -> String {
    names.prefix(5).map { shortened($0, to: 400) }.joined(separator: ", ") + (names.count > 5 ? ", ..." : "")
  }

  /// The names in a folder that are text, without hidden ones.
  private static func entries(of folder: String) -> [String] {
    ((try? FilePages.names(in: folder)) ?? []).compactMap {
      $0.first == UInt8(ascii: ".") ? nil : String(validating: $0, as: UTF8.self)
    }
  }
}

// MARK: - The Hugging Face Hub

extension ModelPath {
  private static let snapshots = "snapshots"

  /// The only snapshot of a model in the Hub's cache; nil for any other folder. `refs/main` names the
  /// snapshot that was downloaded last without a revision.
  private static func snapshot(in path: String) throws(DermaFusionError) -> String? {
    let folder = ModelFiles.path(of: snapshots, in: path)
    guard try ModelFiles.isFolder(folder) == true else { return nil }
    let found = entries(of: folder).map { ModelFiles.path(of: $0, in: folder) }
      .filter { (try? ModelFiles.isFolder($0)) == true }
    let reference = FilePages.beginning(of: ModelFiles.path(of: "refs/main", in: path), count: 64)
    let main = ModelFiles.path(
      of: String(decoding: reference.prefix { $0 > 0x20 }, as: UTF8.self), in: folder)
    let isMain = reference.isEmpty || found.first == main
    if found.count == 1, isMain { return found[0] }
    guard !found.isEmpty else {
      throw .modelNotFound(
        "\(path): this folder of the Hub's cache holds no snapshot", remedy: "download the model again")
    }
    let list = found.contains(main) ? [main] + found.filter { $0 != main } : found
    let words: Sentence =
      found.count == 1 ? "another snapshot than refs/main names" : "\(found.count) snapshots"
    throw .modelNotFound(
      "\(path): this folder of the Hub's cache holds \(words)",
      remedy: "name the snapshot's folder: \(shown(list))")
  }

  /// The command that downloads the model that a path names on the Hub; nil where the path looks like one of this machine.
  private static func download(_ path: String) -> Sentence? {
    let prefixes = ["hf-hub:", "hf_hub:", "hf://", "https://huggingface.co/"]
    let prefix = prefixes.first { path.hasPrefix($0) }
    let name = String(path.dropFirst(prefix?.count ?? 0))
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isName =
      parts.count == 2
      && parts.allSatisfy { part in
        part.utf8.first.map { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "~") } ?? false
          && part.utf8.allSatisfy { isPlain($0) && $0 != UInt8(ascii: "/") }
      }
    guard isName, prefix != nil || (try? ModelFiles.isFolder(String(parts[0]))) == .some(.none) else {
      return nil
    }
    return
      "a model of the Hugging Face Hub is downloaded first: hf download \(name) --local-dir \(String(parts[1])), then name the folder \(String(parts[1]))"
  }
}

// MARK: - Other files of models

extension ModelPath {
  private static let checkpoints = [".pth", ".pt", ".ckpt", ".bin", ".pth.tar", ".safetensors"]
  private static let archives = [".zip", ".tar", ".tgz", ".tar.gz", ".7z", ".rar"]
  private static let others: [(String, Sentence)] = [
    (".onnx", "an ONNX model"), (".tflite", "a \("TensorFlow Lite") model"), (".h5", "weights of \("Keras")"),
    (".keras", "a \("Keras") model"), (".pb", "a \("TensorFlow") model"),
    (".msgpack", "weights of \("Flax")"),
    (".mlmodel", "a \("Core ML") model"), (".engine", "a TensorRT engine"),
  ]

  private static func end<Word>(_ name: String, in table: [(String, Word)]) -> Word? {
    let name = name.lowercased()
    return table.first { name.hasSuffix($0.0) }?.1
  }

  /// The command that makes a model folder of a checkpoint.
  static func export(_ checkpoint: String) -> Sentence {
    var stem = checkpoint
    while stem.hasSuffix("/") { stem.removeLast() }
    if let ending = checkpoints.last(where: { stem.lowercased().hasSuffix($0) }) {
      stem.removeLast(ending.count)
    }
    return
      "make a model folder of it: python -m dermafusion_training export --checkpoint \(word(checkpoint)) --output \(word(stem + "-dermafusion"))"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "/._-+=:@%,".utf8.contains(byte)
    }
  }

  /// A path as one word of a shell's command line.
  private static func word(_ path: String) -> String {
    if path.utf8.allSatisfy({ isPlain($0) }) { return path }
    return "'" + path.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }

  /// The remedy for weights that lie in a folder under other names than a model has; nil if there are not any.
  private static func weights(in entries: [String], folder: String) -> Sentence? {
    // The names of a folder of timm or transformers, which `export` finds by itself.
    for name in ["pytorch_model.bin", "pytorch_model.bin.index.json", "model.bin"]
    where entries.contains(name) {
      return "its weights are \(name); \(export(folder))"
    }
    let found = entries.filter { end($0, in: checkpoints.map { ($0, true) }) ?? false }
    if let first = found.first {
      let path = ModelFiles.path(of: first, in: folder)
      return found.count == 1
        ? "its weights are \(quoted(first)); \(export(path))"
        : "it holds \(found.count) checkpoints (\(shown(found))); choose one: \(export(path))"
    }
    if let name = entries.first(where: { end($0, in: others) != nil }), let kind = end(name, in: others) {
      return "\(quoted(name)) is \(kind), which cannot be run; \(source)"
    }
    if let name = entries.first(where: { name in archives.contains { name.lowercased().hasSuffix($0) } }) {
      return "\(quoted(name)) is an archive: unpack it and name its folder"
    }
    return nil
  }

  private static let source: Sentence =
    "export the PyTorch checkpoint that it was made from (python -m dermafusion_training export --help)"

  private static func file(_ path: String) -> DermaFusionError {
    .modelNotFound("\(path): a model is a folder, and this is a file", remedy: file(path))
  }

  /// The kind of a file and the way it becomes a model; nil where its name and its first bytes do not tell.
  private static func file(_ path: String) -> Sentence? {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
    let parts = [ConfigurationFile.name, ModelFolder.weightsName]
    if parts.contains(name),
      parts.allSatisfy({ (try? ModelFiles.isFolder(ModelFiles.path(of: $0, in: folder))) == false })
    {
      return "name the folder that it lies in: \(folder.isEmpty ? "/" : folder)"
    }
    if let kind = end(name, in: others) { return "it is \(kind), which cannot be run; \(source)" }
    let start = FilePages.beginning(of: path, count: 512)
    func begins(_ bytes: [UInt8]) -> Bool { start.starts(with: bytes) }
    if begins([0x50, 0x4B, 0x03, 0x04]) {
      // PyTorch's checkpoints are ZIP archives of a pickle and the tensors.
      let isCheckpoint =
        start.count > 30 && start[30...].holds("data.pkl".utf8)
      return isCheckpoint
        ? "it is a checkpoint of PyTorch: \(export(path))"
        : "it is a ZIP archive: unzip it and name the folder that holds \(ConfigurationFile.name)"
    }
    if start.count > 1, start[0] == 0x80, start[1] < 6 {
      return "it is a Python pickle; if it is a checkpoint of PyTorch, \(export(path))"
    }
    if start.count > 8, start[8] == UInt8(ascii: "{"), start[4..<8].allSatisfy({ $0 == 0 }) {
      return
        "it holds weights without the \(ConfigurationFile.name) that says what they are: \(export(path))"
    }
    if begins([0x1F, 0x8B]) || archives.contains(where: { name.lowercased().hasSuffix($0) }) {
      return "it is an archive: unpack it and name the folder that holds \(ConfigurationFile.name)"
    }
    return nil
  }
}
