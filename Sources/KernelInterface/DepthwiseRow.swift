/// The arguments of the depthwise kernel: one output row of a depthwise convolution over some channels.
///
/// `output[x, c] = activation(bias[c] + sum over ky, kx of rows[ky][x * stride + kx - padLeft, c] * weight[ky, kx, c])`
/// where pixels outside the row, and rows that are nil, count as zero. All channel counts are whole vectors.
public struct DepthwiseRow {
  /// One pointer to the first pixel of each input row under the window, from the top; nil outside the image.
  public var rows: UnsafePointer<UnsafePointer<Float>?>
  /// Floats from one input pixel to the next.
  public var inputPixelStride: Int
  /// Pixels in an input row.
  public var inputWidth: Int
  /// The first output pixel.
  public var output: UnsafeMutablePointer<Float>
  /// Floats from one output pixel to the next.
  public var outputPixelStride: Int
  /// Pixels in the output row.
  public var outputWidth: Int
  /// `[kernelSize, kernelSize, weightStride]`, from the first of the channels to compute.
  public var weight: UnsafePointer<Float>
  /// Floats from one tap's weights to the next.
  public var weightStride: Int
  /// One value for each channel.
  public var bias: UnsafePointer<Float>
  /// When not nil, the sum over the output row is added to it, channel by channel.
  public var sums: UnsafeMutablePointer<Float>?
  /// The window's height and width.
  public var kernelSize: Int
  /// Input pixels from one output to the next, in both directions.
  public var stride: Int
  /// Zeros before the first pixel of a row.
  public var padLeft: Int
  /// Channels to compute, a multiple of the vector width.
  public var channelCount: Int
  /// Applied to each output.
  public var activation: Activation

  /// Collects the arguments.
  public init(
    rows: UnsafePointer<UnsafePointer<Float>?>, inputPixelStride: Int, inputWidth: Int,
    output: UnsafeMutablePointer<Float>, outputPixelStride: Int, outputWidth: Int,
    weight: UnsafePointer<Float>, weightStride: Int, bias: UnsafePointer<Float>,
    sums: UnsafeMutablePointer<Float>?, kernelSize: Int, stride: Int, padLeft: Int,
    channelCount: Int, activation: Activation
  ) {
    self.rows = rows
    self.inputPixelStride = inputPixelStride
    self.inputWidth = inputWidth
    self.output = output
    self.outputPixelStride = outputPixelStride
    self.outputWidth = outputWidth
    self.weight = weight
    self.weightStride = weightStride
    self.bias = bias
    self.sums = sums
    self.kernelSize = kernelSize
    self.stride = stride
    self.padLeft = padLeft
    self.channelCount = channelCount
    self.activation = activation
  }
}
