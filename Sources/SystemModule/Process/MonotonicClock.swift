#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Time that passes evenly, from an unknown start.
package enum MonotonicClock {
  /// Milliseconds since the start; always 0 on a machine without a clock.
  package static var milliseconds: Double {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    #else
      return 0
    #endif
  }
}
