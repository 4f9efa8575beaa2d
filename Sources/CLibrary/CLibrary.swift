// The C library of the system, under one name. Only SystemModule imports this module. On a machine without an operating
// system it is empty.
#if canImport(Glibc)
  // For `environ`, which C does not say who may change.
  @_exported @preconcurrency import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

#if canImport(Glibc) || canImport(Musl)
  /// The process's environment, which ends with a null.
  package var processEnvironment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { environ }
#elseif canImport(Darwin)
  package var processEnvironment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    _NSGetEnviron().pointee!
  }
#endif
