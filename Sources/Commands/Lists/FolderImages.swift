import DermaFusion
import Files
import ImageFiles
import SystemModule

/// The images in a folder and the folders below it, sorted by path. Hidden files and folders are passed over; symbolic links are
/// followed, see ``FolderWalk``. A file is taken for an image by its ending where files of that ending can be read here. The first
/// bytes of every other file decide: discs of hospitals have DICOM files without an ending.
struct FolderImages: Sendable {
  let paths: [String]
  /// What could not be looked at: folders that cannot be read, links to nothing, names that are no text. Whether a file can be
  /// read turns out when it is read.
  let failures: [DermaFusionError]
  let leftOut: LeftOutFiles

  /// - Parameter takesHeatmaps: whether gradcam's pictures are images like others: where images are looked up by name.
  /// - Throws: ``DermaFusionError`` for a folder that cannot be read or holds no image.
  init(_ folder: String, takesHeatmaps: Bool = false) throws(DermaFusionError) {
    // Asked only of endings that occur: for some formats a library of the system is opened.
    var isReadable: [String: Bool] = [:]
    let walk = try FolderWalk(folder) { name in
      if !takesHeatmaps, name.lowercased().hasSuffix(ImageFileName.heatmapEnding) {
        return .counted(ImageFileName.heatmapEnding)
      }
      // The list of a disc's images.
      if name.uppercased() == "DICOMDIR" { return .passedOver }
      guard let ending = name.fileEnding, ImageDecoder.knownEndings.contains(ending) else {
        return nil
      }
      let isKnown = isReadable[ending] ?? (ImageDecoder.refusal(ofEnding: ending) == nil)
      isReadable[ending] = isKnown
      return isKnown ? .listed : nil
    } byContent: { name, path in
      let ending = name.fileEnding.flatMap { ImageDecoder.knownEndings.contains($0) ? $0 : nil }
      switch FileBytes.look(into: path, FileContent.init) {
      case .image: return .listed
      case .unreadableImage(let kind): return .counted(ending ?? kind)
      case .other: return ending.map { .counted($0) } ?? .passedOver
      case nil: return .counted(ending ?? LeftOutFiles.closed)
      }
    }
    paths = walk.paths
    leftOut = LeftOutFiles(counts: walk.counts)
    if paths.isEmpty, walk.failures.isEmpty {
      let others = leftOut.words.map { ", but \($0)" } ?? ""
      throw .folderWithout(folder, kind: ImageFileName.kind + others)
    }
    failures = walk.failures
  }
}

/// Files in folders that are not taken though they are images or may be: how many have which ending of images, or are of which
/// format where their names do not tell.
struct LeftOutFiles: Sendable {
  /// The word for files without an ending of images that cannot be opened.
  static let closed = "unopened"

  private(set) var counts: [String: Int] = [:]

  mutating func add(_ other: LeftOutFiles) { counts.merge(other.counts, uniquingKeysWith: +) }

  /// `2 .heic and 1 JPEG 2000 files, which cannot be read, and 3 heatmaps (*-gradcam.png)`; nil for none.
  var words: String? {
    let heatmaps = counts[ImageFileName.heatmapEnding, default: 0]
    let closed = counts[Self.closed, default: 0]
    let others = counts.filter { ![ImageFileName.heatmapEnding, Self.closed].contains($0.key) }
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var parts: [String] = []
    if !others.isEmpty {
      let isOne = others.count == 1 && others[0].value == 1
      parts.append(
        "\(others.map { "\($0.value) \($0.key)" }.listed) \(isOne ? "file" : "files"), which cannot be read")
    }
    if closed > 0 { parts.append("\(closed) \(closed == 1 ? "file" : "files") that cannot be opened") }
    if heatmaps > 0 {
      parts.append(
        "\(heatmaps) \(heatmaps == 1 ? "heatmap" : "heatmaps") of gradcam (*\(ImageFileName.heatmapEnding))")
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", and ")
  }

  /// A note that no image is left out without a word.
  func note(on terminal: Terminal, isQuiet: Bool) {
    if let words, !isQuiet { terminal.note("Note: left out of the folders: \(words).") }
  }
}

extension [String] {
  /// `a, b and c`
  fileprivate var listed: String {
    count > 1 ? dropLast().joined(separator: ", ") + " and " + self[count - 1] : joined()
  }
}

/// The images in some folders, each walked once, looked up by the names in a table.
struct ImageIndex: Sendable {
  struct Location: Sendable, Equatable {
    /// The folder as it was given.
    let folder: String
    let source: ImageSource
  }

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
      self.folders.append((folder, images.paths.map { ImageSource(name: $0) }))
    }
  }

  var sources: [ImageSource] { folders.flatMap(\.sources) }

  /// The images in the folders, for the rows of a table.
  struct Matches {
    /// Of each row; `nil` where no folder has it, or where it cannot be told.
    fileprivate(set) var locations: [Location?]
    /// Why it cannot be told which image a row is of.
    fileprivate(set) var refusals: [String?]
    fileprivate(set) var notes: [String] = []
  }

  /// - Parameters:
  ///   - rows: the names, all different.
  ///   - path: of the table, for the notes.
  func matches(rows: [String], table path: String) -> Matches {
    var found = Matches(locations: rows.map { _ in nil }, refusals: rows.map { _ in nil })
    var open = Array(rows.indices)
    for (folder, sources) in folders {
      let matches = ImageMatches(images: sources.map(\.name), rows: open.map { rows[$0] })
      for (place, row) in open.enumerated() {
        found.locations[row] = matches.imageOfRow[place].map { Location(folder: folder, source: sources[$0]) }
        found.refusals[row] = matches.refusalOfRow[place]
      }
      found.notes += matches.notes(table: path)
      open.removeAll { found.locations[$0] != nil || found.refusals[$0] != nil }
    }
    return found
  }
}
