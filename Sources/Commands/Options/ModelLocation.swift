import DermaFusion
import SystemModule

/// Where models and fixtures lie when the command line does not say.
struct ModelLocation: Sendable {
  static let option = CommandOption<String>.path(
    "model", valueName: "folder",
    abstract: """
      Folder of a model or an ensemble, or the name of one beside the installed model (info --models lists them). Without \
      this option: $\(environmentVariable), else \(folderName) in the current folder, \
      else \(folderName) or share/dermafusion/\(folderName) beside the program or in a folder above it.
      """)

  static let environmentVariable = "DERMAFUSION_MODEL"
  static let folderName = "Weights"
  private static let marker = "config.json"

  /// The model's folder.
  ///
  /// - Throws: ``DermaFusionError`` when none was named and none is found.
  static func folder(_ arguments: ParsedArguments, terminal: Terminal) throws(DermaFusionError) -> String {
    guard let named = arguments[option] else { return try defaultFolder(terminal) }
    return folder(named: named, terminal: terminal)
  }

  /// The folder that is meant: the one at this path, or the one of this name beside the model that is used without the option.
  static func folder(named: String, terminal: Terminal) -> String {
    if named.utf8.contains(UInt8(ascii: "/")) || FileBytes.isThere(named) { return named }
    guard let base = try? defaultFolder(terminal), names(beside: base).contains(named) else { return named }
    return "\(base)/\(named)"
  }

  /// The models that lie in a model's folder, by the names of their own folders.
  static func names(beside folder: String) -> [String] {
    FolderWalk.folders(in: folder).filter { FileBytes.isReadable("\(folder)/\($0)/\(marker)") }
  }

  /// The model's folder where none is named.
  private static func defaultFolder(_ terminal: Terminal) throws(DermaFusionError) -> String {
    if let folder = terminal.environment(environmentVariable), !folder.isEmpty { return folder }
    return try search(folder: folderName, holding: marker, terminal: terminal)
  }

  /// `folder` in the current folder, else beside the program or in a folder above it.
  static func search(
    folder: String, holding marker: String, terminal: Terminal
  ) throws(DermaFusionError) -> String {
    var places = [folder]
    var parent = terminal.executablePath.map(directory(of:))
    while let current = parent {
      let base = current == "/" ? "" : current
      // Scripts/install puts the program into bin and its data into share beside it.
      places += ["\(base)/\(folder)", "\(base)/share/dermafusion/\(folder)"]
      parent = current == "/" ? nil : directory(of: current)
    }
    // What has the name in the current folder is meant, even where it turns out to be unusable.
    if FileBytes.isThere(folder) { return folder }
    for place in places where FileBytes.isReadable("\(place)/\(marker)") { return place }
    throw DermaFusionError(
      .modelNotFound,
      message: "no folder with a \(marker) was found; looked at \(places.joined(separator: ", "))",
      remedy: "Name the folder.")
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
