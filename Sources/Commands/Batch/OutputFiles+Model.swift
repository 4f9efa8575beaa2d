import DermaFusion
import SystemModule

extension OutputFiles {
  /// - Parameters:
  ///   - outputs: by the display of their options.
  ///   - images: what is read.
  ///   - table: what else is read, as messages call it.
  ///   - model: the folder of a model or an ensemble.
  /// - Throws: ``DermaFusionError`` where an output would replace what is read, or another output; ``DermaFusionError`` where the folder
  ///   that it would go into is not there.
  init(
    _ outputs: [(display: String, path: String)], images: [ImageSource],
    table: (name: String, path: String)? = nil, model: String, terminal: Terminal
  ) throws {
    func inputs() -> [(name: String, path: String)] {
      let modelFiles = Classifier.filePaths(ofModel: model)
      var files = modelFiles.map { (name: "a file of the model", path: $0) }
      // Loading does without them, but nobody has another copy.
      files += modelFiles.map(FileBytes.folder(of:)).flatMap { folder in
        [
          ("the model's card", "\(folder)/README.md"),
          ("the model's data list", "\(folder)/\(TrainingList.relativePath)"),
        ]
      }
      if let table { files.append(table) }
      let imageName = images.count == 1 ? "the image itself" : "one of the images"
      return files + images.map { (imageName, $0.systemPath) }
    }
    try self.init(outputs, inputs: inputs, terminal: terminal)
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
