import CBuiltins

/// The panel after the one in use, asked for piece by piece while that one is computed with.
///
/// The weights of a late block do not fit in the second-level cache beside the pixels, and the first tile of each panel
/// would wait for it.
struct NextPanel {
  private var address: UnsafePointer<Float>
  private let end: UnsafePointer<Float>
  private var step: Int

  /// - Parameter requestCount: How often ``ask()`` is called while the panel in use is computed with.
  @inline(__always)
  init(_ start: UnsafeRawPointer, count: Int, requestCount: Int) {
    address = start.assumingMemoryBound(to: Float.self)
    end = address + count
    step = max(count / max(requestCount, 1), 1)
  }

  /// To be called before each tile: no more is asked for than the panel.
  @inline(__always)
  mutating func startTile() {
    if address >= end { step = 0 }
  }

  /// Asks for the next piece.
  @inline(__always)
  mutating func ask() {
    prefetch(address)
    address += step
  }
}
