#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a process that decodes foreign bytes may take. A limit that cannot be set is left out.
package enum ChildLimits {
  /// Ends the process whose processor time is over.
  package static let timeSignal = SIGXCPU

  /// Beside the memory that is allowed: the threads and tables of the libraries.
  private static let overhead = 256 << 20

  /// - Parameters:
  ///   - memory: bytes beside those that the process has now.
  ///   - seconds: of the processor, on all threads; the time on the clock is for the parent to watch.
  package static func apply(memory: Int, seconds: Double) {
    // No file of the memory of a library that crashes.
    set(.core, 0)
    // Several threads may use several processors.
    set(.time, UInt64(min(seconds * Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) + 1, 1e6)))
    #if os(Linux)
      if let size = addressSpace { set(.memory, UInt64(size + memory + overhead)) }
    #endif
  }

  private enum Resource { case core, time, memory }

  private static func set(_ resource: Resource, _ value: UInt64) {
    var limit = rlimit()
    #if canImport(Glibc)
      let number =
        switch resource {
        case .core: __rlimit_resource_t(RLIMIT_CORE.rawValue)
        case .time: __rlimit_resource_t(RLIMIT_CPU.rawValue)
        case .memory: __rlimit_resource_t(RLIMIT_AS.rawValue)
        }
    #else
      let number =
        switch resource {
        case .core: RLIMIT_CORE
        case .time: RLIMIT_CPU
        case .memory: RLIMIT_AS
        }
    #endif
    guard getrlimit(number, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, rlim_t(value))
    _ = setrlimit(number, &limit)
  }

  #if os(Linux)
    /// Bytes of addresses that the process has now; nil where `/proc` is not mounted.
    private static var addressSpace: Int? {
      guard let bytes = try? FileBytes.read(path: "/proc/self/statm", limit: 4096) else { return nil }
      let pages = bytes.prefix { $0 != UInt8(ascii: " ") }
      return Int(String(decoding: pages, as: UTF8.self)).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }
  #endif
}
