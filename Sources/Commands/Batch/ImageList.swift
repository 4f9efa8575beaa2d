import SystemModule

/// The images that a command line names, in its order.
struct ImageList: Sendable {
  private(set) var items: [BatchItem] = []
  private(set) var leftOut = LeftOutFiles()
  /// Whether one image was named, and no folder.
  let isSingleImage: Bool

  /// - Throws: ``DermaFusionError`` where standard input is named twice.
  init(_ arguments: [String]) throws(DermaFusionError) {
    if arguments.count(where: { $0 == "-" }) > 1 { 
      throw .usage("'-' was given more than once, but standard input holds one image.")
    }
    var hasFolder = false
    for argument in arguments {
      guard argument != "-", FolderWalk.isFolder(argument) else {
        items.append(.image(ImageSource(argument: argument), folder: ""))
        continue
      }
      hasFolder = true
      do throws(DermaFusionError) {
        let images = try FolderImages(argument)
        leftOut.add(images.leftOut)
        items += images.failures.map(BatchItem.failed)
        items += images.sources.map { .image($0, folder: $0.folder(below: argument)) }
      } catch {
        items.append(.failed(error))
      }
    }
    isSingleImage = arguments.count == 1 && !hasFolder
  }

  var sources: [ImageSource] { items.compactMap(\.source) }
}

extension ImageSource {
  /// The path of the image's own folder below one that it was found in.
  fileprivate func folder(below folder: String) -> String {
    let path = name.utf8.dropFirst(folder.utf8.count).drop { $0 == UInt8(ascii: "/") }
    guard let end = path.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[..<end]) ?? ""
  }
}
