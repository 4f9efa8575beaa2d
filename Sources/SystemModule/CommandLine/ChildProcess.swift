import CLibrary

/// Another run of a program: it is given bytes, gives bytes back, and is killed when its time is over.
///
/// Its users must ignore SIGPIPE, as ``StandardStreams/prepare()`` does: a child that has died cannot be written to.
package final class ChildProcess {
  package enum End: Equatable, Sendable {
    case exited(status: Int32)
    case killed(signal: Int32)
    /// It was killed because its time was over.
    case late
  }

  /// One at a time: between a pipe and its closing in other programs, another child could inherit it and keep it open.
  private static let starting = Locked(())

  private let process: pid_t
  private let input: Int32
  private let output: Int32
  private let deadline: Double
  private var isInputOpen = true
  private var ended = false

  package init(executable: String, arguments: [String], seconds: Double) throws(DermaFusionError) {
    (process, input, output) = try Self.starting.withLock { _ throws(DermaFusionError) in
      try Self.start(executable, arguments)
    }
    deadline = MonotonicClock.milliseconds / 1000 + seconds
    for descriptor in [input, output] {
      let flags = fcntl(descriptor, F_GETFL)
      if flags != -1 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    }
  }

  deinit {
    if !ended {
      kill(process, SIGKILL)
      _ = wait(options: 0)
    }
    Self.close(isInputOpen ? [input, output] : [output])
  }

  /// Writes to the child's standard input and closes it. A child that does not take everything says why by its end.
  package func write(_ bytes: UnsafeRawBufferPointer) {
    var rest = unsafe bytes
    while unsafe !rest.isEmpty, waits(for: input, POLLOUT) {
      let count = unsafe systemWrite(input, rest.baseAddress!, rest.count)
      if count > 0 {
        unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EAGAIN, errno != EINTR {
        break
      }
    }
    Self.close([input])
    isInputOpen = false
  }

  /// Reads from the child's standard output until the buffer is full; false where the output or the time ended before.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var rest = unsafe buffer
    while unsafe !rest.isEmpty {
      guard waits(for: output, POLLIN) else { return false }
      let count = unsafe systemRead(output, rest.baseAddress!, rest.count)
      if count == 0 { return false }
      if count > 0 {
        unsafe rest = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[count...])
      } else if errno != EAGAIN, errno != EINTR {
        return false
      }
    }
    return true
  }

  /// Waits until the child has ended, or ends it when its time is over.
  package func end() -> End {
    var status: Int32?
    while status == nil, MonotonicClock.milliseconds / 1000 < deadline {
      status = wait(options: WNOHANG)
      if status == nil { usleep(500) }
    }
    ended = true
    guard let status else {
      kill(process, SIGKILL)
      _ = wait(options: 0)
      return .late
    }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status: status >> 8 & 0xFF) : .killed(signal: signal)
  }

  /// - Returns: nil where it still runs.
  private func wait(options: Int32) -> Int32? {
    var status: Int32 = 0
    while true {
      let found = unsafe waitpid(process, &status, options)
      if found == process { return status }
      // A program that ignores SIGCHLD is not told how its children ended.
      if found == -1, errno != EINTR { return 0 }
      if found == 0 { return nil }
    }
  }

  private func waits(for descriptor: Int32, _ event: Int32) -> Bool {
    let left = deadline - MonotonicClock.milliseconds / 1000
    guard left > 0 else { return false }
    return systemWait(descriptor, event, milliseconds: Int32(min(left * 1000 + 1, 1e9)))
  }

  private static func close(_ descriptors: [Int32]) {
    for descriptor in descriptors { systemClose(descriptor) }
  }

  private static func start(
    _ executable: String, _ arguments: [String]
  ) throws(DermaFusionError) -> (process: pid_t, input: Int32, output: Int32) {
    let toChild = try Self.pipe(executable)
    let fromChild: (reading: Int32, writing: Int32)
    do throws(DermaFusionError) {
      fromChild = try Self.pipe(executable)
    } catch {
      Self.close([toChild.reading, toChild.writing])
      throw error
    }
    var process: pid_t = 0
    let failure = Self.spawn(
      &process, executable, arguments, input: toChild.reading, output: fromChild.writing)
    Self.close([toChild.reading, fromChild.writing])
    guard failure == 0 else {
      Self.close([toChild.writing, fromChild.reading])
      throw unsafe .unreadable(executable, reason: String(cString: strerror(failure)))
    }
    return (process, toChild.writing, fromChild.reading)
  }

  /// Neither end outlives an `exec`.
  private static func pipe(_ name: String) throws(DermaFusionError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard systemPipe(&ends) == 0 else { throw .unreadable(name, reason: FileBytes.reason) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// - Returns: 0, or the number of the error.
  private static func spawn(
    _ process: inout pid_t, _ executable: String, _ arguments: [String], input: Int32, output: Int32
  ) -> Int32 {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    #if canImport(Darwin)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
    #endif
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // The libraries' own words are of no use to the person.
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([executable] + arguments).map { unsafe strdup($0) }
    defer { for place in unsafe words.indices { unsafe free(words[place]) } }
    unsafe words.append(nil)
    return unsafe posix_spawn(&process, executable, &actions, &attributes, words, processEnvironment)
  }
}

/// The limits of a process that decodes foreign bytes. A limit that cannot be set is left out.
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
    set(RLIMIT_CORE, 0)
    // Several threads may use several processors.
    set(RLIMIT_CPU, UInt64(min(seconds * Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) + 1, 1e6)))
    #if os(Linux)
      if let size = addressSpace { set(RLIMIT_AS, UInt64(size + memory + overhead)) }
    #endif
  }

  #if canImport(Glibc)
    private typealias Resource = __rlimit_resource
  #else
    private typealias Resource = Int32
  #endif

  private static func set(_ resource: Resource, _ value: UInt64) {
    #if canImport(Glibc)
      let number = __rlimit_resource_t(resource.rawValue)
    #else
      let number = resource
    #endif
    var limit = rlimit()
    guard unsafe getrlimit(number, &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, rlim_t(value))
    _ = unsafe setrlimit(number, &limit)
  }

  #if os(Linux)
    /// Bytes of addresses that the process has now; nil where `/proc` is not mounted.
    private static var addressSpace: Int? {
      guard let bytes = unsafe try? FileBytes.read(path: "/proc/self/statm", limit: 4096) else { return nil }
      let pages = bytes.prefix { $0 != UInt8(ascii: " ") }
      return Int(String(decoding: pages, as: UTF8.self)).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }
  #endif
}
