import Foundation
import SystemModule
import Testing

@Suite struct FilePagesTests {
  /// Two pieces and a rest, no multiple of a page.
  private let content = (0..<9_000_001).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) | 1 }

  private func withPages(_ body: (FilePages) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(content).write(to: file)
    try body(FilePages(path: file.path, limit: content.count))
  }

  @Test func thePiecesAreTheContentInOrder() throws {
    try withPages { pages in
      var read: [UInt8] = []
      pages.forEachPiece { piece in for index in piece.indices { read.append(piece[index]) } }
      #expect(read == content)
    }
  }

  /// Parts before, across and behind the border of two pieces, released before the pieces are read and after.
  @Test(arguments: [true, false]) func aReleasedPartIsReadOnceMore(isReleasedFirst: Bool) throws {
    let parts = [4097..<1_000_000, 4_000_000..<5_000_000, 8_700_001..<9_000_001]
    try withPages { pages in
      if isReleasedFirst { for part in parts { pages.release(part) } }
      var read: [UInt8] = []
      pages.forEachPiece { piece in for index in piece.indices { read.append(piece[index]) } }
      if !isReleasedFirst { for part in parts { pages.release(part) } }
      #expect(read == content, "the pieces are whole although parts were released")
      let left = pages.copied
      let differing = left.indices.filter { left[$0] != content[$0] }
      #expect(differing.allSatisfy { index in parts.contains { $0.contains(index) } }, "other parts stay")
      #if os(Linux)
        // All but the first and the last page of each part.
        for part in parts {
          let inner = part.lowerBound + 65_536..<part.upperBound - 65_536
          #expect(left[inner].allSatisfy { $0 == 0 }, "\(part) still has memory")
        }
      #endif
    }
  }

  @Test func aSmallPartStays() throws {
    try withPages { pages in
      pages.release(0..<200_000)
      pages.forEachPiece { _ in }
      #expect(pages.copied == content)
    }
  }

  /// Small parts, released before the pieces are read and after, in about their order, as threads that share them do.
  @Test(arguments: [0, 37, 80]) func smallPartsGoWithTheirNeighbours(countBefore: Int) throws {
    let parts = (0..<80).map { index in 100_000 + (index ^ 5) * 50_000..<150_000 + (index ^ 5) * 50_000 }
    try withPages { pages in
      for part in parts[..<countBefore] { pages.release(part) }
      pages.forEachPiece { _ in }
      for part in parts[countBefore...] { pages.release(part) }
      let left = pages.copied
      let outside = left.indices.first { !(100_000..<4_100_000).contains($0) && left[$0] != content[$0] }
      #expect(outside == nil, "other parts stay")
      #if os(Linux)
        let kept = left[100_000..<4_100_000].count { $0 != 0 }
        #expect(kept < 1_000_000, "\(kept) of 4,000,000 bytes still have memory")
      #endif
    }
  }

  /// One reader holds the pieces back, the other is already at the end.
  @Test func aReaderByPartsWaitsForTheOneInOrder() throws {
    try withPages { pages in
      let (isAtPiece, goesOn, isDone) = (Semaphore(), Semaphore(), Semaphore())
      let hasReleased = Atomic(false)
      BackgroundThread.start {
        pages.forEachPiece { _ in
          isAtPiece.signal()
          goesOn.wait()
        }
      }
      isAtPiece.wait()
      BackgroundThread.start {
        pages.release(4_500_000..<9_000_000)
        hasReleased.store(true, ordering: .releasing)
        isDone.signal()
      }
      goesOn.signal()
      isAtPiece.wait()
      // Long enough for a release that does not wait.
      Thread.sleep(forTimeInterval: 0.05)
      let isEarly = hasReleased.load(ordering: .acquiring)
      #expect(!isEarly, "4.5 MB wait for a reader that has passed 4.2 MB")
      for _ in 0..<8 { goesOn.signal() }
      isDone.wait()
    }
  }
}
