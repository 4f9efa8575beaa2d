/// A feature map in Double, with a magnitude beside every value from which rounding errors are bounded.
///
/// The magnitude of a sum is the sum of the magnitudes of its terms. So, for a result computed in Float32 in any order,
/// the error is at most a small multiple of `Float.ulpOfOne * magnitude`, whatever cancels in the value itself.
/// Layout: NHWC, dense.
public struct ReferenceMap: Sendable {
  /// Pixels down.
  public let height: Int
  /// Pixels across.
  public let width: Int
  /// Values in a pixel.
  public let channels: Int
  /// `[height, width, channels]`
  public var values: [Double]
  /// `[height, width, channels]`, never below the values' absolutes.
  public var magnitudes: [Double]

  /// A map of exact values.
  ///
  /// - Parameter values: `[height, width, channels]`
  public init(height: Int, width: Int, channels: Int, values: [Float]) {
    precondition(
      values.count == height * width * channels,
      "\(values.count) values for a map of [\(height), \(width), \(channels)]")
    self.height = height
    self.width = width
    self.channels = channels
    self.values = values.map(Double.init)
    magnitudes = values.map { abs(Double($0)) }
  }

  /// A vector of exact values, as a map of one pixel.
  public init(vector: [Float]) {
    self.init(height: 1, width: 1, channels: vector.count, values: vector)
  }

  init(height: Int, width: Int, channels: Int) {
    self.height = height
    self.width = width
    self.channels = channels
    values = [Double](repeating: 0, count: height * width * channels)
    magnitudes = values
  }

  /// The place of a value in ``values``.
  public func index(_ y: Int, _ x: Int, _ channel: Int) -> Int { (y * width + x) * channels + channel }

  /// The values rounded to Float32, as exact inputs of a next layer.
  public var rounded: [Float] { values.map { Float($0) } }
}
