import KernelInterface
import SystemModule

/// The last few rows of the expanded tensor, for some of its channels; without an expansion, the input itself.
struct RowRing {
  /// Zero pixels beside each row, so that no window leaves it.
  struct Sides: Sendable, Equatable {
    let before: Int
    let after: Int

    static let none = Sides(before: 0, after: 0)

    private init(before: Int, after: Int) {
      self.before = before
      self.after = after
    }

    /// The zeros that the window reaches.
    ///
    /// Between zeros each row is a product of its own, which costs more than edges do where the kernel's tiles do not fit
    /// the width, and reach back over pixels, or where the row is so wide that few outputs lie at its edges. There are
    /// none then.
    init(_ input: FeatureShape, window: Window, rowTile: Int) {
      let resolved = window.resolve(height: input.height, width: input.width)
      let end = (resolved.width - 1) * window.stride + window.kernelSize
      let pays = input.width <= 64 && input.width.roundedUp(toMultipleOf: rowTile) * 16 <= input.width * 17
      self.init(
        before: pays ? resolved.left : 0, after: pays ? max(end - resolved.left - input.width, 0) : 0)
    }
  }

  let sides: Sides
  /// Floats from one pixel to the next.
  let pixelStride: Int
  /// Pixels in a row, the sides included.
  let width: Int
  private let expansion: PointwiseConvolution?
  private let input: FeatureMap
  private let channels: Range<Int>
  private let rowCount: Int
  private let scratch: UnsafeMutablePointer<Float>
  /// The rows in the ring.
  private var held = 0..<0

  /// - Parameter scratch: `rowCount` rows of the input's width and the sides, as many channels as are asked for.
  init(
    expansion: PointwiseConvolution?, input: FeatureMap, channels: Range<Int>, rowCount: Int, sides: Sides,
    scratch: UnsafeMutablePointer<Float>
  ) {
    self.expansion = expansion
    self.input = input
    self.channels = channels
    self.rowCount = rowCount
    self.sides = sides
    self.scratch = scratch
    pixelStride = expansion == nil ? input.pixelStride : channels.count
    width = sides.before + input.shape.width + sides.after
    guard sides != .none else { return }
    for row in 0..<rowCount {
      let start = scratch + row * width * pixelStride
      start.update(repeating: 0, count: sides.before * pixelStride)
      (start + (width - sides.after) * pixelStride).update(repeating: 0, count: sides.after * pixelStride)
    }
  }

  /// The first pixel of a row that is held, at the first of the channels.
  func row(_ y: Int) -> UnsafePointer<Float> {
    expansion == nil
      ? UnsafePointer(input.pointer + (y * width * pixelStride + channels.lowerBound))
      : UnsafePointer(scratch + y % rowCount * width * pixelStride)
  }

  /// Expands what is missing of the given rows, and as many after them as fit, since long products run faster.
  ///
  /// - Parameter end: Rows from here on are never needed.
  mutating func hold(from first: Int, through last: Int, end: Int) {
    guard let expansion, last >= held.upperBound else { return }
    let matrix = expansion.matrix
    let panelWidth = 2 * matrix.kernels.vectorWidth
    let endPanel = min((channels.upperBound + panelWidth - 1) / panelWidth, matrix.layout.panelCount)
    let inputWidth = input.shape.width
    var next = max(held.upperBound, first)
    held = first..<min(first + rowCount, end)
    precondition(held.contains(last), "row \(last) is not among the rows \(held) that a ring can hold")
    while next < held.upperBound {
      let rows = min(held.upperBound - next, rowCount - next % rowCount)
      // Without zeros in between, all rows are one.
      let runs = sides == .none ? 1 : rows
      matrix.multiply(
        a: input.pointer + next * inputWidth * input.pixelStride, aStride: input.pixelStride,
        rowCount: rows * inputWidth / runs, runCount: runs,
        into: scratch + ((next % rowCount * width + sides.before) * pixelStride - channels.lowerBound),
        cStride: pixelStride, runStride: width * pixelStride,
        panelRange: channels.lowerBound / panelWidth..<endPanel, activation: expansion.activation)
      next += rows
    }
  }
}
