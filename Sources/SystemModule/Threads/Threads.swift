import CLibrary

/// A thread of the system. Dispatch has threads too. But if the system allows no more of them, Dispatch waits without an end.
package enum BackgroundThread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a thread of its own, which ends with it; false, and not at all, where the system allows no more.
  @discardableResult
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      let work = unsafe Unmanaged.passRetained(Work(body))
      #if canImport(Glibc)
        var thread = pthread_t()
      #else
        var thread: pthread_t?
      #endif
      var attributes = pthread_attr_t()
      unsafe pthread_attr_init(&attributes)
      defer { unsafe pthread_attr_destroy(&attributes) }
      unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
      #if canImport(Darwin)
        pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_USER_INITIATED, 0)
      #endif
      let status = unsafe pthread_create(
        &thread, &attributes,
        { argument in
          let argument: UnsafeMutableRawPointer? = unsafe argument
          unsafe Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
          return nil
        }, unsafe work.toOpaque())
      if status != 0 { unsafe work.release() }
      return status == 0
    #else
      return false
    #endif
  }

  /// The number that tells the calling thread from all others that are alive.
  static var identity: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #elseif canImport(Musl)
      UInt(bitPattern: pthread_self())
    #elseif canImport(Glibc)
      UInt(pthread_self())
    #else
      0
    #endif
  }

  static func yield() {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      _ = sched_yield()
    #endif
  }
}

#if !hasFeature(Embedded)
  /// Threads that work off what they are given, in its order, and end when nothing is left.
  package final class WorkQueue: Sendable {
    package typealias Work = @Sendable () -> Void

    private struct State {
      var threadCount = 0
      var waiting: ArraySlice<Work> = []
    }

    private let state = Locked(State())
    private let limit: Int

    package init(limit: Int) { self.limit = limit }

    /// Runs `work` on one of the threads; on the calling one where the system allows no more.
    package func run(_ work: @escaping Work) {
      let needsThread = state.withLock { state in
        state.waiting.append(work)
        if state.threadCount == limit { return false }
        state.threadCount += 1
        return true
      }
      if needsThread, !BackgroundThread.start({ self.workOff() }) { workOff() }
    }

    private func workOff() {
      func next() -> Work? {
        state.withLock { state in
          let next = state.waiting.popFirst()
          if next == nil { state.threadCount -= 1 }
          return next
        }
      }
      while let work = next() { work() }
    }
  }
#endif

/// The number of threads that this process may use: what the operating system would run at once, not what the machine has.
package enum ProcessorCount {
  /// The least of the CPUs online, those of the process's CPU set and its control group's quota, rounded up.
  package static func available() -> Int {
    #if os(Linux)
      let online = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
      let allowed = readText("/proc/self/status").flatMap(cpusAllowed) ?? online
      return max(min(online, allowed, quota() ?? online), 1)
    #elseif canImport(Musl) || canImport(Darwin)
      return max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
    #else
      return 1
    #endif
  }

  /// The CPUs of the `Cpus_allowed_list` line of `/proc/self/status`, such as `0-3,8`.
  static func cpusAllowed(status: String) -> Int? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed_list:") }) else {
      return nil
    }
    var count = 0
    for range in line.dropFirst("Cpus_allowed_list:".count).split(separator: ",") {
      let bounds = range.split(separator: "-").compactMap { Int($0.filter { $0.isNumber }) }
      guard let first = bounds.first, let last = bounds.last, last >= first else { return nil }
      count += last - first + 1
    }
    return count == 0 ? nil : count
  }

  /// CPUs allowed by a `cpu.max` file, such as `150000 100000`; nil for `max`.
  static func quota(cpuMax: String) -> Int? {
    let fields = cpuMax.split(whereSeparator: { $0.isWhitespace })
    guard fields.count == 2, let time = Int(fields[0]), let period = Int(fields[1]), period > 0, time > 0
    else { return nil }
    return time / period + (time % period == 0 ? 0 : 1)
  }

  #if os(Linux)
    /// Version 2 of control groups names the group in `/proc/self/cgroup`; inside a container it is the root.
    private static func quota() -> Int? {
      var least: Int?
      var group = Substring("")
      if let own = readText("/proc/self/cgroup")?.split(separator: "\n").first(where: { $0.hasPrefix("0::") })
      {
        group = own.dropFirst(3)
      }
      while true {
        if let text = readText("/sys/fs/cgroup\(group)/cpu.max"), let cpus = quota(cpuMax: text) {
          least = min(least ?? cpus, cpus)
        }
        guard let slash = group.lastIndex(of: "/") else { break }
        group = group[..<slash]
      }
      if let time = readText("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
        let period = readText("/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
        let cpus = quota(cpuMax: "\(time) \(period)")
      {
        least = min(least ?? cpus, cpus)
      }
      return least
    }

    private static func readText(_ path: String) -> String? {
      guard let file = unsafe fopen(path, "r") else { return nil }
      defer { unsafe fclose(file) }
      var bytes = [UInt8](repeating: 0, count: 8192)
      let count = unsafe fread(&bytes, 1, bytes.count, file)
      return String(decoding: bytes[..<count], as: UTF8.self)
    }
  #endif
}
