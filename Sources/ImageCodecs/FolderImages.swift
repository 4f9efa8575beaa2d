import Files
import SystemModule

/// The images in a folder and the folders below it, sorted by path. Hidden files and folders are passed over; symbolic links are
/// followed, see ``FolderWalk``. A file is taken for an image by its ending where files of that ending can be read here. The first
/// bytes of every other file decide: discs of hospitals have DICOM files without an ending.
package struct FolderImages: Sendable {
  package let paths: [String]
  /// The files that could not be looked at: folders that cannot be read, links to nothing, names that are no text. Whether a
  /// file can be read turns out when it is read.
  package let failures: [DermaFusionError]
  package let leftOut: LeftOutFiles

  /// - Parameter areLookedUp: True where a table names the images that are wanted. gradcam's pictures are images like others
  ///   there, and copies are not looked for, since only what is named is used.
  /// - Throws: ``DermaFusionError`` for a folder that cannot be read or holds no image.
  package init(_ folder: String, areLookedUp: Bool = false) throws(DermaFusionError) {
    // Asked only of endings that occur: for some formats a library of the system is opened.
    var isReadable: [String: Bool] = [:]
    let walk = try FolderWalk(folder) { name in
      if !areLookedUp, name.lowercased().hasSuffix(ImageFileName.heatmapEnding) {
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
      case .other: return (ending ?? Companions.ending(of: name)).map { .counted($0) } ?? .passedOver
      case nil: return .counted(ending ?? LeftOutFiles.closed)
      }
    }
    paths = walk.paths
    leftOut = LeftOutFiles(counts: walk.counts, copies: areLookedUp ? FileCopies() : FileCopies(paths))
    if paths.isEmpty, walk.failures.isEmpty {
      let others = leftOut.words.map { ", but \($0)" } ?? ""
      throw .folderWithout(folder, kind: ImageFileName.kind + others)
    }
    failures = walk.failures
  }
}

/// The films and notes that phones and cameras put beside photographs, by their endings.
private enum Companions {
  private static let endings: Set = [
    ".mov", ".mp4", ".m4v", ".avi", ".mts", ".m2ts", ".3gp", ".mkv", ".webm", ".wmv", ".mpg", ".mpeg", ".aae",
    ".xmp", ".thm",
    ".lrv", ".insv",
  ]

  static func ending(of name: String) -> String? {
    name.fileEnding.flatMap { endings.contains($0) ? $0 : nil }
  }
}

/// Files that are equal to the last byte. A person who copies photographs between folders has some, and each is answered.
struct FileCopies: Sendable {
  private(set) var count = 0
  /// The first of them and the file whose copy it is.
  private(set) var first: (copy: String, original: String)?

  init() {}

  /// Only files of the same size are looked at, and read as a whole where their beginning, middle and end are the same.
  init(_ paths: [String]) {
    var pathsOfSize: [Int: [Int]] = [:]
    for (place, path) in paths.enumerated() {
      if let size = FileBytes.size(ofRegular: path), size > 0 { pathsOfSize[size, default: []].append(place) }
    }
    var originals: [Int: Int] = [:]
    for (size, places) in pathsOfSize where places.count > 1 {
      let alike = Dictionary(grouping: places) { Self.samples(paths[$0], size: size) }
      for case (.some, let places) in alike where places.count > 1 {
        let same = Dictionary(grouping: places) { Self.hash(paths[$0]) }
        for case (.some, let places) in same {
          for place in places.dropFirst() { originals[place] = places[0] }
        }
      }
    }
    count = originals.count
    first = originals.min { $0.key < $1.key }.map { (paths[$0.key], paths[$0.value]) }
  }

  private static func samples(_ path: String, size: Int) -> [UInt8]? {
    path.withCString { path in
      FileBytes.look(into: path) { start, read in
        let count = min(size, 4096)
        return Array(start) + (read(size / 2 - count / 2, count) ?? []) + (read(size - count, count) ?? [])
      }
    }
  }

  private static func hash(_ path: String) -> String? {
    (try? FileBytes.read(path: path, limit: ImageDecoder.fileByteLimit)).map { SHA256.hexDigest($0) }
  }

  mutating func add(_ other: FileCopies) {
    count += other.count
    first = first ?? other.first
  }
}

/// Files in folders that are not taken though they are images, may be, or lie beside some: how many have which ending, or are of
/// which format where their names do not tell. And the images that are there twice.
package struct LeftOutFiles: Sendable {
  /// The word for files without an ending of images that cannot be opened.
  static let closed = "unopened"

  private var counts: [String: (count: Int, first: String)] = [:]
  private var copies = FileCopies()

  package init() {}

  fileprivate init(counts: [String: (count: Int, first: String)], copies: FileCopies) {
    (self.counts, self.copies) = (counts, copies)
  }

  package mutating func add(_ other: LeftOutFiles) {
    counts.merge(other.counts) { ($0.count + $1.count, $0.first) }
    copies.add(other.copies)
  }

  /// ``words`` and ``copyWords`` in one sentence; nil for neither.
  package var sentence: String? {
    let parts = [words.map { "left out of the folders: \($0)" }, copyWords].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// `2 files are copies of others, bit for bit (b.jpg of a.jpg), and each is looked at`; nil for none.
  package var copyWords: String? {
    guard let first = copies.first else { return nil }
    let pair = "\(first.copy) of \(first.original)"
    return copies.count == 1
      ? "1 file is a copy of another, bit for bit (\(pair)), and is looked at all the same"
      : "\(copies.count) files are copies of others, bit for bit (the first: \(pair)), and each is looked at"
  }

  /// `2 .mov files, which are no photographs (the first: a/IMG_1.MOV)`, of files that are not images.
  private func words(_ kinds: [String], _ reason: String, namesFirst: Bool = false) -> String? {
    let found = kinds.compactMap { kind in counts[kind].map { (kind: kind, count: $0.count, first: $0.first) }
    }
    .sorted { ($1.count, $0.kind) < ($0.count, $1.kind) }
    guard let first = found.min(by: { $0.first < $1.first }) else { return nil }
    let isOne = found.count == 1 && found[0].count == 1
    let list = found.map { "\($0.count) \($0.kind)" }.listed
    let name = namesFirst ? isOne ? " (\(first.first))" : " (the first: \(first.first))" : ""
    return "\(list) \(isOne ? "file" : "files")\(reason)\(name)"
  }

  /// `2 .heic and 1 JPEG 2000 files, which cannot be read, and 3 heatmaps (*-gradcam.png)`; nil for none.
  package var words: String? {
    let heatmaps = counts[ImageFileName.heatmapEnding]?.count ?? 0
    let closed = counts[Self.closed]?.count ?? 0
    let others = counts.keys.filter { ![ImageFileName.heatmapEnding, Self.closed].contains($0) }
    let isCompanion = { (kind: String) in Companions.ending(of: "x\(kind)") != nil }
    var parts = [
      words(others.filter { !isCompanion($0) }, ", which cannot be read"),
      words(others.filter(isCompanion), " that phones and cameras put beside photographs", namesFirst: true),
    ].compactMap(\.self)
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

/// The endings of image files' names.
package enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  package static let endings = ImageDecoder.endings

  /// The ending of the pictures that `gradcam` makes: they are no photographs.
  package static let heatmapEnding = "-gradcam.png"

  /// The error on a folder without any.
  package static var kind: String { "image (\(ImageDecoder.readableEndings.joined(separator: ", ")))" }
}
