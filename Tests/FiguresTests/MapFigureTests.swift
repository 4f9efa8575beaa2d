import ImagePipeline
import Testing

@testable import Figures

@Suite struct MapFigureTests {
  private func photograph(_ side: Int) -> PixelImage {
    PixelImage(
      width: side, height: side,
      pixels: (0..<side * side * 3).map { UInt8(170 + ($0 / 3 % side + $0 / 3 / side) % 20 + $0 % 3 * 10) })
  }

  /// A hill, 1 at its top, 0 at the edges.
  private func hill(_ side: Int) -> [Float] {
    (0..<side * side).map { index in
      let (x, y) = (Float(index % side) / Float(side) - 0.6, Float(index / side) / Float(side) - 0.4)
      return max(1 - 6 * (x * x + y * y), 0)
    }
  }

  private func figure(side: Int, mapCount: Int, style: FigureStyle = FigureStyle()) -> MapFigure {
    let longText =
      "This caption is long enough for several lines, in a figure of any size that there is. It ends here."
    return MapFigure(
      photograph: photograph(side),
      maps: (0..<mapCount).map { index in
        MapFigure.Map(
          title: "mel \(index).5%", lines: ["Melanoma", "Strongest place: 0.\(index)"], isFramed: index == 1,
          values: { index == 2 ? nil : hill($0) })
      },
      heading: [
        .init("Melanoma (mel): probability 81.8%", .heading),
        .init("High risk classification.", .strong, sign: .high),
      ],
      caption: [.init(longText, .strong, sign: RiskSign.none), .init(longText), .init(longText, .small)],
      scaleLabel: "Support for the class, 0\u{2013}1", style: style)
  }

  /// - Returns: 1...21, WCAG's ratio.
  private func contrast(_ color: FigureColor, _ ground: FigureColor) -> Double {
    func luminance(_ color: FigureColor) -> Double {
      let linear = [color.red, color.green, color.blue].map { value -> Double in
        let share = Double(value) / 255
        guard share > 0.04045 else { return share / 12.92 }
        // 2.4th power by x^2 * x^0.4.
        var root = share
        let base = (share + 0.055) / 1.055
        root = base
        for _ in 0..<60 {
          root -= (root * root * root * root * root - base) / (5 * root * root * root * root)
        }
        return base * base * root * root
      }
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
    let (one, other) = (luminance(color), luminance(ground))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
  }

  @Test(arguments: [(64, 1), (300, 1), (450, 1), (1024, 1), (97, 3), (450, 7), (800, 12)])
  func textStandsInsideAndMeetsNothing(side: Int, mapCount: Int) {
    for isSideBySide in [false, true] {
      let canvas = FigureLayout(
        figure(side: side, mapCount: mapCount, style: FigureStyle(isSideBySide: isSideBySide))
      ).canvas
      let (image, texts) = (canvas.image, canvas.texts)
      for (index, text) in texts.enumerated() {
        let place = "\(side), \(mapCount) maps: '\(text.text)' at \(text.x), \(text.y)"
        #expect(text.x >= 0 && text.y >= 0, "\(place)")
        #expect(
          text.x + text.width <= Float(image.width) && text.y + text.height <= Float(image.height), "\(place)"
        )
        #expect(text.size >= 9, "\(place): \(text.size) pixels an em")
        #expect(contrast(text.color, .white) >= 4.5, "\(place): contrast \(contrast(text.color, .white))")
        for other in texts[(index + 1)...] {
          // A line's box holds accents and descenders: neighbours may share a pixel or two of air.
          let apart =
            text.x + text.width <= other.x || other.x + other.width <= text.x
            || text.y + text.height * 0.9 <= other.y || other.y + other.height * 0.9 <= text.y
          #expect(apart, "\(place) meets '\(other.text)'")
        }
      }
    }
  }

  @Test func everyTextHasInkOfItsColour() {
    let canvas = FigureLayout(figure(side: 450, mapCount: 1)).canvas
    let (image, texts) = (canvas.image, canvas.texts)
    #expect(texts.count > 10)
    for text in texts {
      var darkest = 255
      for y in Int(text.y)..<Int(text.y + text.height) {
        for x in Int(text.x)..<Int(text.x + text.width) {
          darkest = min(darkest, Int(image.pixels[(y * image.width + x) * 3]))
        }
      }
      #expect(darkest < Int(text.color.red) + 90, "'\(text.text)' is \(darkest) at its darkest")
    }
  }

  @Test func whereTheMapIsZeroThePhotographStaysItself() {
    let photograph = photograph(120)
    let values = hill(120)
    let overlay = MapFigure.overlay(values, on: photograph, style: FigureStyle(), lineWidth: 1)
    var changed = 0
    for pixel in values.indices {
      let place = pixel * 3..<pixel * 3 + 3
      if values[pixel] == 0 {
        #expect(overlay.pixels[place] == photograph.pixels[place], "pixel \(pixel % 120), \(pixel / 120)")
      } else if overlay.pixels[place] != photograph.pixels[place] {
        changed += 1
      }
    }
    #expect(changed > 1000)
    let none = MapFigure.overlay(nil, on: photograph, style: FigureStyle(), lineWidth: 1)
    #expect(none == photograph)
  }

  @Test(arguments: [Float(0.18), 0.004])
  func aWeakMapHasTheLinesOfAStrongOne(peak: Float) {
    // White where there are lines, black elsewhere: no colour is laid over it.
    let photograph = PixelImage(width: 90, height: 90, pixels: [UInt8](repeating: 40, count: 90 * 90 * 3))
    let style = FigureStyle(alpha: 0)
    let strong = MapFigure.overlay(hill(90), on: photograph, style: style, lineWidth: 1.5)
    let weak = MapFigure.overlay(
      hill(90).map { $0 * peak }, peak: peak, on: photograph, style: style, lineWidth: 1.5)
    let greatest = zip(strong.pixels, weak.pixels).map { abs(Int($0) - Int($1)) }.max()
    #expect(greatest ?? 255 <= 1, "they differ by \(greatest ?? 255)")
    #expect(strong.pixels.contains { $0 > 200 })
  }

  @Test func opacityGrowsWithTheValue() {
    let photograph = PixelImage(width: 256, height: 1, pixels: [UInt8](repeating: 200, count: 768))
    let blended = photograph.blended(
      with: (0..<256).map { Float($0) / 255 }, colorMap: .viridis, alpha: 0.6)
    let colors = ColorMap.viridis.table
    for step in 0..<256 {
      for channel in 0..<3 {
        let share = 0.6 * Double(step) / 255
        let wanted = 200 * (1 - share) + Double(colors[step * 3 + channel]) * share
        let found = Double(blended.pixels[step * 3 + channel])
        #expect(abs(found - wanted) <= 0.51, "step \(step), channel \(channel): \(found), expected \(wanted)")
      }
    }
  }

  @Test func contourLinesLieWhereTheValuesPassTheirLevels() {
    // A ramp from left to right: a line at 0.5 is a column in the middle.
    let side = 101
    let gray = PixelImage(width: side, height: side, pixels: [UInt8](repeating: 100, count: side * side * 3))
    let ramp = (0..<side * side).map { Float($0 % side) / Float(side - 1) }
    let drawn = gray.contoured(ramp, levels: [0.5], thickness: 2)
    for y in [0, 50, 100] {
      let row = (0..<side).map { drawn.pixels[(y * side + $0) * 3] }
      #expect(row[50] > 220, "row \(y): \(row[45...55])")
      #expect(row[46] < 100 || row[47] < 100, "row \(y) has no dark edge: \(row[45...55])")
      #expect(row[40] == 100 && row[60] == 100, "row \(y): \(row[40]), \(row[60])")
    }
  }
}
