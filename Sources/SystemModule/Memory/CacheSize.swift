#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How much a core holds close by.
package enum CacheSize {
  /// Bytes of the second-level cache, as the system tells; half a megabyte where it does not.
  package static let secondLevel: Int = {
    let told = toldBySystem
    return told > 0 ? told : 1 << 19
  }()

  private static var toldBySystem: Int {
    #if canImport(Glibc)
      return sysconf(Int32(_SC_LEVEL2_CACHE_SIZE))
    #elseif canImport(Darwin)
      var size = 0
      var length = MemoryLayout<Int>.size
      return sysctlbyname("hw.perflevel0.l2cachesize", &size, &length, nil, 0) == 0 ? size : 0
    #else
      return 0
    #endif
  }
}
