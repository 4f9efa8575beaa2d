import DermaFusion

/// The options of `gradcam` alone.
enum GradCAMOptions {
  /// The map's class, method, layer and output.
  static let map: [any AnyCommandOption] = [lesionClass, method, layer, output, raw, signed, trust]

  /// As many maps as a contact sheet shows.
  static let sheetCount = 12

  static let lesionClass = CommandOption<String>(
    "class", valueName: "class",
    abstract: """
      Class to explain, by its short name in the model. top is the most probable class. all draws a contact sheet of all \
      classes, or of the \(sheetCount) most probable where there are more.
      """,
    expectation: "Please provide a class's short name, 'top' or 'all'.", initial: "top", defaultValue: "top")

  /// The classes to explain.
  static func classes(
    _ name: String, labels: Labels
  ) throws(DermaFusionError) -> ImageRequest.Classes {
    switch name {
    case "top": return .top
    case "all": return labels.count <= sheetCount ? .all : .likeliest(sheetCount)
    default:
      if labels[name] != nil { return .named([name]) }
      // In another letter case, or by its name: Melanoma for mel.
      let named = labels.first { [$0.id.lowercased(), $0.name.lowercased()].contains(name.lowercased()) }?.id
      let names = labels.count <= sheetCount ? labels.ids.quotedAlternatives : labels.ids.quotedList
      throw .invalidValue(
        name, display: lesionClass.display,
        expectation: "The model's classes are \(names).", suggestion: named ?? labels.ids.nearest(to: name))
    }
  }

  static let method = CommandOption<ActivationMapMethod>.choice(
    "method", of: ActivationMapMethod.allCases, initial: .gradcam,
    abstract:
      "How the map is made. eigencam shows what the features respond to and is the same for every class.")
  static let layer = CommandOption<String>(
    "layer", valueName: "layer",
    abstract: """
      Feature map to explain, by its name in timm, the Python package of image models: conv_stem, blocks.5.1 or layer3.0, \
      for example. stage0, stage1, ..., blocks.5 or layer3 stand for the last block of a stage. Early maps are fine and noisy, and can be \
      strong at the image's edge.
      """,
    expectation: "Please provide a layer's name.",
    defaultValue: "the last feature map, of transformers the last norm in a block")
  static let output = CommandOption<String>.path(
    "output", valueName: "overlay.png",
    abstract: """
      Picture to write, a PNG or, with a name that ends in .pdf, a PDF file; an existing one is replaced. For several images and for folders: the folder to write the pictures \
      to, which is made when it is missing; the folders below a folder are kept there. Without this option the picture goes to the current folder, under the \
      image's name followed by -gradcam.png (image-gradcam.png for standard input). - is standard output; the text or the \
      JSON then goes to standard error.
      """)
  static let raw = CommandOption<String>.path(
    "raw", valueName: "map.npy",
    abstract: """
      Also write the map as a NumPy array: float32 [size, size] with values from 0 to 1 over the network's input, as the \
      Python package grad-cam returns it; with --class all, [classes, size, size]. EigenCAM leaves its sign to chance; \
      here its extreme is above 0. - is standard output, as above. For one image only.
      """)
  static let signed = Flag(
    "signed",
    abstract: """
      Keep the negative values, which count against the class: --raw writes the map before they are cut off and it is \
      scaled, float32 [h, w] at the layer's own resolution, and JSON gets it as signedMap.
      """)
  static let trust = Flag(
    "trust",
    abstract: """
      Test each map in three ways: deletion and insertion must do better than the mean of three random maps of the same \
      smoothness, and the correlation with maps of five heads whose weights were shuffled must stay below \
      \(MapTrust.highCorrelation.fixed(digits: 1)). A map that passes may still be wrong. Takes about 140 runs of the \
      network, 35 more for each further map.
      """)
  static let resume = Flag(
    "resume",
    abstract: """
      Skip images whose picture is there, whatever it was made from, and whose array is there with --raw. Images of one name \
      are numbered in their order, so give the same images again.
      """)
}
