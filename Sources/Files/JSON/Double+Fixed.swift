extension Double {
  /// The decimal with exactly `digits` digits after the point, whatever the locale; what is rounded to 0 has no sign.
  ///
  /// - Parameter digits: 0...9
  package func fixed(digits: Int) -> String {
    // An Int has 32 bits in WebAssembly.
    let scale = (0..<digits).reduce(Int64(1)) { power, _ in power * 10 }
    let scaled = (magnitude * Double(scale)).rounded()
    // From here on a Double has no digits that could be counted out, nor have NaN and the infinities.
    guard scaled < 0x1p53 else { return description }
    let units = Int64(scaled)
    let sign = self < 0 && units > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(units)" }
    let fraction = String(units % scale)
    return "\(sign)\(units / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
