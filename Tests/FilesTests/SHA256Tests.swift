import ReferenceLayers
import Testing

@testable import Files

@Suite struct SHA256Tests {
  /// Messages of NIST's example values and short-message test vectors (CAVP, SHA256ShortMsg.rsp).
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func standardMessages(message: String, digest: String) {
    #expect(SHA256.hexDigest(Array(message.utf8)) == digest)
  }

  @Test func oneMillionLettersA() {
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 10_000)
    var hash = SHA256()
    for _ in 0..<100 { hash.update(piece) }
    #expect(hash.finalizedHexDigest() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// Digests of 0, 1, 2, ... n-1 as bytes, by Python's hashlib: lengths around the padding's corners.
  @Test(arguments: [
    (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
    (55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59"),
    (56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562"),
    (57, "2fe741af801cc238602ac0ec6a7b0c3a8a87c7fc7d7f02a3fe03d1c12eac4d8f"),
    (63, "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488"),
    (64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108"),
    (65, "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781"),
    (119, "da18797ed7c3a777f0847f429724a2d8cd5138e6ed2895c3fa1a6d39d18f7ec6"),
    (120, "f52b23db1fbb6ded89ef42a23ce0c8922c45f25c50b568a93bf1c075420bbb7c"),
    (127, "92ca0fa6651ee2f97b884b7246a562fa71250fedefe5ebf270d31c546bfea976"),
    (128, "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5"),
    (129, "5099c6a56203f9687f7d33f4bfdf576d31dc91f6b695ecea38b2770c87631135"),
    (1000, "a8af099bf2e878609558dbf69d8f88f4a31040a8cf84b549a0cfa912f12ffc3f"),
  ])
  func lengthsAroundABlock(count: Int, digest: String) {
    #expect(SHA256.hexDigest((0..<count).map { UInt8(truncatingIfNeeded: $0) }) == digest)
  }

  @Test func piecesGiveTheHashOfTheWhole() {
    let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    let whole = SHA256.hexDigest(message)
    for seed in 1...50 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var hash = SHA256()
      var start = 0
      while start < message.count {
        let end = min(message.count, start + Int.random(in: 0...150, using: &generator))
        hash.update(Array(message[start..<end]))
        start = end
      }
      #expect(hash.finalizedHexDigest() == whole, "seed \(seed)")
    }
  }

  /// The tests above go by the CPU's instructions if it has them; this holds both ways together.
  @Test func instructionsGiveWhatArithmeticGives() {
    let seed: UInt64 = 7
    var generator = SeededGenerator(seed: seed)
    let message = (0..<64 * 9 + 3).map { _ in UInt8.random(in: 0...255, using: &generator) }
    message.withUnsafeBytes { bytes in
      for (blockCount, offset) in [(1, 0), (2, 1), (9, 3)] {
        var state = SHA256State.initial
        var expected = state
        state.compress(bytes.baseAddress! + offset, blockCount: blockCount)
        expected.compressByArithmetic(bytes.baseAddress! + offset, blockCount: blockCount)
        #expect(state.bytes == expected.bytes, "\(blockCount) blocks, seed \(seed)")
      }
    }
  }

  @Test func aFinishedMessageMayGoOn() {
    var hash = SHA256()
    hash.update(Array("ab".utf8))
    #expect(hash.finalizedHexDigest() == SHA256.hexDigest(Array("ab".utf8)))
    hash.update(Array("c".utf8))
    #expect(hash.finalizedHexDigest() == SHA256.hexDigest(Array("abc".utf8)))
  }
}
