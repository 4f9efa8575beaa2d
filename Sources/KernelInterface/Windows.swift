/// The arguments of the depthwise kernel: one output row of a depthwise convolution over some channels.
///
/// `output[x, c] = activation(bias[c] + sum over ky, kx of rows[ky][x * stride + kx - padLeft, c] * weight[ky, kx, c])`
/// where pixels outside the row, and rows that are nil, count as zero. All channel counts are whole vectors.
package struct DepthwiseRow {
  /// One pointer to the first pixel of each input row under the window, from the top; nil outside the image.
  package var rows: UnsafePointer<UnsafePointer<Float>?>
  package var inputPixelStride: Int
  package var inputWidth: Int
  /// The first output pixel.
  package var output: UnsafeMutablePointer<Float>
  package var outputPixelStride: Int
  package var outputWidth: Int
  /// When not nil, what the activation gets is written there too, past the caches: a multiple of a vector's size in memory,
  /// `argumentStride` floats from one pixel to the next.
  package var arguments: UnsafeMutablePointer<Float>?
  package var argumentStride: Int
  /// `[kernelSize, kernelSize, weightStride]`, from the first of the channels to compute.
  package var weight: UnsafePointer<Float>
  /// Floats from one tap's weights to the next.
  package var weightStride: Int
  /// One value for each channel.
  package var bias: UnsafePointer<Float>
  /// When not nil, the sum over the output row is added to it, channel by channel.
  package var sums: UnsafeMutablePointer<Float>?
  package var kernelSize: Int
  /// Input pixels from one output to the next, in both directions.
  package var stride: Int
  /// Zeros before the first pixel of a row.
  package var padLeft: Int
  /// Channels to compute, a multiple of the vector width.
  package var channelCount: Int
  package var activation: Activation

  package init(
    @_nonEphemeral rows: UnsafePointer<UnsafePointer<Float>?>, inputPixelStride: Int, inputWidth: Int,
    @_nonEphemeral output: UnsafeMutablePointer<Float>, outputPixelStride: Int, outputWidth: Int,
    @_nonEphemeral arguments: UnsafeMutablePointer<Float>? = nil, argumentStride: Int = 0,
    @_nonEphemeral weight: UnsafePointer<Float>, weightStride: Int, @_nonEphemeral bias: UnsafePointer<Float>,
    @_nonEphemeral sums: UnsafeMutablePointer<Float>?, kernelSize: Int, stride: Int, padLeft: Int,
    channelCount: Int, activation: Activation
  ) {
    self.rows = rows
    self.inputPixelStride = inputPixelStride
    self.inputWidth = inputWidth
    self.output = output
    self.outputPixelStride = outputPixelStride
    self.outputWidth = outputWidth
    self.arguments = arguments
    self.argumentStride = argumentStride
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

/// The arguments of a packing of levels for ``ProductKernels/Windows``: of the levels of a row, which are floats, those of
/// four pixels become the bytes of a word. Word `k` has pixels `4k ...`, the first one lowest, and lies where pixel `k` did.
package struct LevelWindowPass {
  /// The row's first pixel, padding included; levels are read and words written here.
  package var row: UnsafeMutablePointer<Float>
  /// Floats from one pixel to the next.
  package var pixelStride: Int
  /// Pixels of the row, padding included.
  package var width: Int
  /// The pixels that hold levels. The others count as 0, whatever they hold.
  package var levels: Range<Int>
  /// Channels, whole vectors.
  package var channelCount: Int

  package init(
    @_nonEphemeral row: UnsafeMutablePointer<Float>, pixelStride: Int, width: Int, levels: Range<Int>,
    channelCount: Int
  ) {
    self.row = row
    self.pixelStride = pixelStride
    self.width = width
    self.levels = levels
    self.channelCount = channelCount
  }
}

/// The arguments of the max pooling kernel: one output row.
///
/// `output[x, c] = max over ky, kx of rows[ky][x * stride + kx - padLeft, c]`, where pixels outside the row, and rows that
/// are nil, are left out. Every window meets the input. The channel count is whole vectors.
package struct MaxPoolingRow {
  /// One pointer to the first pixel of each input row under the window, from the top; nil outside the image.
  package var rows: UnsafePointer<UnsafePointer<Float>?>
  package var inputPixelStride: Int
  package var inputWidth: Int
  /// The first output pixel.
  package var output: UnsafeMutablePointer<Float>
  package var outputPixelStride: Int
  package var outputWidth: Int
  package var kernelSize: Int
  /// Input pixels from one output to the next.
  package var stride: Int
  /// Pixels of the first window that lie before the row.
  package var padLeft: Int
  /// Channels to compute, a multiple of the vector width.
  package var channelCount: Int

  package init(
    @_nonEphemeral rows: UnsafePointer<UnsafePointer<Float>?>, inputPixelStride: Int, inputWidth: Int,
    @_nonEphemeral output: UnsafeMutablePointer<Float>, outputPixelStride: Int, outputWidth: Int,
    kernelSize: Int,
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

/// The arguments of a Winograd input transform: `B^T d B` of a tile of 4x4 pixels, each channel on its own.
///
/// `B^T = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]`
/// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016, F(2x2, 3x3)).
package struct WinogradInput {
  /// The tile's pixels, row-major; one outside the map is a pixel of zeros.
  package var pixels: InlineArray<16, UnsafePointer<Float>>
  /// Channels, whole vectors.
  package var channelCount: Int
  /// The first of 16 results, row-major, `planeStride` floats apart.
  package var output: UnsafeMutablePointer<Float>
  /// Floats from one result to the next.
  package var planeStride: Int

  package init(
    pixels: InlineArray<16, UnsafePointer<Float>>, channelCount: Int,
    @_nonEphemeral output: UnsafeMutablePointer<Float>,
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
package struct WinogradOutput {
  /// The first of 16 values, row-major, `planeStride` floats apart.
  package var input: UnsafePointer<Float>
  /// Floats from one value to the next.
  package var planeStride: Int
  /// Channels, whole vectors.
  package var channelCount: Int
  /// One value for each channel.
  package var bias: UnsafePointer<Float>
  /// The map's first pixel.
  package var output: UnsafeMutablePointer<Float>
  /// Added before the activation, or nil; lies like the output.
  package var residual: UnsafePointer<Float>?
  /// The places of the four pixels, row-major, in floats from the first pixel's start; nil outside the map.
  package var places: InlineArray<4, Int?>
  package var activation: Activation

  package init(
    @_nonEphemeral input: UnsafePointer<Float>, planeStride: Int, channelCount: Int,
    @_nonEphemeral bias: UnsafePointer<Float>,
    @_nonEphemeral output: UnsafeMutablePointer<Float>, @_nonEphemeral residual: UnsafePointer<Float>?,
    places: InlineArray<4, Int?>,
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
