import CBuiltins
import CLibrary

/// Float32 storage on a 64-byte boundary, zero at first: a cache line, and the widest vector.
///
/// `@unchecked Sendable`: its owner writes it before sharing it (weights), or is the only one to hold it while it is
/// written (a workspace).
@safe package final class AlignedBuffer: @unchecked Sendable {
  /// Buffers from this size on are pages fresh from the system, which are zero already.
  private static let mappedByteCount = 1 << 18

  package let pointer: UnsafeMutablePointer<Float>
  package let count: Int
  private let mapping: UnsafeMutableRawPointer?
  /// The range that it is a part of; nil where it has memory of its own.
  private let range: SharedRange?

  /// - Parameter lasts: True where it lives as long as a model: it may then lie in a range that buffers share, and its
  ///   memory goes back with the last of them.
  package init(count: Int, lasts: Bool = false) {
    precondition(count >= 0, "a buffer cannot hold \(count) elements")
    self.count = count
    let stored = max(count, 16)
    if lasts, let part = SharedRange.part(byteCount: stored * 4) {
      range = part.range
      unsafe mapping = nil
      unsafe pointer = unsafe part.range.address(part.offset).bindMemory(to: Float.self, capacity: stored)
      return
    }
    range = nil
    if stored * 4 >= Self.mappedByteCount, let mapping = unsafe FreshPages.map(byteCount: stored * 4) {
      unsafe self.mapping = unsafe mapping
      unsafe pointer = unsafe mapping.bindMemory(to: Float.self, capacity: stored)
    } else {
      unsafe mapping = nil
      let raw = UnsafeMutableRawPointer.allocate(byteCount: stored * 4, alignment: 64)
      unsafe pointer = unsafe raw.initializeMemory(as: Float.self, repeating: 0, count: stored)
    }
  }

  deinit {
    if let mapping = unsafe mapping {
      unsafe FreshPages.unmap(mapping, byteCount: max(count, 16) * 4)
    } else if range == nil {
      unsafe pointer.deallocate()
    }
  }
}

extension Int {
  /// The smallest multiple of `step` that is not below this.
  package func roundedUp(toMultipleOf step: Int) -> Int { (self + step - 1) / step * step }
}

package enum CacheSize {
  /// Bytes of the second-level cache, as the system tells; half a megabyte where it does not.
  package static let secondLevel: Int = {
    let told = toldBySystem
    return told > 0 ? told : 1 << 19
  }()

  private static var toldBySystem: Int {
    #if canImport(Glibc)
      return sysconf(Int32(_SC_LEVEL2_CACHE_SIZE))
    #elseif canImport(Darwin)
      var size = 0
      var length = MemoryLayout<Int>.size
      return sysctlbyname("hw.perflevel0.l2cachesize", &size, &length, nil, 0) == 0 ? size : 0
    #else
      return 0
    #endif
  }
}

/// Memory that comes from the system as whole pages, all zero.
///
/// The system takes longer to give a page than a kernel takes to fill it. So one large range that was given back is kept for
/// the next one: where a model's file lay while it was loaded, its first workspace lies later.
package enum FreshPages {
  private struct Spare: Sendable {
    let address: UInt
    let byteCount: Int
  }

  private static let spare = Locked<Spare?>(nil)
  /// Ranges from this size on may have pages of 2 MB: the system gives one of them in the time of some ten small ones.
  fileprivate static let hugeByteCount = 1 << 22
  static let hugePageByteCount = 1 << 21
  /// Ranges from this size on are kept, and taken.
  private static let spareByteCount = 1 << 20

  /// On Linux one call maps all small pages. If each were mapped when it is first written, they would cost half as much again.
  /// Large ones are mapped then, and memory that is filled from other memory takes no more than both need at a time.
  ///
  /// - Parameters:
  ///   - populates: map small pages now. If false, call ``populate(_:)`` later.
  ///   - isFresh: leave the kept range, whose pages all come at once.
  /// - Returns: nil where the system has no pages to give.
  package static func map(
    byteCount: Int, populates: Bool = true, isFresh: Bool = false
  ) -> UnsafeMutableRawPointer? {
    #if os(Linux)
      if !isFresh, let address = unsafe takeSpare(byteCount: byteCount) { return unsafe address }
      let isLarge = byteCount >= hugeByteCount
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | (populates && !isLarge ? MAP_POPULATE : 0)
    #elseif canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON
    #endif
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      guard let address = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0) else {
        return nil
      }
      guard unsafe address != MAP_FAILED else { return nil }
      #if os(Linux)
        if isLarge { _ = unsafe madvise(address, byteCount, Int32(MADV_HUGEPAGE)) }
      #endif
      return unsafe address
    #else
      return nil
    #endif
  }

  /// - Parameter keeps: False gives the range back to the system, whatever its size.
  package static func unmap(_ address: UnsafeMutableRawPointer, byteCount: Int, keeps: Bool = true) {
    #if os(Linux)
      let isKept = spare.withLock { spare in
        guard keeps, spare == nil, byteCount >= spareByteCount else { return false }
        spare = Spare(address: UInt(bitPattern: address), byteCount: byteCount)
        return true
      }
      if isKept { return }
    #endif
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      unsafe munmap(address, byteCount)
    #endif
  }

  /// Asks for the pages of a part of a range, from a page's start on. Several threads may, each for its part.
  package static func populate(_ part: UnsafeMutableRawBufferPointer) {
    #if os(Linux)
      // MADV_POPULATE_WRITE, since Linux 5.14. Before, the pages come one by one.
      _ = unsafe madvise(part.baseAddress, part.count, 23)
    #endif
  }

  /// Keeps what the program frees, up to 64 MB, for what it allocates next. A batch takes the same memory for each image, and
  /// the C library would give it back to the system each time: of the shipped model's time in 8 bits, 6 %. For a whole
  /// program only, whose memory is its own.
  package static func keepFreed() {
    #if canImport(Glibc)
      keep_freed_memory(32 << 20, 64 << 20)
    #endif
  }

  /// Gives back the whole pages of a part, which is then zero.
  package static func discard(_ part: UnsafeMutableRawBufferPointer) {
    #if os(Linux)
      guard let address = part.baseAddress else { return }
      let pageSize = sysconf(Int32(_SC_PAGESIZE))
      let start = Int(bitPattern: address).roundedUp(toMultipleOf: pageSize)
      let end = (Int(bitPattern: address) + part.count) / pageSize * pageSize
      if start < end {
        _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: start), end - start, Int32(MADV_DONTNEED))
      }
    #endif
  }

  #if os(Linux)
    /// The start of the kept range, zero again, where that is large enough; its rest goes back.
    private static func takeSpare(byteCount: Int) -> UnsafeMutableRawPointer? {
      let pageSize = sysconf(Int32(_SC_PAGESIZE))
      let wanted = (byteCount + pageSize - 1) / pageSize * pageSize
      let taken: Spare? = spare.withLock { spare in
        guard let kept = spare, spareByteCount <= byteCount, byteCount <= kept.byteCount else { return nil }
        spare = nil
        return kept
      }
      guard let taken, let address = unsafe UnsafeMutableRawPointer(bitPattern: taken.address) else {
        return nil
      }
      if taken.byteCount > wanted { unsafe munmap(address + wanted, taken.byteCount - wanted) }
      unsafe memset(address, 0, byteCount)
      return unsafe address
    }
  #endif
}

/// A range of pages that lasting buffers share, each a part behind the one before.
///
/// A model's weights are hundreds of buffers, most of them smaller than a page of 2 MB. Mapped one by one they get small
/// pages, which the system takes longer to give than the weights take to be packed.
///
/// `@unchecked Sendable`: the pointer is set once, and nobody gets a part twice.
@safe private final class SharedRange: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer

  /// Less is not worth a part; more has large pages by itself.
  private static let partByteCounts = (1 << 12)..<FreshPages.hugeByteCount
  private static let byteCount = 1 << 25

  #if os(Linux)
    /// The range that the next parts come from, for as long as a buffer lies in it, and where the next part may begin.
    private struct Open {
      weak var range: SharedRange?
      var end = 0
    }
    private static let open = Locked(Open())
  #endif

  private init?() {
    guard let start = unsafe FreshPages.map(byteCount: Self.byteCount, isFresh: true) else { return nil }
    unsafe self.start = unsafe start
  }

  deinit { unsafe FreshPages.unmap(start, byteCount: Self.byteCount, keeps: false) }

  /// The next part, zero and on a boundary of 64 bytes; nil where none is wanted or the system has no range.
  static func part(byteCount wanted: Int) -> (range: SharedRange, offset: Int)? {
    #if os(Linux)
      guard partByteCounts.contains(wanted) else { return nil }
      return open.withLock { open in
        let place = open.end.roundedUp(toMultipleOf: 64)
        if let range = open.range, place + wanted <= byteCount {
          open.end = place + wanted
          return (range, place)
        }
        guard let range = SharedRange() else { return nil }
        // Large pages lie on their own boundaries.
        let first = unsafe -Int(bitPattern: range.start) & (FreshPages.hugePageByteCount - 1)
        open = Open(range: range, end: first + wanted)
        return (range, first)
      }
    #else
      return nil
    #endif
  }

  /// The memory of a part.
  func address(_ offset: Int) -> UnsafeMutableRawPointer { unsafe start + offset }
}

/// True if memory can be had. Swift ends the process where an array cannot get its memory; a caller that asks first can
/// refuse the one input that needs it.
package enum MemoryProbe {
  /// True if the system gives so many bytes in one piece at this moment. It may give them and have none left when they are
  /// written to; a limit on the address space is kept.
  package static func canAllocate(byteCount: Int) -> Bool {
    #if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
      // Not malloc: an optimising compiler leaves out an allocation that nobody uses, and says that there was memory.
      #if os(Linux)
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
      #else
        let flags = MAP_PRIVATE | MAP_ANON
      #endif
      let address = unsafe mmap(nil, max(byteCount, 1), PROT_READ | PROT_WRITE, flags, -1, 0)
      guard let address = unsafe address, unsafe address != MAP_FAILED else { return false }
      unsafe munmap(address, max(byteCount, 1))
      return true
    #else
      return true
    #endif
  }
}
