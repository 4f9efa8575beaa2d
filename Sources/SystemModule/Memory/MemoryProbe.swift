#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether memory can be had. Swift ends the process where an array cannot get its memory; a caller that asks first can
/// refuse the one input that needs it.
package enum MemoryProbe {
  /// Whether the system gives so many bytes in one piece at this moment. It may give them and have none left when they are
  /// written to; a limit on the address space is kept.
  package static func canAllocate(byteCount: Int) -> Bool {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      // Not malloc: an optimising compiler leaves out an allocation that nobody uses, and says that there was memory.
      #if os(Linux)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
      #else
        let flags = MAP_PRIVATE | MAP_ANON
      #endif
      let address = mmap(nil, max(byteCount, 1), PROT_READ | PROT_WRITE, flags, -1, 0)
      guard let address, address != MAP_FAILED else { return false }
      munmap(address, max(byteCount, 1))
      return true
    #else
      return true
    #endif
  }
}
