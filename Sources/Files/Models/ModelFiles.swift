import SystemModule

enum ModelFiles {
  static func path(of name: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// True if a path leads to a folder; nil when it leads to nothing.
  static func isFolder(_ path: String) throws(DermaFusionError) -> Bool? {
    do throws(DermaFusionError) {
      return try FilePages.isFolder(path)
    } catch {
      throw error.inModel
    }
  }

  /// - Parameter limit: the most bytes that the file may have; looked at before any is read.
  static func read(_ path: String, limit: Int) throws(DermaFusionError) -> FilePages {
    do throws(DermaFusionError) {
      return try FilePages(path: path, limit: limit)
    } catch {
      throw error.inModel
    }
  }
}
