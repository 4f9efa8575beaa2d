import KernelInterface
import SystemModule

extension PackedMatrix {
  /// The weights, `[depth, columnCount]`, row-major.
  func unpacked() -> [Float] {
    precondition(type == .float32, "a matrix of \(type.rawValue) unpacked as floats")
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

  /// The same values as Float32.
  package var floats: PackedMatrix {
    guard type == .bfloat16 else { return self }
    let width = kernels.vectorWidth
    let halves = UnsafeRawPointer(panels.pointer).assumingMemoryBound(to: UInt16.self)
    let bias = Array(UnsafeBufferPointer(start: bias.pointer, count: columnCount))
    return PackedMatrix(columnCount: columnCount, depth: depth, bias: bias, kernels: kernels) {
      column, start, target in
      let panel = min(column / (2 * width), layout.panelCount - 1)
      let lanes = layout.vectorCount(ofPanel: panel) * width
      let first = panel * 2 * width
      for (place, k) in (start..<start + target.count).enumerated() {
        let word = first * ((depth + 1) / 2) + k / 2 * lanes + column - first
        target[place] = Float(bitPattern: UInt32(halves[2 * word + k % 2]) << 16)
      }
    }
  }

  /// The transpose, packed, without a bias: gradients run through a product the other way.
  package func transposed() -> PackedMatrix {
    // Row-major [columns, depth] of the transpose is [depth, columns] of this.
    PackedMatrix(
      weight: unpacked(), columnCount: depth, depth: columnCount, bias: nil, kernels: kernels)
  }
}
