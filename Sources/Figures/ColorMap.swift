/// Colours for the values 0...1 of an activation map.
///
/// ``inferno`` and ``viridis`` are perceptually uniform: equal steps look equally large, lightness only grows, and so they
/// can be read without telling colours apart. In ``turbo`` and ``jet`` lightness goes up and down.
public enum ColorMap: String, Sendable, CaseIterable {
  /// By matplotlib's name.
  case inferno, viridis, turbo, jet

  /// `[256, 3]`: red, green and blue of 256 steps from 0 to 1.
  public var table: [UInt8] {
    switch self {
    case .inferno: Self.bytes(Self.infernoTable)
    case .viridis: Self.bytes(Self.viridisTable)
    case .turbo: Self.bytes(Self.turboTable)
    case .jet: Self.bytes(Self.jetTable)
    }
  }

  private static func bytes(_ digits: String) -> [UInt8] {
    let values = digits.utf8.map {
      $0 < UInt8(ascii: "A") ? $0 - UInt8(ascii: "0") : $0 - UInt8(ascii: "A") + 10
    }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
