import Foundation
import SystemModule
import Testing

@Suite struct FilePagesTests {
  /// Four pieces and a rest, no multiple of a page. No byte is 0.
  private static let content = (0..<17_000_001).map {
    UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) | 1
  }
  private var content: [UInt8] { Self.content }
  /// Large pages that lie in a part only with some of their bytes are left.
  private static let edge = 1 << 21

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

  private func requireOnly(_ parts: [Range<Int>], areReleasedIn left: [UInt8]) {
    let other = left.indices.first { index in
      left[index] != content[index] && !parts.contains { $0.contains(index) }
    }
    #expect(other == nil, "other parts stay")
    #if os(Linux)
      for part in parts where part.count > 2 * Self.edge {
        let inner = part.lowerBound + Self.edge..<part.upperBound - Self.edge
        #expect(left[inner].allSatisfy { $0 == 0 }, "\(part) still has memory")
      }
    #endif
  }

  /// Parts before, across and behind the border of two pieces, released before the pieces are read and after.
  @Test(arguments: [true, false]) func aReleasedPartIsReadOnceMore(isReleasedFirst: Bool) throws {
    let parts = [4097..<100_000, 1_000_000..<6_000_001, 6_400_000..<6_500_000, 12_000_001..<17_000_001]
    try withPages { pages in
      if isReleasedFirst { for part in parts { pages.release(part) } }
      var read: [UInt8] = []
      pages.forEachPiece { piece in for index in piece.indices { read.append(piece[index]) } }
      if !isReleasedFirst { for part in parts { pages.release(part) } }
      #expect(read == content, "the pieces are whole although parts were released")
      requireOnly(parts, areReleasedIn: pages.copied)
      #if os(Linux)
        #expect(!pages.isWhole)
      #endif
    }
  }

  @Test func aSmallPartStays() throws {
    try withPages { pages in
      pages.release(0..<2_000_000)
      pages.forEachPiece { _ in }
      #expect(pages.copied == content)
      #expect(pages.isWhole)
    }
  }

  /// Small parts, released before the pieces are read and after, in about their order, as threads that share them do.
  @Test(arguments: [0, 37, 80]) func smallPartsGoWithTheirNeighbours(countBefore: Int) throws {
    let parts = (0..<80).map { index in 100_000 + (index ^ 5) * 200_000..<300_000 + (index ^ 5) * 200_000 }
    try withPages { pages in
      for part in parts[..<countBefore] { pages.release(part) }
      pages.forEachPiece { _ in }
      for part in parts[countBefore...] { pages.release(part) }
      requireOnly([100_000..<16_100_000], areReleasedIn: pages.copied)
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
        pages.release(4_500_000..<17_000_000)
        hasReleased.store(true, ordering: .releasing)
        isDone.signal()
      }
      goesOn.signal()
      isAtPiece.wait()
      // Long enough for a release that does not wait.
      Thread.sleep(forTimeInterval: 0.05)
      let isEarly = hasReleased.load(ordering: .acquiring)
      #expect(!isEarly, "12.5 MB wait for a reader that has passed 4.2 MB")
      for _ in 0..<8 { goesOn.signal() }
      isDone.wait()
    }
  }
}
