import ModelFiles

extension Classifier {
  /// The files that loading a folder reads: a model's two or, of an ensemble, its `config.json` and its members' files.
  /// Whether they are there, and can be used, turns out when it is loaded.
  package static func filePaths(ofModel folder: String) -> [String] { ModelFolder.filePaths(in: folder) }
}
