import CLibrary

// The system's calls by names that methods do not hide.

func systemRead(_ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
  unsafe read(descriptor, target, count)
}

func systemWrite(_ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int) -> Int {
  unsafe write(descriptor, source, count)
}

/// Waits until a descriptor can be read (`POLLIN`) or written (`POLLOUT`), or its other end is gone.
///
/// - Parameter milliseconds: the longest wait. Below 0 the wait has no end of its own.
/// - Returns: false when the time was over.
@discardableResult
func systemWait(_ descriptor: Int32, _ event: Int32, milliseconds: Int32 = -1) -> Bool {
  var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  return unsafe poll(&waiting, 1, milliseconds) != 0
}

func systemPipe(_ ends: inout [Int32]) -> Int32 { unsafe pipe(&ends) }

func systemRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
  unsafe rename(old, new)
}

func systemClose(_ descriptor: Int32) { close(descriptor) }

func systemExit(_ status: Int32) -> Never { exit(status) }
