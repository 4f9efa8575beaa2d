import SystemModule

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
