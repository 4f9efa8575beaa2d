import KernelInterface
import SystemModule

extension PackedMatrix {
  /// The weights, `[depth, columnCount]`, row-major.
  func unpacked() -> [Float] {
    let width = kernels.vectorWidth
    return [Float](unsafeUninitializedCapacity: depth * columnCount) { target, count in
      for panel in 0..<layout.panelCount {
        let firstColumn = panel * 2 * width
        let lanes = layout.vectorCount(ofPanel: panel) * width
        let source = panels.pointer + firstColumn * depth
        let used = min(lanes, columnCount - firstColumn)
        for k in 0..<depth {
          (target.baseAddress! + (k * columnCount + firstColumn)).update(
            from: source + k * lanes, count: used)
        }
      }
      count = depth * columnCount
    }
  }

  /// The transpose, packed, without a bias: gradients run through a product the other way.
  package func transposed() -> PackedMatrix {
    // Row-major [columns, depth] of the transpose is [depth, columns] of this.
    PackedMatrix(
      weight: unpacked(), columnCount: depth, depth: columnCount, bias: nil, kernels: kernels)
  }
}
