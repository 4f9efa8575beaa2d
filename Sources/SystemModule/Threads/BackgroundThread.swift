#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of the system. Dispatch would lend one too, but where the system allows no more of them it waits for ever.
package enum BackgroundThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a thread of its own, which ends with it.
  ///
  /// - Returns: false where the system allows no more threads; `body` is not run then.
  @discardableResult
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      let work = Unmanaged.passRetained(Work(body))
      #if canImport(Glibc)
        var thread = pthread_t()
      #else
        var thread: pthread_t?
      #endif
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
      #if canImport(Darwin)
        pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_USER_INITIATED, 0)
      #endif
      let status = pthread_create(
        &thread, &attributes,
        { argument in
          let argument: UnsafeMutableRawPointer? = argument
          Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
          return nil
        }, work.toOpaque())
      if status != 0 { work.release() }
      return status == 0
    #else
      return false
    #endif
  }

  /// Lets another thread have this processor.
  static func yield() {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      _ = sched_yield()
    #endif
  }
}
