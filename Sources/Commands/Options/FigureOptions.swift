import Figures

/// How a heatmap is drawn, as every command asks for it.
enum FigureOptions {
  static let all: [any AnyCommandOption] = [form, scale, colorMap, alpha, sideBySide]

  private static let form = CommandOption<FigureStyle.Form>.choice(
    "style", of: FigureStyle.Form.allCases, initial: .contours,
    abstract: """
      contours draws a smooth map with lines at 0.25, 0.5 and 0.75 and leaves the photograph unchanged where the map is 0. \
      classic draws the map with one opacity everywhere, as the Python package grad-cam does.
      """)
  private static let scale = CommandOption<FigureStyle.Scale>.choice(
    "scale", of: FigureStyle.Scale.allCases, initial: .shared,
    abstract: """
      Scale of several maps. shared: 1 is the strongest place of all maps. each: 1 is the strongest place of each map, as \
      it always is with --style classic.
      """)
  private static let colorMap = CommandOption<ColorMap>(
    "colormap", valueName: "colormap",
    abstract: "Colours. inferno and viridis are perceptually uniform and can be read without colour vision.",
    allowedValues: ColorMap.allCases.map { $0.rawValue }, defaultValue: "inferno; jet for --style classic",
    convert: { ColorMap(rawValue: $0) })
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
    FigureStyle(
      arguments.value(of: form), colorMap: arguments[colorMap], alpha: arguments[alpha],
      scale: arguments.value(of: scale), isSideBySide: arguments[sideBySide])
  }
}
