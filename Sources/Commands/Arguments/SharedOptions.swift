import DermaFusion
import Figures
import Files
import ImageCodecs
import ImagePipeline
import SystemModule

extension Positional {
  /// The images of a command line.
  static let images = Positional(
    "image", isRepeated: true,
    abstract: "A file, a folder, or - for one image's bytes on standard input.")
}

extension CommandOption where Value == String {
  /// Folders in which to find the images of a table.
  static let imageFolders = path(
    "images", valueName: "folder", isRequired: true, isRepeatable: true,
    abstract: "Folder with the images; give it again for more folders.")
}

extension CommandOption where Value == Int {
  /// Threads to compute with.
  static let threads = wholeNumber(
    "threads", valueName: "n", in: 1...256,
    abstract:
      "Threads to compute with, 1 to 256; without this option as many as the program has processors.")
}

extension CommandOption where Value == Precision {
  /// The precision of the network.
  static let precision = choice(
    "precision", valueName: "type", of: [.float32, .bfloat16],
    abstract: """
      Precision of the network. bfloat16 is faster, needs a CPU with AVX-512 BF16, and changes probabilities by some \
      thousandths. Without this option the model's config.json decides; of the shipped model it is float32.
      """)
}

extension Session {
  /// Loads the model that the options name.
  ///
  /// - Parameter needsClasses: False for commands that a network without a last layer will do for.
  func classifier(
    _ folder: String, _ arguments: ParsedArguments, needsClasses: Bool = true
  ) throws -> Classifier {
    let classifier = try loadClassifier(
      folder, arguments[CommandOption<Int>.threads], arguments[CommandOption<Precision>.precision])
    if needsClasses { try classifier.requireClasses() }
    return classifier
  }
}

extension Classifier {
  /// Refuses a model of several labels for a command that holds its answers against one label for each image.
  func requireOneLabel(folder: String, _ command: (some Command).Type) throws(DermaFusionError) {
    if isMultiLabel {
      throw DermaFusionError.failure(
        name: folder,
        reason:
          "several of its classes may be right at once (a multi-label head), and \(command.name) holds answers against labels that give each image one class"
      )
    }
  }
}

extension ImageViews {
  /// Test-time augmentation.
  static let flag = Flag(
    "tta",
    abstract: """
      Average the logits over the eight symmetries of the square (test-time augmentation). Takes eight times as long.
      """)

  init(_ arguments: ParsedArguments) {
    self = arguments[Self.flag] ? .symmetries : .upright
  }
}

extension Flag {
  /// Turns off progress and notes, for scripts.
  static let quiet = Flag(
    "quiet", abstract: "Show no progress, no notes and no closing summary; failures are still named.")
}

/// Finds models and fixtures that the command line does not name.
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

  /// Resolves the value of `--model`: a folder at this path, or a model of this name beside the default one.
  static func folder(named: String, terminal: Terminal) -> String {
    if named.utf8.contains(UInt8(ascii: "/")) || FileBytes.isThere(named) {
      return ModelFolder.folder(named)
    }
    guard let base = try? defaultFolder(terminal), names(beside: base).contains(named) else { return named }
    return "\(base)/\(named)"
  }

  /// The models inside a model's folder, by their folders' names.
  static func names(beside folder: String) -> [String] {
    FolderWalk.folders(in: folder).filter { FileBytes.isReadable("\(folder)/\($0)/\(marker)") }
  }

  /// The default model's folder.
  private static func defaultFolder(_ terminal: Terminal) throws(DermaFusionError) -> String {
    if let folder = terminal.environment(environmentVariable), !folder.isEmpty { return folder }
    return try search(folder: folderName, holding: marker, terminal: terminal)
  }

  /// `folder` in the current folder; otherwise beside the program or in a folder above it.
  static func search(
    folder: String, holding marker: String, terminal: Terminal
  ) throws(DermaFusionError) -> String {
    let places = [folder] + places(of: folder, terminal: terminal)
    // A folder of this name in the current folder wins, even if it is unusable.
    if FileBytes.isThere(folder) { return folder }
    for place in places where FileBytes.isReadable("\(place)/\(marker)") { return place }
    throw DermaFusionError(
      .modelNotFound,
      message: "no folder with a \(marker) was found; looked at \(places.joined(separator: ", "))",
      remedy: "Name the folder.")
  }

  /// The places of a file or folder of the package: beside the program and in the folders above it.
  static func places(of name: String, terminal: Terminal) -> [String] {
    var places: [String] = []
    var parent = terminal.executablePath.map(directory(of:))
    while let current = parent {
      let base = current == "/" ? "" : current
      // Scripts/install puts the program into bin and its data into share beside it.
      places += ["\(base)/\(name)", "\(base)/share/dermafusion/\(name)"]
      parent = current == "/" ? nil : directory(of: current)
    }
    return places
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}

/// Limits of decoding an image.
enum DecodingOptions {
  static let all: [any AnyCommandOption] = [pixels, scannedPixels, memory, seconds]

  private static let pixels = CommandOption<Int>.wholeNumber(
    "max-pixels", valueName: "n", in: 1...PixelLimit.count, initial: PixelLimit.count,
    abstract: "Refuse images of more pixels. The default is also the greatest value.")
  private static let scannedPixels = CommandOption<Int>.wholeNumber(
    "max-scanned-pixels", valueName: "n", in: 1...(Int(Int32.max) * 100),
    initial: DecodingLimits.standardScannedPixels,
    abstract: """
      Refuse a JPEG whose pixels times scans are more. Each scan of a progressive file passes over the whole image.
      """)
  private static let memory = CommandOption<Int>.wholeNumber(
    "max-decoding-memory", valueName: "MB", in: 1...(1 << 20), initial: DecodingLimits.standardMemory >> 20,
    abstract: """
      Refuse images that take more memory to decode. Images that are decoded at the same time share this memory and wait \
      for it.
      """)
  private static let seconds = CommandOption<Int>.wholeNumber(
    "max-decoding-time", valueName: "s", in: 1...86_400, initial: Int(DecodingLimits.standardSeconds),
    abstract: "Refuse an image that takes more seconds to decode.")

  static func limits(_ arguments: ParsedArguments) -> DecodingLimits {
    DecodingLimits(
      pixels: arguments.value(of: pixels), scannedPixels: arguments.value(of: scannedPixels),
      memory: arguments.value(of: memory) << 20, seconds: Double(arguments.value(of: seconds)))
  }
}

extension CommandOption where Value == Language {
  /// `--language` of commands whose output is for patients and students.
  static let language = choice(
    "language", of: Language.allCases, initial: .english,
    abstract: """
      Language of the sentences and labels. The disclaimer stands in English too. Names of classes are translated where the \
      language has one for the class. Keys and notes stay English, and so do errors that the language has no words for.
      """)
}

/// The form of a heatmap.
enum FigureOptions {
  static let all: [any AnyCommandOption] = [form, scale, colorMap, alpha, sideBySide]

  private static let form = CommandOption<FigureStyle.Form>.choice(
    "style", of: FigureStyle.Form.allCases, initial: .contours,
    abstract: """
      contours draws a smooth map with lines at 0.25, 0.5 and 0.75 and leaves the photograph unchanged where the map is 0. \
      classic draws the map with one opacity everywhere, as the Python package grad-cam does.
      """)
  private static let scale = CommandOption<FigureStyle.Scale>.choice(
    "scale", of: FigureStyle.Scale.allCases, initial: .each,
    abstract: """
      Scale of several maps. each: 1 is the strongest place of each map; the probabilities say how likely the classes are. \
      shared: 1 is the strongest place of all maps, with --style contours only. It compares logits, so an unlikely class \
      can be brighter than a likely one.
      """)
  private static let colorMap = CommandOption<ColorMap>.choice(
    "colormap", of: ColorMap.allCases, defaultValue: "inferno; jet for --style classic",
    abstract: "Colours. inferno and viridis are perceptually uniform and can be read without colour vision.")
  private static let alpha = CommandOption<Double>(
    "alpha", valueName: "alpha",
    abstract:
      "Opacity of the colours over the photograph, from 0 to 1: where the map is 1, or everywhere for --style classic.",
    expectation: "Please provide a number from 0 to 1.", defaultValue: "0.65; 0.5 for --style classic",
    convert: { text in
      guard let value = Double(text), (0...1).contains(value) else { return nil }
      return value
    })
  private static let sideBySide = Flag("side-by-side", abstract: "Show the photograph beside the map.")

  static func style(_ arguments: ParsedArguments) -> FigureStyle {
    var style = FigureStyle(
      arguments.value(of: form), colorMap: arguments[colorMap], alpha: arguments[alpha],
      scale: arguments.value(of: scale), isSideBySide: arguments[sideBySide])
    style.language = arguments.value(of: CommandOption<Language>.language)
    return style
  }
}
