import Files
import SystemModule

/// The part of an image's path that a row names.
enum NamedPart: CaseIterable {
  /// As it was given, below the folder that was given, or absolute.
  case path
  /// The file's name.
  case name
  /// The name without the ending of an image.
  case identifier
  /// The last parts of the path, as many as the row has.
  case end
  /// The same without the ending of an image.
  case endIdentifier
  /// All of the path that is known, where a row has more: an image whose folder nobody knows, or a row from Windows.
  case known
  /// The same without the ending of an image.
  case knownIdentifier

  var needsFolder: Bool { [.end, .endIdentifier, .known, .knownIdentifier].contains(self) }
}

enum NameFold: CaseIterable {
  case nothing, letterCase, unicodeForm
}

/// A file that some images are.
struct ImageFile {
  /// The first of the images.
  let image: Int
  let rank: Int
  /// The paths that name it exactly.
  private(set) var paths: [[UInt8]]
  /// The parts of its path: all of them, with an empty one first, if the folder is known in which relative paths begin.
  let parts: [ArraySlice<UInt8>]
  let isWhole: Bool
  /// The number of last parts that a row from another machine must have.
  let foreignCount: Int
  let identifier: ArraySlice<UInt8>

  var name: ArraySlice<UInt8> { parts[parts.count - 1] }

  init?(_ images: [ListedImage], _ place: Int, folder: ArraySlice<UInt8>?) {
    let image = images[place]
    let path = Array(image.path.utf8)[...]
    guard image.path != "-", let identifier = image.path.imageIdentifier, !identifier.isEmpty else {
      return nil
    }
    let given = PathParts.parts(path)
    guard !given.isEmpty else { return nil }
    self.image = place
    rank = image.rank
    self.identifier = Array(identifier.utf8)[...]
    isWhole = folder != nil || path.first == PathParts.slash
    parts = folder.map { PathParts.absolute(path, in: $0) } ?? given
    // A row of another machine has the image's own folder at least.
    foreignCount = isWhole ? min(max(given.count, 2), parts.count) : parts.count
    paths = [Array(PathParts.plain(path)), PathParts.joined(parts)]
    add(image)
  }

  /// The path that tells two files apart.
  var identity: [UInt8] { PathParts.joined(parts) }

  /// Takes the paths of an image that is the same file.
  mutating func add(_ image: ListedImage) {
    let paths = [image.path, image.below].compactMap { $0 }.map {
      Array(PathParts.plain(Array($0.utf8)[...]))
    }
    for path in paths where !self.paths.contains(path) { self.paths.append(path) }
  }

  /// The keys by which rows find it; `depths` are the numbers of parts that rows with a folder have.
  func keys(_ part: NamedPart, depths: [Int]) -> [[UInt8]] {
    func end(_ count: Int, _ name: ArraySlice<UInt8>) -> [UInt8] {
      PathParts.joined(parts.suffix(count).dropLast() + [name])
    }
    // A row of an absolute path has the empty part too, so it finds the whole path only.
    let depths = depths.filter { 2...max(2, parts.count) ~= $0 && $0 <= parts.count }
    return switch part {
    case .path: paths
    case .name: [Array(name)]
    case .identifier: [Array(identifier)]
    case .end: depths.map { end($0, name) }
    case .endIdentifier: identifier == name ? [] : depths.map { end($0, identifier) }
    case .known: [end(foreignCount, name)]
    case .knownIdentifier: identifier == name ? [] : [end(foreignCount, identifier)]
    }
  }
}

struct ImageKeys {
  let part: NamedPart
  let fold: NameFold
  /// The places of the files that have a key, for each key.
  private(set) var files: [[Int]] = []
  private var keys: [[UInt8]] = []
  private var index: ByteIndex
  private var texts: [String: Int] = [:]
  /// The numbers of parts of the keys of ``NamedPart/known``, the longest first.
  private(set) var depths: [Int] = []

  /// - Parameter open: places among the files.
  init(_ part: NamedPart, _ fold: NameFold, of files: [ImageFile], open: [Int], depths: [Int]) {
    self.part = part
    self.fold = fold
    let entries = open.flatMap { file in files[file].keys(part, depths: depths).map { (key: $0, file: file) }
    }
    index = ByteIndex(capacity: entries.count)
    for (key, file) in entries {
      let place: Int?
      if fold == .unicodeForm {
        let text = String(decoding: key, as: UTF8.self).lowercased()
        place = texts[text]
        if place == nil { texts[text] = keys.count }
      } else {
        let key = Self.folded(key[...], fold)
        place = index.insert(keys.count, key) { [keys] in keys[$0][...] }
        if place == nil { keys.append(Array(key)) }
      }
      if let place {
        if self.files[place].last != file { self.files[place].append(file) }
      } else {
        if fold == .unicodeForm { keys.append([]) }
        self.files.append([file])
      }
      if part == .known || part == .knownIdentifier, !self.depths.contains(files[file].foreignCount) {
        self.depths.append(files[file].foreignCount)
      }
    }
    self.depths.sort(by: >)
  }

  func place(of key: ArraySlice<UInt8>) -> Int? {
    if fold == .unicodeForm { return texts[String(decoding: key, as: UTF8.self).lowercased()] }
    return index.number(of: Self.folded(key, fold)) { keys[$0][...] }
  }

  private static func folded(_ key: ArraySlice<UInt8>, _ fold: NameFold) -> ArraySlice<UInt8> {
    if fold == .nothing { return key }
    return key.allSatisfy { $0 < 0x80 }
      ? ArraySlice(key.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
      : Array(String(decoding: key, as: UTF8.self).lowercased().utf8)[...]
  }
}
