package import KernelInterface
import SystemModule

/// Rows of an expanded tensor that a ring asks for: `runCount` runs of `pixelCount` pixels, which follow one another from
/// the pixel `first` of the input on.
package struct ExpandedRows {
  /// The first pixel of the input.
  package let first: Int
  /// Pixels of a run.
  package let pixelCount: Int
  package let runCount: Int
  /// The channels.
  package let panels: Range<Int>
  /// The place of the first pixel, at channel 0.
  package let output: UnsafeMutablePointer<Float>
  /// Floats from one pixel to the next.
  package let pixelStride: Int
  /// Floats from one run to the next.
  package let runStride: Int
}

/// The source of the rows under a window.
package enum RowSource {
  /// The map itself.
  case map(FeatureMap)
  /// Its expansion: the cut of the expanded channels, and what computes rows of them.
  case expanded(PanelLayout, vectorWidth: Int, (ExpandedRows) -> Void)
}

/// The last few rows of the expanded tensor, for some of its channels; without an expansion, the input itself.
struct RowRing {
  /// Zero pixels beside each row: every window lies inside.
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
    /// With zeros at its sides, each row is a product of its own. That costs more than edges do in two cases. The kernels'
    /// tiles may not fit the width, so that the last one computes some pixels again. Or the row is so wide that few outputs
    /// lie at its edges. In both cases there are no zeros, unless they are required. One answer for all kernels: the sums over
    /// a row's outputs begin with those at its edges.
    init(_ input: FeatureShape, window: Window, isRequired: Bool) {
      let resolved = window.resolve(height: input.height, width: input.width)
      let end = (resolved.width - 1) * window.stride + window.kernelSize
      let pays =
        isRequired
        || input.width <= 64 && input.width.roundedUp(toMultipleOf: 6) * 16 <= input.width * 17
      self.init(
        before: pays ? resolved.left : 0, after: pays ? max(end - resolved.left - input.width, 0) : 0)
    }
  }

  let sides: Sides
  /// Floats from one pixel to the next.
  let pixelStride: Int
  /// Pixels in a row, the sides included.
  let width: Int
  private let source: RowSource
  /// The first of the rows: in the ring, or of the map.
  private let rows: UnsafeMutablePointer<Float>
  private let channels: Range<Int>
  /// Rows after which they repeat.
  private let rowCount: Int
  /// The rows in the ring.
  private var held = 0..<0

  /// - Parameters:
  ///   - width: Pixels in a row of the source.
  ///   - scratch: `rowCount` rows. Each has `width` pixels and the sides. A pixel is `channels.count` floats.
  init(
    _ source: RowSource, width: Int, channels: Range<Int>, rowCount: Int, sides: Sides,
    scratch: UnsafeMutablePointer<Float>
  ) {
    self.source = source
    switch source {
    case .map(let map):
      rows = map.pointer + channels.lowerBound
      pixelStride = map.pixelStride
      self.rowCount = map.shape.height
    case .expanded:
      rows = scratch
      pixelStride = channels.count
      self.rowCount = rowCount
    }
    self.channels = channels
    self.sides = sides
    self.width = sides.before + width + sides.after
    guard sides != .none else { return }
    for row in 0..<rowCount {
      let start = rows + row * self.width * pixelStride
      start.update(repeating: 0, count: sides.before * pixelStride)
      (start + (self.width - sides.after) * pixelStride).update(
        repeating: 0, count: sides.after * pixelStride)
    }
  }

  /// The first pixel of a row that is held, at the first of the channels.
  func row(_ y: Int) -> UnsafePointer<Float> {
    UnsafePointer(rows + y % rowCount * width * pixelStride)
  }

  /// Expands what is missing of the given rows, and as many after them as fit, since long products run faster.
  ///
  /// - Parameters:
  ///   - end: Rows from here on are never needed.
  ///   - look: Is called with each row that was expanded and its first pixel, at the first of the channels.
  mutating func hold(
    from first: Int, through last: Int, end: Int,
    look: (_ row: Int, _ values: UnsafeMutablePointer<Float>) -> Void
  ) {
    guard last >= held.upperBound, case .expanded(let layout, let vectorWidth, let expand) = source else {
      return
    }
    let panelWidth = 2 * vectorWidth
    let endPanel = min((channels.upperBound + panelWidth - 1) / panelWidth, layout.panelCount)
    let inputWidth = width - sides.before - sides.after
    var next = max(held.upperBound, first)
    held = first..<min(first + rowCount, end)
    precondition(held.contains(last), "row \(last) is not among the rows \(held) that a ring can hold")
    while next < held.upperBound {
      let rows = min(held.upperBound - next, rowCount - next % rowCount)
      // Without zeros in between, all rows are one.
      let runs = sides == .none ? 1 : rows
      expand(
        ExpandedRows(
          first: next * inputWidth, pixelCount: rows * inputWidth / runs, runCount: runs,
          panels: channels.lowerBound / panelWidth..<endPanel,
          output: self.rows + ((next % rowCount * width + sides.before) * pixelStride - channels.lowerBound),
          pixelStride: pixelStride, runStride: width * pixelStride))
      for row in next..<next + rows {
        look(row, self.rows + (row % rowCount * width + sides.before) * pixelStride)
      }
      next += rows
    }
  }
}
