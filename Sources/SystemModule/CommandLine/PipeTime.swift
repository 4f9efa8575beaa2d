#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// How long a named pipe is read.
struct PipeTime {
  /// Seconds for each time that nothing can be read.
  let patience: Int
  /// Seconds to the end.
  let seconds: Int
  private let deadline: Double

  init(patience: Int, seconds: Int) {
    self.patience = patience
    self.seconds = seconds
    deadline = MonotonicClock.milliseconds + Double(seconds) * 1000
  }

  /// Waits until something can be read or the pipe's end is reached.
  func wait(for descriptor: Int32, name: String) throws(FileError) {
    let left = deadline - MonotonicClock.milliseconds
    let gap = Double(patience) * 1000
    if left > 0, systemWait(descriptor, POLLIN, milliseconds: Int32(min(gap, left).rounded(.up))) { return }
    throw left < gap ? .pipeWithoutEnd(name, seconds: seconds) : .pipeWithoutWriter(name, seconds: patience)
  }
}
