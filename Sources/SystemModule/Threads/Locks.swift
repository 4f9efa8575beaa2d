// Values that threads share without a lock. Only this module imports Synchronization.
@_exported import struct Synchronization.Atomic

#if hasFeature(Embedded)
  /// A value that threads share. Here there is one thread only.
  ///
  /// `@unchecked Sendable`: nothing runs beside the only thread.
  package final class Locked<Value>: @unchecked Sendable {
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    package func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try body(&value)
    }
  }
#elseif THREAD_SANITIZER
  /// A value that threads share. ThreadSanitizer sees that threads wait for a semaphore; the mutex of Synchronization locks
  /// in a library that is not built for it, so that all which two threads do under one lock would be a race to it.
  ///
  /// `@unchecked Sendable`: only who has the turn touches the value.
  package final class Locked<Value>: @unchecked Sendable {
    // Beside a byte: a value without a size has the address of this object, which all threads read.
    private var shared: (value: Value, UInt8)
    private let turn = Semaphore()

    package init(_ value: sending Value) {
      shared = (value, 0)
      turn.signal()
    }

    package func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      turn.wait()
      defer { turn.signal() }
      return try body(&shared.value)
    }
  }
#else
  import Synchronization

  /// A value that threads share.
  package final class Locked<Value>: Sendable {
    private let mutex: Mutex<Value>

    package init(_ value: sending Value) { mutex = Mutex(value) }

    package func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }
  }
#endif

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

/// A value that is computed when it is first asked for, and then known.
package enum Once<Value: Sendable>: Sendable {
  /// Its closure keeps in memory whatever it computes from.
  case pending(@Sendable () -> Value)
  case known(Value)

  package mutating func value() -> Value {
    switch self {
    case .known(let value): return value
    case .pending(let compute):
      let value = compute()
      self = .known(value)
      return value
    }
  }
}
