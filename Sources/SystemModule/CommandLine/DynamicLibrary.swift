#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A shared library of the system that is opened at run time, and stays open.
package struct DynamicLibrary: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer

  /// - Parameter names: the first that the system's loader finds is taken.
  package init?(names: [String]) {
    for name in names {
      if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        self.handle = handle
        return
      }
    }
    return nil
  }

  package func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(handle, name) }

  /// - Parameter type: a `@convention(c)` function type, which must be the function's own.
  package func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    symbol(name).map { unsafeBitCast($0, to: type) }
  }
}
