/// Float32 storage on a 64-byte boundary, zero at first: a cache line, and the widest vector.
///
/// `@unchecked Sendable`: its owner writes it before sharing it (weights), or is the only one to hold it while it is
/// written (a workspace).
package final class AlignedBuffer: @unchecked Sendable {
  /// Buffers from this size on are pages fresh from the system, which are zero already.
  private static let mappedByteCount = 1 << 18

  /// The first element.
  package let pointer: UnsafeMutablePointer<Float>
  /// Elements.
  package let count: Int
  private let mapping: UnsafeMutableRawPointer?

  /// Allocates `count` zeros.
  package init(count: Int) {
    precondition(count >= 0, "a buffer cannot hold \(count) elements")
    self.count = count
    let stored = max(count, 16)
    if stored * 4 >= Self.mappedByteCount, let mapping = FreshPages.map(byteCount: stored * 4) {
      self.mapping = mapping
      pointer = mapping.bindMemory(to: Float.self, capacity: stored)
    } else {
      mapping = nil
      let raw = UnsafeMutableRawPointer.allocate(byteCount: stored * 4, alignment: 64)
      pointer = raw.initializeMemory(as: Float.self, repeating: 0, count: stored)
    }
  }

  deinit {
    if let mapping {
      FreshPages.unmap(mapping, byteCount: max(count, 16) * 4)
    } else {
      pointer.deallocate()
    }
  }
}

extension Int {
  /// The smallest multiple of `step` that is not below this.
  package func roundedUp(toMultipleOf step: Int) -> Int { (self + step - 1) / step * step }
}
