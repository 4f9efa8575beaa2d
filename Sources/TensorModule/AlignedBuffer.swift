#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Float32 storage on a 64-byte boundary, zero at first: a cache line, and the widest vector.
///
/// `@unchecked Sendable`: whoever owns the buffer writes it before sharing it (weights) or is the only one to hold it
/// while it is written (a workspace).
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
    if stored * 4 >= Self.mappedByteCount, let mapping = Self.map(byteCount: stored * 4) {
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
      munmap(mapping, max(count, 16) * 4)
    } else {
      pointer.deallocate()
    }
  }

  /// Linux is asked for all pages at once: one by one, as they are first written, they cost half as much again.
  private static func map(byteCount: Int) -> UnsafeMutableRawPointer? {
    #if os(Linux)
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE
    #else
      let flags = MAP_PRIVATE | MAP_ANON
    #endif
    guard let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0) else { return nil }
    return address == MAP_FAILED ? nil : address
  }
}

extension Int {
  /// The smallest multiple of `step` that is not below this.
  package func roundedUp(toMultipleOf step: Int) -> Int { (self + step - 1) / step * step }
}
