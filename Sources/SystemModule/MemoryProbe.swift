#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether memory can be had. Swift ends the process where an array cannot get its memory; who asks before can refuse the
/// one input that needs it.
package enum MemoryProbe {
  /// Whether the system gives so many bytes in one piece at this moment. It may give them and have none left when they are
  /// written to; a limit on the address space is kept.
  package static func canAllocate(byteCount: Int) -> Bool {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      guard let memory = malloc(max(byteCount, 1)) else { return false }
      // The compiler may leave out an allocation that nobody uses.
      withExtendedLifetime(memory) { memory.storeBytes(of: 0, as: UInt8.self) }
      free(memory)
      return true
    #else
      return true
    #endif
  }
}
