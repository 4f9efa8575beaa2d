import DermaFusion
import Files
import ImageCodecs
import SystemModule

/// The source of one image's bytes: `-` is standard input, everything else the path of a file, or `FILE#N` for a frame.
struct ImageSource: Equatable, Sendable {
  /// The image's name in results and messages: as it was given.
  let name: String
  /// The path of its file.
  let path: String
  /// The frame of a DICOM file of several, from 1; nil for the file's only image.
  let frame: Int?
  /// Its path below the folder that was named; nil for an image that was named itself.
  let below: String?
  /// The rank of that folder where an earlier one goes before.
  var rank = 0

  /// The path from the named folder to the image's own folder; empty for an image that was named itself.
  var folder: String {
    guard let below, let end = below.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(below[..<end])
  }

  /// - Parameters:
  ///   - name: of a file, `-`, or `FILE#N`. A file that is truly named so goes before a frame.
  ///   - folder: the folder that was named, in which the file was found; nil for a file that was named itself.
  init(name: String, in folder: String? = nil) {
    if let (file, number) = name.frameParts, !FileBytes.isThere(name), FileBytes.isThere(file) {
      self.init(name: name, path: file, frame: number, in: folder)
    } else {
      self.init(name: name, path: name, frame: nil, in: folder)
    }
  }

  private init(name: String, path: String, frame: Int?, in folder: String?) {
    (self.name, self.path, self.frame) = (name, path, frame)
    below = folder.map {
      String(name.utf8.dropFirst($0.utf8.count).drop { $0 == UInt8(ascii: "/") }) ?? name
    }
  }

  /// Every image that a name stands for: of a DICOM file of several frames each, otherwise the one.
  ///
  /// - Parameter folder: the folder that was named, in which the file was found.
  static func all(_ name: String, in folder: String? = nil) -> [Result<ImageSource, DermaFusionError>] {
    let source = ImageSource(name: name, in: folder)
    guard source.frame == nil, name != "-", FileBytes.isRegular(name) else { return [.success(source)] }
    let count = ImageFrames.count(ofFile: name)
    guard count > 1 else { return [.success(source)] }
    guard count <= ImageFrames.limit else {
      return [
        .failure(
          .failure(
            name: name,
            reason:
              "it holds \(count) frames, more than \(ImageFrames.limit); name those that are wanted, as \(name)#1"
          ))
      ]
    }
    return (1...count).map { number in
      let frame = "\(name)#\(number)"
      if FileBytes.isThere(frame) {
        return .failure(
          .failure(
            name: name, reason: "its frame \(number) has the name of another file, \(frame); rename that file"
          ))
      }
      return .success(ImageSource(name: frame, path: name, frame: number, in: folder))
    }
  }

  /// The file name without its folders and its ending, by which tables know the image.
  var identifier: String? { name.imageIdentifier }

  /// Without its folders.
  var fileName: String? { name.fileName }

  /// The picture, by whichever of its names; nil for standard input.
  var picture: PictureIdentity? {
    name == "-" ? nil : FileIdentity(path: path).map { PictureIdentity(file: $0, frame: frame) }
  }

  /// The path for the system.
  var systemPath: String { path == "-" ? "/dev/stdin" : path }

  /// The image's bytes.
  func read(terminal: Terminal) throws(DermaFusionError) -> [UInt8] {
    if name == "-" { return try terminal.readInput(ImageDecoder.fileByteLimit) }
    return try FileBytes.read(
      path: path, limit: ImageDecoder.fileByteLimit, refusal: ImageDecoder.refusal(ofStart:))
  }

  /// Does some work on the image; errors that do not themselves say of what they speak are given its name.
  func naming<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let error as DermaFusionError {
      throw error.namesItsFile || error.isOfOutput || error.isUsage ? error : error.named(name)
    } catch {
      throw DermaFusionError.failure(name: name, reason: Sentence(String(describing: error)))
    }
  }
}

/// A file's picture, or one of its frames.
struct PictureIdentity: Hashable, Sendable {
  let file: FileIdentity
  let frame: Int?
}

extension [Result<ImageSource, DermaFusionError>] {
  /// Each picture once: those that are not in `seen`, to which they are added. Failures and standard input stay.
  func once(_ seen: inout Set<PictureIdentity>) -> Self {
    filter { item in (try? item.get())?.picture.map { seen.insert($0).inserted } ?? true }
  }
}

/// The frames that a table names by rows of their own.
struct FrameRows: Sendable {
  private let identifiers: Set<[UInt8]>

  /// - Parameter rows: the names in the table; nil without one.
  init(_ rows: TableNames?, _ sources: [ImageSource]) {
    guard let rows, sources.contains(where: { $0.frame != nil }) else {
      identifiers = []
      return
    }
    let names = rows.indices.compactMap { row -> String? in
      guard rows.bytes(row).contains(UInt8(ascii: "#")) else { return nil }
      return rows[row].utf8.split(separator: UInt8(ascii: "\\")).last.flatMap { String($0) }?.imageIdentifier
    }
    identifiers = Set(names.filter { $0.frameParts != nil }.map { $0.lowercased().imageKey })
  }

  /// The name under which a table has an image: a frame's own where a row names it, otherwise that of the file whose row
  /// belongs to all its frames.
  func name(of source: ImageSource) -> String {
    guard source.frame != nil, let identifier = source.identifier else { return source.name }
    return identifiers.contains(identifier.lowercased().imageKey) ? source.name : source.path
  }

  /// The image as tables find it.
  func listed(_ source: ImageSource) -> ListedImage {
    let name = name(of: source)
    // Without the frame's number where the row is the file's.
    let below = source.below.flatMap { String($0.utf8.dropLast(source.name.utf8.count - name.utf8.count)) }
    return ListedImage(name, below: below, rank: source.rank)
  }
}
