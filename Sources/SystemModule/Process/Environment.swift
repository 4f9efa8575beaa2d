#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The variables that a process is started with.
package enum Environment {
  /// The value of a variable, or nil when it is not set.
  package static func value(_ name: String) -> String? {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      getenv(name).map { String(cString: $0) }
    #else
      nil
    #endif
  }
}
