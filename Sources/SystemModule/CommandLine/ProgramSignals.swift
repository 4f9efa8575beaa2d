import CLibrary

/// What the program does when a signal ends it: files that are half written are removed. A fault of our own is told in one line,
/// and so is the end of the processor time that a batch system allows. The process then ends by the same signal, so that its
/// parent sees which.
package enum ProgramSignals {
  /// Paths to remove, or null; looked at by the handler, which may not wait for a lock.
  nonisolated(unsafe) fileprivate static let paths: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = {
    let paths = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: capacity)
    paths.initialize(repeating: nil, count: capacity)
    return paths
  }()
  fileprivate static let capacity = 64
  /// Not zero while files are put in place, and the signal that came meanwhile.
  nonisolated(unsafe) fileprivate static let held: UnsafeMutablePointer<sig_atomic_t> = {
    let held = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 2)
    held.initialize(repeating: 0, count: 2)
    return held
  }()
  nonisolated(unsafe) fileprivate static let message = bytes(
    "Error: dermafusion crashed: internal error or out of memory; please report the command\n")
  nonisolated(unsafe) fileprivate static let timeMessage = bytes(
    "Error: the limit of processor time is reached (ulimit -t, or that of the batch system)\n")

  private static func bytes(_ text: String) -> UnsafeMutableBufferPointer<UInt8> {
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = bytes.initialize(from: text.utf8)
    return bytes
  }

  /// What an interrupt writes, or null.
  nonisolated(unsafe) fileprivate static let interruption:
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = {
      let interruption = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 1)
      interruption.initialize(to: nil)
      return interruption
    }()
  private static let lock = Locked(())

  /// Takes the signals over. A signal that the parent process ignores stays ignored.
  package static func install() {
    // The handlers must not be the first to ask for these.
    _ = (paths, held, message.count, timeMessage.count, interruption)
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
    if getenv("SWIFT_BACKTRACE") != nil { return }
    giveFaultsAStack()
    handle(SIGABRT, sayAndEnd)
    handle(SIGBUS, sayAndEnd)
    handle(SIGSEGV, sayAndEnd)
    handle(SIGILL, sayAndEnd)
    handle(SIGTRAP, sayAndEnd)
    handle(SIGFPE, sayAndEnd)
  }

  /// What a person who interrupts the program is told; nil: nothing.
  @Sendable package static func setInterruptionMessage(_ message: String?) {
    // On a line of its own: the terminal shows ^C behind the progress.
    let text = message.flatMap { strdup("\n\($0)\n") }
    // The old one is not freed: the handler may be writing it.
    lock.withLock { _ in interruption[0] = text }
  }

  /// A path that a signal removes; nothing needs to be there.
  ///
  /// - Returns: what to give to ``keep(_:)``; -1 where there is no room for more.
  static func removeAtEnd(_ path: PathBytes) -> Int {
    lock.withLock { _ in
      guard let slot = (0..<capacity).first(where: { paths[$0] == nil }) else { return -1 }
      paths[slot] = path.withCString { strdup($0) }
      return slot
    }
  }

  static func keep(_ slot: Int) {
    if slot < 0 { return }
    lock.withLock { _ in
      let path = paths[slot]
      paths[slot] = nil
      free(path)
    }
  }

  /// Lets a signal wait until ``release()``.
  static func holdBack() { lock.withLock { _ in held[0] += 1 } }

  static func release() {
    let number: Int32 = lock.withLock { _ in
      held[0] -= 1
      guard held[0] == 0 else { return 0 }
      defer { held[1] = 0 }
      return held[1]
    }
    if number != 0 { raise(number) }
  }

  /// Takes one over, unless it is ignored.
  private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var old = sigaction()
    guard sigaction(number, nil, &old) == 0 else { return }
    #if canImport(Darwin)
      if old.__sigaction_u.__sa_handler == SIG_IGN { return }
    #else
      if unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
      {
        return
      }
    #endif
    var action = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    action.sa_flags = Int32(SA_ONSTACK)
    sigaction(number, &action, nil)
  }

  private static let faultStackSize = 1 << 16
  /// Kept for as long as the process lives; only the system knows the address besides.
  nonisolated(unsafe) private static let faultStack = malloc(faultStackSize)

  /// Where the stack has overflowed, a handler needs another one.
  private static func giveFaultsAStack() {
    var stack = stack_t()
    stack.ss_sp = faultStack
    #if canImport(Darwin)
      stack.ss_size = UInt(faultStackSize)
    #else
      stack.ss_size = faultStackSize
    #endif
    if stack.ss_sp != nil { sigaltstack(&stack, nil) }
  }
}

// The handlers call nothing but what a handler may: write, unlink, rmdir, signal and raise.

private func removeHalfWritten() {
  // Three times: a folder can be removed when what lies in it is, and the slots are in no order. Models have a folder in theirs.
  for _ in 0..<3 {
    for slot in 0..<ProgramSignals.capacity {
      if let path = ProgramSignals.paths[slot], unlink(path) != 0 { rmdir(path) }
    }
  }
}

private func removeAndEnd(_ number: Int32) {
  if ProgramSignals.held[0] != 0 {
    ProgramSignals.held[1] = number
    return
  }
  removeHalfWritten()
  if number == SIGINT, let text = ProgramSignals.interruption[0] {
    _ = systemWrite(STDERR_FILENO, text, strlen(text))
  }
  signal(number, SIG_DFL)
  raise(number)
}

private func sayTimeAndEnd(_ number: Int32) {
  // It comes again every second, until the hard limit kills.
  if ProgramSignals.held[0] == 0 { say(ProgramSignals.timeMessage) }
  removeAndEnd(number)
}

private func sayAndEnd(_ number: Int32) {
  removeHalfWritten()
  say(ProgramSignals.message)
  signal(number, SIG_DFL)
  raise(number)
}

private func say(_ text: UnsafeMutableBufferPointer<UInt8>) {
  _ = systemWrite(STDERR_FILENO, text.baseAddress!, text.count)
}
