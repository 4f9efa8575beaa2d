/// A colour of a figure, sRGB. Those with a name are the page's and the report's, too.
package struct FigureColor: Sendable, Equatable {
  package let red: UInt8
  package let green: UInt8
  package let blue: UInt8

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  static let white = FigureColor(255, 255, 255)
  /// Text; 16.3 to 1 on white.
  static let ink = FigureColor(23, 33, 43)
  /// Text of less weight; 7.3 to 1 on white.
  static let softInk = FigureColor(74, 88, 102)
  /// Frames and ticks.
  static let line = FigureColor(119, 133, 143)
  /// The frame of the likeliest class.
  static let accent = FigureColor(26, 115, 232)

  /// This colour with a share of 0...1, over another one.
  func mixed(with ground: FigureColor, share: Float) -> FigureColor {
    func mix(_ top: UInt8, _ bottom: UInt8) -> UInt8 {
      UInt8(Float(bottom) + (Float(top) - Float(bottom)) * share + 0.5)
    }
    return FigureColor(mix(red, ground.red), mix(green, ground.green), mix(blue, ground.blue))
  }
}
