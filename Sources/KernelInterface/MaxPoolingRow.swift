/// The arguments of the max pooling kernel: one output row.
///
/// `output[x, c] = max over ky, kx of rows[ky][x * stride + kx - padLeft, c]`, where pixels outside the row, and rows that
/// are nil, are left out. Every window meets the input. The channel count is whole vectors.
public struct MaxPoolingRow {
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
  /// The window's height and width.
  public var kernelSize: Int
  /// Input pixels from one output to the next.
  public var stride: Int
  /// Pixels of the first window that lie before the row.
  public var padLeft: Int
  /// Channels to compute, a multiple of the vector width.
  public var channelCount: Int

  /// Collects the arguments.
  public init(
    rows: UnsafePointer<UnsafePointer<Float>?>, inputPixelStride: Int, inputWidth: Int,
    output: UnsafeMutablePointer<Float>, outputPixelStride: Int, outputWidth: Int, kernelSize: Int,
    stride: Int, padLeft: Int, channelCount: Int
  ) {
    self.rows = rows
    self.inputPixelStride = inputPixelStride
    self.inputWidth = inputWidth
    self.output = output
    self.outputPixelStride = outputPixelStride
    self.outputWidth = outputWidth
    self.kernelSize = kernelSize
    self.stride = stride
    self.padLeft = padLeft
    self.channelCount = channelCount
  }
}
