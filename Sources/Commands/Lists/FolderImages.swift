import DermaFusion
import Files
import ImageFiles
import SystemModule

/// The images in a folder and the folders below it, sorted by path. Hidden files and folders are passed over; symbolic links are
/// followed, see ``FolderWalk``.
struct FolderImages: Sendable {
  let sources: [ImageSource]
  /// What could not be looked at: folders that cannot be read, links to nothing, names that are no text. Whether a file can be
  /// read turns out when it is read.
  let failures: [DermaFusionError]
  let leftOut: LeftOutFiles

  /// - Parameter takesHeatmaps: whether gradcam's pictures are images like others: where images are looked up by name.
  /// - Throws: ``DermaFusionError`` for a folder that cannot be read or holds no image.
  init(_ folder: String, takesHeatmaps: Bool = false) throws(DermaFusionError) {
    let walk = try FolderWalk(
      folder, endings: ImageDecoder.knownEndings,
      counting: takesHeatmaps ? [] : [ImageFileName.heatmapEnding])
    let images = walk.paths.map(ImageSource.file)
    let byEnding = Dictionary(grouping: images) { $0.ending ?? "" }
    // Asked only of endings that occur: for some formats a library of the system is opened.
    let unreadable = byEnding.filter { ImageDecoder.refusal(ofEnding: $0.key) != nil }
    sources = images.filter { unreadable[$0.ending ?? ""] == nil }
    leftOut = LeftOutFiles(counts: walk.counts.merging(unreadable.mapValues(\.count), uniquingKeysWith: +))
    if sources.isEmpty, walk.failures.isEmpty {
      let others = leftOut.words.map { ", but \($0)" } ?? ""
      throw .folderWithout(folder, kind: ImageFileName.kind + others)
    }
    failures = walk.failures
  }
}

/// Files in folders that look like images and are not taken, by the endings of their names.
struct LeftOutFiles: Sendable {
  private(set) var counts: [String: Int] = [:]

  mutating func add(_ other: LeftOutFiles) { counts.merge(other.counts, uniquingKeysWith: +) }

  /// `2 .heic and 1 .tif files, which cannot be read, and 3 heatmaps (*-gradcam.png)`; nil for none.
  var words: String? {
    let heatmaps = counts[ImageFileName.heatmapEnding, default: 0]
    let others = counts.filter { $0.key != ImageFileName.heatmapEnding }
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var parts: [String] = []
    if !others.isEmpty {
      let isOne = others.count == 1 && others[0].value == 1
      parts.append(
        "\(others.map { "\($0.value) \($0.key)" }.listed) \(isOne ? "file" : "files"), which cannot be read")
    }
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

/// The images in some folders, each walked once, looked up by their names without endings.
struct ImageIndex: Sendable {
  struct Location: Sendable, Equatable {
    /// The folder as it was given.
    let folder: String
    let source: ImageSource
    /// Of the same name in the same folder, by path the next: an image that is passed over.
    fileprivate(set) var passedOver: ImageSource?
  }

  /// By ``Swift/String/imageKey``.
  private var locations: [[UInt8]: Location] = [:]
  /// What could not be looked at in the folders.
  private(set) var failures: [DermaFusionError] = []
  private(set) var leftOut = LeftOutFiles()

  /// - Parameter folders: the first that has an image wins; within one, the first by path.
  /// - Throws: ``DermaFusionError`` for one that is not a folder, cannot be read or holds no image.
  init(folders: [String]) throws(DermaFusionError) {
    for folder in folders {
      let images = try FolderImages(folder, takesHeatmaps: true)
      failures += images.failures
      leftOut.add(images.leftOut)
      for source in images.sources {
        guard let key = source.identifier?.imageKey else { continue }
        if let location = locations[key] {
          let isPassedOver = location.folder == folder && location.source != source
          if isPassedOver, location.passedOver == nil { locations[key]?.passedOver = source }
        } else {
          locations[key] = Location(folder: folder, source: source)
        }
      }
    }
  }

  /// `nil` when no folder has it.
  subscript(identifier: String) -> Location? { locations[identifier.imageKey] }
}
