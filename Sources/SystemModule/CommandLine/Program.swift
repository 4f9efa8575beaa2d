import CLibrary

package enum Program {
  /// The command line without the program's own name. Not `CommandLine.arguments`, which puts other characters in the place
  /// of what is not UTF-8.
  package static var words: [[UInt8]] {
    var arguments = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    #if os(Linux)
      // Swift reads them from /proc, which need not be mounted.
      if arguments.isEmpty { unsafe arguments = unsafe argumentsOnTheStack() }
    #endif
    return unsafe arguments.dropFirst()
      .compactMap { unsafe $0 }.map { unsafe [UInt8](UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
  }

  #if os(Linux)
    /// The path by which the system started the program: an entry of the list that the System V ABI puts behind the environment.
    private static var startedName: String? {
      var entry = unsafe processEnvironment
      while unsafe entry.pointee != nil { unsafe entry += 1 }
      var pair = unsafe UnsafeRawPointer(entry + 1)
      let (end, executableName) = (0, 31)
      while case let kind = unsafe pair.load(as: Int.self), kind != end {
        if kind == executableName {
          return unsafe pair.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self).map {
            unsafe String(cString: $0)
          }
        }
        unsafe pair += 16
      }
      return nil
    }

    /// The System V ABI puts these on the stack of a new process, one after the other: the number of arguments, their
    /// addresses, a null, and the environment.
    private static func argumentsOnTheStack() -> UnsafeBufferPointer<UnsafeMutablePointer<CChar>?> {
      let end = unsafe UnsafeMutableRawPointer(processEnvironment) - MemoryLayout<Int>.stride
      for count in 1..<1 << 16 {
        let start = unsafe end - count * MemoryLayout<Int>.stride
        if unsafe (start - MemoryLayout<Int>.stride).load(as: Int.self) == count {
          return unsafe UnsafeBufferPointer(
            start: start.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self), count: count)
        }
      }
      return unsafe UnsafeBufferPointer(start: nil, count: 0)
    }
  #endif

  /// Today where the machine is, as `2026-11-24`.
  @Sendable package static func date() -> String {
    var now = time(nil)
    var day = unsafe tm()
    unsafe localtime_r(&now, &day)
    let digits = { (number: Int32, count: Int) in
      String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
    return unsafe "\(digits(day.tm_year + 1900, 4))-\(digits(day.tm_mon + 1, 2))-\(digits(day.tm_mday, 2))"
  }

  /// The program's file, with symbolic links followed; `nil` when it cannot be known.
  package static func executablePath() -> String? {
    #if os(Linux)
      // Without /proc, the name by which the program was started must do.
      let paths = ["/proc/self/exe"] + (startedName.map { [$0] } ?? [])
    #else
      let paths = [systemExecutablePath ?? CommandLine.arguments[0]]
    #endif
    for path in paths {
      guard let canonical = unsafe realpath(path, nil) else { continue }
      defer { unsafe free(canonical) }
      return unsafe String(cString: canonical)
    }
    return nil
  }

  #if canImport(Darwin)
    private static var systemExecutablePath: String? {
      var size = UInt32(PATH_MAX)
      var path = [CChar](repeating: 0, count: Int(size))
      return _NSGetExecutablePath(&path, &size) == 0 ? String(cString: path) : nil
    }
  #endif

  package static func exit(status: Int32) -> Never { systemExit(status) }
}

/// A shared library of the system that is opened at run time, and stays open.
@safe package struct DynamicLibrary: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer

  /// - Parameter names: the first that the system's loader finds is taken.
  package init?(names: [String]) {
    for name in names {
      if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        unsafe self.handle = unsafe handle
        return
      }
    }
    return nil
  }

  /// - Parameter type: a `@convention(c)` function type, which must be the function's own; or a pointer's.
  package func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
    unsafe dlsym(handle, name).map { unsafe unsafeBitCast($0, to: type) }
  }

  /// ``function(_:as:)`` of the type that the result is taken for.
  package func required<Function>(_ name: String) throws(MissingFunction) -> Function {
    guard let function = function(name, as: Function.self) else { throw MissingFunction() }
    return function
  }

  package struct MissingFunction: Error {}
}
