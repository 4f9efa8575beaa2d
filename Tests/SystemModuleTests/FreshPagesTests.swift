import Testing

@testable import SystemModule

/// Others of this process may take the kept range first: what is promised holds for any range.
@Suite struct FreshPagesTests {
  @Test(arguments: [1, 4095, 262_144, (1 << 20) - 1, 1 << 20, 1_300_001, 5_000_003])
  func pagesAreZeroWhereverTheyLayBefore(byteCount: Int) throws {
    for former in [byteCount, byteCount + 1, byteCount * 3, 7_000_001] {
      let old = try #require(FreshPages.map(byteCount: former))
      old.initializeMemory(as: UInt8.self, repeating: 0xA5, count: former)
      FreshPages.unmap(old, byteCount: former)
      let new = try #require(FreshPages.map(byteCount: byteCount))
      let bytes = UnsafeRawBufferPointer(start: new, count: byteCount)
      let first = bytes.firstIndex { $0 != 0 }
      #expect(first == nil, "after \(former) bytes")
      new.initializeMemory(as: UInt8.self, repeating: 0x5A, count: byteCount)
      FreshPages.unmap(new, byteCount: byteCount)
    }
  }

  @Test func rangesInUseAtOnceAreApart() throws {
    let byteCount = 1_500_000
    let ranges = try (0..<4).map { _ in try #require(FreshPages.map(byteCount: byteCount)) }
    for (index, range) in ranges.enumerated() {
      range.initializeMemory(as: UInt8.self, repeating: UInt8(index + 1), count: byteCount)
    }
    for (index, range) in ranges.enumerated() {
      let bytes = UnsafeRawBufferPointer(start: range, count: byteCount)
      #expect(bytes.allSatisfy { $0 == UInt8(index + 1) }, "range \(index)")
    }
    for range in ranges { FreshPages.unmap(range, byteCount: byteCount) }
  }
}
