import CLibrary

/// The variables that a process is started with.
package enum Environment {
  /// The value of a variable, or nil when it is not set. A path in another encoding must not become that of another file:
  /// bytes that are not UTF-8 stand as `\xE9`.
  @Sendable package static func value(_ name: String) -> String? {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      unsafe getenv(name).map {
        unsafe String(validatingCString: $0)
          ?? String(escapingInvalid: Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))))
      }
    #else
      nil
    #endif
  }
}

extension String {
  /// The text of bytes that should be UTF-8, with those that are not as `\xE9`.
  package init(escapingInvalid bytes: [UInt8]) {
    self = ""
    var rest = bytes[...]
    while let first = rest.first {
      // A scalar has up to four bytes; the fewest that are valid are one scalar.
      let lengths = (1...4).prefix { $0 <= rest.count }
      if let length = lengths.first(where: { String(validating: rest.prefix($0), as: UTF8.self) != nil }) {
        self += String(decoding: rest.prefix(length), as: UTF8.self)
        rest = rest.dropFirst(length)
      } else {
        self += "\\x" + String(first, radix: 16, uppercase: true)
        rest = rest.dropFirst()
      }
    }
  }
}

/// Time that passes evenly, from an unknown start.
package enum MonotonicClock {
  /// Milliseconds since the start; always 0 on a machine without a clock.
  package static var milliseconds: Double {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    #else
      return 0
    #endif
  }
}
