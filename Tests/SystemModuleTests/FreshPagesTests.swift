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

/// Lasting buffers, which share ranges.
@Suite struct AlignedBufferTests {
  /// More than a range of 32 MB holds, in sizes about the limits of a part and of a cache line.
  private static let counts = [
    0, 1, 1023, 1024, 1025, 4097, 65_535, 65_537, 300_000, 1_048_575, 1_048_576, 1_048_577,
  ]

  @Test func buffersAreZeroAlignedAndApart() {
    var buffers: [AlignedBuffer?] = []
    for round in 0..<4 {
      for count in Self.counts {
        let buffer = AlignedBuffer(count: count, lasts: true)
        let values = UnsafeBufferPointer(start: buffer.pointer, count: count)
        #expect(values.allSatisfy { $0 == 0 }, "\(count) floats in round \(round)")
        #expect(UInt(bitPattern: buffer.pointer) % 64 == 0, "\(count) floats in round \(round)")
        buffer.pointer.update(repeating: Float(buffers.count), count: count)
        buffers.append(buffer)
      }
      // Half of them go: the others keep their values, and later ones find zeros.
      for index in buffers.indices.dropFirst(round * Self.counts.count) where index % 2 == 1 {
        buffers[index] = nil
      }
    }
    for (index, buffer) in buffers.enumerated() {
      guard let buffer else { continue }
      let values = UnsafeBufferPointer(start: buffer.pointer, count: buffer.count)
      let first = values.firstIndex { $0 != Float(index) }
      #expect(first == nil, "buffer \(index) of \(buffer.count) floats")
    }
  }

  @Test func threadsGetPartsOfTheirOwn() {
    let pool = ThreadPool(threadCount: 4)
    let buffers = pool.map(Array(0..<400)) { index in
      let buffer = AlignedBuffer(count: 2000 + index, lasts: true)
      buffer.pointer.update(repeating: Float(index), count: buffer.count)
      return buffer
    }
    for (index, buffer) in buffers.enumerated() {
      let values = UnsafeBufferPointer(start: buffer.pointer, count: buffer.count)
      #expect(values.allSatisfy { $0 == Float(index) }, "buffer \(index)")
    }
  }
}
