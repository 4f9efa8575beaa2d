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
      let images = try FolderImages(folder, takesHeatmaps: true)
      failures += images.failures
      leftOut.add(images.leftOut)
      var sources: [ImageSource] = []
      for item in images.paths.flatMap({ ImageSource.all($0) }) {
        switch item {
        case .success(let source): sources.append(source)
        case .failure(let error): failures.append(error)
        }
      }
      self.folders.append((folder, sources))
    }
  }

  var sources: [ImageSource] { folders.flatMap(\.sources) }

  /// The images in the folders, for the rows of a table.
  struct Matches {
    /// Of each row; none where no folder has it, or where it cannot be told, and several for a file of several frames.
    fileprivate(set) var locations: [[Location]]
    /// Why it cannot be told which image a row is of.
    fileprivate(set) var refusals: [String?]
    fileprivate(set) var notes: [String] = []
  }

  /// - Parameters:
  ///   - rows: the names, all different.
  ///   - path: of the table, for the notes.
  func matches(rows: [String], table path: String) -> Matches {
    var found = Matches(locations: rows.map { _ in [] }, refusals: rows.map { _ in nil })
    var open = Array(rows.indices)
    let frameRows = FrameRows(rows)
    for (folder, sources) in folders {
      let names = sources.map(frameRows.name(of:))
      let sourcesOfName = Dictionary(grouping: sources.indices) { names[$0].imageKey }
      let matches = ImageMatches(images: names, rows: open.map { rows[$0] })
      for (place, row) in open.enumerated() {
        if let image = matches.imageOfRow[place] {
          found.locations[row] = sourcesOfName[names[image].imageKey, default: []].map {
            Location(folder: folder, source: sources[$0])
          }
        }
        found.refusals[row] = matches.refusalOfRow[place]
      }
      found.notes += matches.notes(table: path)
      open.removeAll { !found.locations[$0].isEmpty || found.refusals[$0] != nil }
    }
    return found
  }
}

extension LeftOutFiles {
  /// A note on what is left out, and on what is there twice.
  func note(on terminal: Terminal, isQuiet: Bool) {
    if let sentence, !isQuiet { terminal.note("Note: \(sentence).") }
  }
}
