#if hasFeature(Embedded)
  /// A count that a thread waits for to be above zero. Here there is one thread only, for which nobody else would signal.
  package final class Semaphore: @unchecked Sendable {
    private var count = 0

    package init() {}

    package func signal() { count += 1 }

    package func wait() {
      precondition(count > 0, "the only thread waits for a signal of another one")
      count -= 1
    }
  }
#else
  import Dispatch

  /// A count, at first zero, that a thread waits for to be above zero.
  package final class Semaphore: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package func signal() { semaphore.signal() }

    /// Waits until the count is above zero, and takes one from it.
    package func wait() { semaphore.wait() }
  }
#endif
