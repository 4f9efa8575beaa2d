/// Float32 storage on a 64-byte boundary, zero at first: a cache line, and the widest vector.
///
/// `@unchecked Sendable`: whoever owns the buffer writes it before sharing it (weights) or is the only one to hold it
/// while it is written (a workspace).
package final class AlignedBuffer: @unchecked Sendable {
  /// The first element.
  package let pointer: UnsafeMutablePointer<Float>
  /// Elements.
  package let count: Int

  /// Allocates `count` zeros.
  package init(count: Int) {
    precondition(count >= 0, "a buffer cannot hold \(count) elements")
    let raw = UnsafeMutableRawPointer.allocate(byteCount: max(count, 16) * 4, alignment: 64)
    pointer = raw.initializeMemory(as: Float.self, repeating: 0, count: max(count, 16))
    self.count = count
  }

  deinit {
    pointer.deallocate()
  }
}

extension Int {
  /// The smallest multiple of `step` that is not below this.
  package func roundedUp(toMultipleOf step: Int) -> Int { (self + step - 1) / step * step }
}
