#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory that comes from the system as whole pages, all zero.
package enum FreshPages {
  /// Linux is asked for all pages at once: one by one, as they are first written, they cost half as much again.
  ///
  /// - Returns: nil where the system has no pages to give.
  package static func map(byteCount: Int) -> UnsafeMutableRawPointer? {
    #if os(Linux)
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE
    #elseif canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON
    #endif
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      guard let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0) else { return nil }
      return address == MAP_FAILED ? nil : address
    #else
      return nil
    #endif
  }

  package static func unmap(_ address: UnsafeMutableRawPointer, byteCount: Int) {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      munmap(address, byteCount)
    #endif
  }
}
