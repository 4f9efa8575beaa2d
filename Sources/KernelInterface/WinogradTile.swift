/// The arguments of a Winograd input transform: `B^T d B` of a tile of 4x4 pixels, each channel on its own.
///
/// `B^T = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]`
/// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016, F(2x2, 3x3)).
public struct WinogradInput {
  /// The tile's pixels, row-major; one outside the map is a pixel of zeros.
  public var pixels: InlineArray<16, UnsafePointer<Float>>
  /// Channels, whole vectors.
  public var channelCount: Int
  /// The first of 16 results, row-major, `planeStride` floats apart.
  public var output: UnsafeMutablePointer<Float>
  /// Floats from one result to the next.
  public var planeStride: Int

  /// Collects the arguments.
  public init(
    pixels: InlineArray<16, UnsafePointer<Float>>, channelCount: Int, output: UnsafeMutablePointer<Float>,
    planeStride: Int
  ) {
    self.pixels = pixels
    self.channelCount = channelCount
    self.output = output
    self.planeStride = planeStride
  }
}

/// The arguments of a Winograd output transform: `activation(A^T m A + bias + residual)` of a tile of 4x4 values, which
/// makes 2x2 pixels.
///
/// `A^T = [[1, 1, 1, 0], [0, 1, -1, -1]]`
public struct WinogradOutput {
  /// The first of 16 values, row-major, `planeStride` floats apart.
  public var input: UnsafePointer<Float>
  /// Floats from one value to the next.
  public var planeStride: Int
  /// Channels, whole vectors.
  public var channelCount: Int
  /// One value for each channel.
  public var bias: UnsafePointer<Float>
  /// The map's first pixel.
  public var output: UnsafeMutablePointer<Float>
  /// Added before the activation, or nil; lies like the output.
  public var residual: UnsafePointer<Float>?
  /// Where the four pixels lie, row-major, in floats from the first pixel's start; nil outside the map.
  public var places: InlineArray<4, Int?>
  /// Applied last.
  public var activation: Activation

  /// Collects the arguments.
  public init(
    input: UnsafePointer<Float>, planeStride: Int, channelCount: Int, bias: UnsafePointer<Float>,
    output: UnsafeMutablePointer<Float>, residual: UnsafePointer<Float>?, places: InlineArray<4, Int?>,
    activation: Activation
  ) {
    self.input = input
    self.planeStride = planeStride
    self.channelCount = channelCount
    self.bias = bias
    self.output = output
    self.residual = residual
    self.places = places
    self.activation = activation
  }
}
