import DermaFusion
import Files
import ImageCodecs
import SystemModule

/// The images in some folders, each walked once, looked up by the names in a table.
struct ImageIndex: Sendable {
  struct Location: Sendable, Equatable {
    /// The folder as it was given.
    let folder: String
    let source: ImageSource
  }

  /// The frames of a file stand there one after the other.
  private var folders: [(folder: String, sources: [ImageSource])] = []
  /// Files and folders that could not be read.
  private(set) var failures: [DermaFusionError] = []
  private(set) var leftOut = LeftOutFiles()

  /// - Parameter folders: the first that has an image wins.
  /// - Throws: ``DermaFusionError`` for one that is not a folder, cannot be read or holds no image.
  init(folders: [String]) throws(DermaFusionError) {
    for folder in folders where !self.folders.contains(where: { $0.folder == folder }) {
      let images = try FolderImages(folder, areLookedUp: true)
      failures += images.failures
      leftOut.add(images.leftOut)
      var sources: [ImageSource] = []
      for item in images.paths.flatMap({ ImageSource.all($0, in: folder) }) {
        switch item {
        case .success(var source):
          source.rank = self.folders.count
          sources.append(source)
        case .failure(let error): failures.append(error)
        }
      }
      self.folders.append((folder, sources))
    }
  }

  /// With the ranks of their folders.
  var sources: [ImageSource] { folders.flatMap(\.sources) }

  /// The sources with their folders.
  var locations: [Location] {
    folders.flatMap { folder, sources in sources.map { Location(folder: folder, source: $0) } }
  }
}

extension LeftOutFiles {
  /// A note on what is left out, and on what is there twice.
  func note(on terminal: Terminal) {
    if let sentence { terminal.remark("\(sentence).") }
  }
}
