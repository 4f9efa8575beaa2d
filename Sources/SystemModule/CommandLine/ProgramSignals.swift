import CLibrary

/// The program's last acts when a signal ends it: files that are half written are removed. A fault of our own is told in one
/// line, and so is the end of the processor time that a batch system allows. The process then ends by the same signal, so that
/// its parent sees which.
package enum ProgramSignals {
  fileprivate typealias Path = Atomic<UnsafeMutablePointer<CChar>?>
  /// Paths to remove, or null; looked at by the handler, which may not wait for a lock.
  nonisolated(unsafe) fileprivate static let paths: UnsafeMutablePointer<Path> = {
    let paths = UnsafeMutablePointer<Path>.allocate(capacity: capacity)
    for slot in 0..<capacity { unsafe (paths + slot).initialize(to: Path(nil)) }
    return unsafe paths
  }()
  fileprivate static let capacity = 64
  /// Handlers that may be reading a path, which must not be freed meanwhile.
  fileprivate static let readers = Atomic<Int>(0)
  /// The number of times that signals are held back, and the signal that came meanwhile.
  fileprivate static let held = Atomic<Int>(0)
  fileprivate static let waiting = Atomic<Int32>(0)
  nonisolated(unsafe) fileprivate static let message = unsafe bytes(
    "Error: dermafusion crashed: internal error or out of memory; please report the command\n")
  nonisolated(unsafe) fileprivate static let timeMessage = unsafe bytes(
    "Error: the limit of processor time is reached (ulimit -t, or that of the batch system)\n")

  private static func bytes(_ text: String) -> UnsafeMutableBufferPointer<UInt8> {
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = unsafe bytes.initialize(from: text.utf8)
    return unsafe bytes
  }

  /// The text that an interrupt writes, or null.
  nonisolated(unsafe) fileprivate static let interruption:
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = {
      let interruption = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 1)
      unsafe interruption.initialize(to: nil)
      return unsafe interruption
    }()
  private static let lock = Locked(())

  /// Takes the signals over. A signal that the parent process ignores stays ignored.
  package static func install() {
    // The handlers must not be the first to ask for these.
    _ = unsafe (paths, message.count, timeMessage.count, interruption)
    _ = (readers.load(ordering: .relaxed), held.load(ordering: .relaxed), waiting.load(ordering: .relaxed))
    // One by one: a list would take memory, and want of that is to be told too.
    handle(SIGINT, removeAndEnd)
    handle(SIGTERM, removeAndEnd)
    handle(SIGHUP, removeAndEnd)
    // All others that end a process and are no fault of ours.
    handle(SIGQUIT, removeAndEnd)
    handle(SIGALRM, removeAndEnd)
    handle(SIGVTALRM, removeAndEnd)
    handle(SIGPROF, removeAndEnd)
    handle(SIGUSR1, removeAndEnd)
    handle(SIGUSR2, removeAndEnd)
    handle(SIGXCPU, sayTimeAndEnd)
    #if os(Linux)
      handle(SIGPOLL, removeAndEnd)
      handle(SIGPWR, removeAndEnd)
      handle(SIGSTKFLT, removeAndEnd)
    #endif
    // This variable asks for Swift's own report.
    if unsafe getenv("SWIFT_BACKTRACE") != nil { return }
    giveFaultsAStack()
    handle(SIGABRT, sayAndEnd)
    handle(SIGBUS, sayAndEnd)
    handle(SIGSEGV, sayAndEnd)
    handle(SIGILL, sayAndEnd)
    handle(SIGTRAP, sayAndEnd)
    handle(SIGFPE, sayAndEnd)
  }

  /// The text for a person who interrupts the program; nil: none.
  @Sendable package static func setInterruptionMessage(_ message: String?) {
    // On a line of its own: the terminal shows ^C behind the progress.
    let text = unsafe message.flatMap { unsafe strdup("\n\($0)\n") }
    // The old one is not freed: the handler may be writing it.
    lock.withLock { _ in unsafe interruption[0] = unsafe text }
  }

  /// A path that a signal removes; nothing needs to be there.
  ///
  /// - Returns: what to give to ``keep(_:)``; -1 where there is no room for more.
  static func removeAtEnd(_ path: PathBytes) -> Int {
    lock.withLock { _ in
      guard let slot = (0..<capacity).first(where: { unsafe paths[$0].load(ordering: .relaxed) == nil })
      else { return -1 }
      unsafe paths[slot].store(path.withCString { unsafe strdup($0) }, ordering: .sequentiallyConsistent)
      return slot
    }
  }

  static func keep(_ slot: Int) {
    if slot < 0 { return }
    lock.withLock { _ in
      let path = unsafe paths[slot].exchange(nil, ordering: .sequentiallyConsistent)
      // A handler on another thread counts itself before it reads: it has not got this path, or is counted.
      if readers.load(ordering: .sequentiallyConsistent) == 0 { unsafe free(path) }
    }
  }

  /// Lets a signal wait until ``release()``.
  static func holdBack() { held.add(1, ordering: .sequentiallyConsistent) }

  static func release() {
    guard held.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 else { return }
    let number = waiting.exchange(0, ordering: .sequentiallyConsistent)
    if number != 0 { raise(number) }
  }

  /// True if a signal has to wait, which is then remembered.
  fileprivate static func isHeldBack(_ number: Int32) -> Bool {
    if held.load(ordering: .sequentiallyConsistent) == 0 { return false }
    waiting.store(number, ordering: .sequentiallyConsistent)
    // Another thread may have released the signals in between, without seeing this one.
    if held.load(ordering: .sequentiallyConsistent) != 0 { return true }
    return waiting.exchange(0, ordering: .sequentiallyConsistent) == 0
  }

  /// Takes one over, unless it is ignored.
  private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var old = sigaction()
    guard unsafe sigaction(number, nil, &old) == 0 else { return }
    #if canImport(Darwin)
      if old.__sigaction_u.__sa_handler == SIG_IGN { return }
    #else
      if unsafe unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
      {
        return
      }
    #endif
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      unsafe action.__sigaction_handler.sa_handler = handler
    #endif
    action.sa_flags = Int32(SA_ONSTACK)
    unsafe sigaction(number, &action, nil)
  }

  private static let faultStackSize = 1 << 16
  /// Kept for as long as the process lives; only the system knows the address besides.
  nonisolated(unsafe) private static let faultStack = unsafe malloc(faultStackSize)

  /// A handler needs another stack if the first has overflowed.
  private static func giveFaultsAStack() {
    var stack = unsafe stack_t()
    unsafe stack.ss_sp = unsafe faultStack
    #if canImport(Darwin)
      stack.ss_size = UInt(faultStackSize)
    #else
      unsafe stack.ss_size = faultStackSize
    #endif
    if unsafe stack.ss_sp != nil { unsafe sigaltstack(&stack, nil) }
  }
}

// The handlers call nothing but what a handler may: write, unlink, rmdir, signal and raise, and atomics without a lock.

private func removeHalfWritten() {
  ProgramSignals.readers.add(1, ordering: .sequentiallyConsistent)
  // Three times: a folder can be removed when what lies in it is, and the slots are in no order. Models have a folder in theirs.
  for _ in 0..<3 {
    for slot in 0..<ProgramSignals.capacity {
      let path = unsafe ProgramSignals.paths[slot].load(ordering: .sequentiallyConsistent)
      if let path = unsafe path, unsafe unlink(path) != 0 { unsafe rmdir(path) }
    }
  }
}

private func removeAndEnd(_ number: Int32) {
  if ProgramSignals.isHeldBack(number) { return }
  end(number)
}

private func end(_ number: Int32) {
  removeHalfWritten()
  if number == SIGINT, let text = unsafe ProgramSignals.interruption[0] {
    _ = unsafe systemWrite(STDERR_FILENO, text, strlen(text))
  }
  signal(number, SIG_DFL)
  raise(number)
}

private func sayTimeAndEnd(_ number: Int32) {
  // It comes again every second, until the hard limit kills.
  if ProgramSignals.isHeldBack(number) { return }
  unsafe say(ProgramSignals.timeMessage)
  end(number)
}

private func sayAndEnd(_ number: Int32) {
  removeHalfWritten()
  unsafe say(ProgramSignals.message)
  signal(number, SIG_DFL)
  raise(number)
}

private func say(_ text: UnsafeMutableBufferPointer<UInt8>) {
  _ = unsafe systemWrite(STDERR_FILENO, text.baseAddress!, text.count)
}
