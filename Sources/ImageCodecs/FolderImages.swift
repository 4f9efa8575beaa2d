import Files
import SystemModule

/// The images in a folder and the folders below it, sorted by path. Hidden files and folders are passed over; symbolic links are
/// followed, see ``FolderWalk``. A file is taken for an image by its ending where files of that ending can be read here. The first
/// bytes of every other file decide: discs of hospitals have DICOM files without an ending.
package struct FolderImages: Sendable {
  package let paths: [String]
  /// What could not be looked at: folders that cannot be read, links to nothing, names that are no text. Whether a file can be
  /// read turns out when it is read.
  package let failures: [DermaFusionError]
  package let leftOut: LeftOutFiles

  /// - Parameter takesHeatmaps: whether gradcam's pictures are images like others: where images are looked up by name.
  /// - Throws: ``DermaFusionError`` for a folder that cannot be read or holds no image.
  package init(_ folder: String, takesHeatmaps: Bool = false) throws(DermaFusionError) {
    // Asked only of endings that occur: for some formats a library of the system is opened.
    var isReadable: [String: Bool] = [:]
    let walk = try FolderWalk(folder) { name in
      if !takesHeatmaps, name.lowercased().hasSuffix(ImageFileName.heatmapEnding) {
        return .counted(ImageFileName.heatmapEnding)
      }
      // The list of a disc's images.
      if name.uppercased() == "DICOMDIR" { return .passedOver }
      guard let ending = ImageEndings.ending(of: name) else { return nil }
      let isKnown = isReadable[ending] ?? (ImageDecoder.refusal(ofEnding: ending) == nil)
      isReadable[ending] = isKnown
      return isKnown ? .listed : nil
    } byContent: { name, path in
      let ending = ImageEndings.ending(of: name)
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
package struct LeftOutFiles: Sendable {
  /// The word for files without an ending of images that cannot be opened.
  static let closed = "unopened"

  private var counts: [String: Int] = [:]

  package init() {}

  fileprivate init(counts: [String: Int]) { self.counts = counts }

  package mutating func add(_ other: LeftOutFiles) { counts.merge(other.counts, uniquingKeysWith: +) }

  /// `2 .heic and 1 JPEG 2000 files, which cannot be read, and 3 heatmaps (*-gradcam.png)`; nil for none.
  package var words: String? {
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
}

extension [String] {
  /// `a, b and c`
  fileprivate var listed: String {
    count > 1 ? dropLast().joined(separator: ", ") + " and " + self[count - 1] : joined()
  }
}

/// How the names of image files end.
package enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  package static let endings = ImageDecoder.endings

  /// Of the pictures that `gradcam` makes: they are no photographs.
  package static let heatmapEnding = "-gradcam.png"

  /// What a folder without any lacks.
  package static var kind: String { "image (\(ImageDecoder.readableEndings.joined(separator: ", ")))" }
}
