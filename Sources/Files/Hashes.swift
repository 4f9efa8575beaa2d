import SHA256Instructions

/// The hash SHA-256 (FIPS 180-4), in one go or piece by piece.
package struct SHA256: Sendable {
  private static let blockSize = 64
  /// Blocks that one call takes in. A browser runs a WebAssembly function slowly until it has compiled it well, which it does
  /// beside the first call, and goes over to the better code at the next: with one call for a whole file the hash took
  /// six times as long.
  private static let blocksAtOnce = 256

  private var state: SHA256State = .initial
  /// The bytes of a block not yet full.
  private var pending: [UInt8] = []
  private var byteCount: UInt64 = 0

  package init() {
    pending.reserveCapacity(Self.blockSize)
  }

  /// Appends bytes to the message.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var rest = unsafe bytes[...]
    byteCount += UInt64(bytes.count)
    if !pending.isEmpty {
      let taken = unsafe rest.prefix(Self.blockSize - pending.count)
      unsafe pending.append(contentsOf: taken)
      unsafe rest = unsafe rest.dropFirst(taken.count)
      guard pending.count == Self.blockSize else { return }
      unsafe pending.withUnsafeBytes { unsafe state.compress($0.baseAddress!, blockCount: 1) }
      pending.removeAll(keepingCapacity: true)
    }
    let blockCount = unsafe rest.count / Self.blockSize
    if blockCount > 0 {
      let message = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress!
      for start in stride(from: 0, to: blockCount, by: Self.blocksAtOnce) {
        unsafe state.compress(
          message + start * Self.blockSize, blockCount: min(Self.blocksAtOnce, blockCount - start))
      }
    }
    unsafe pending.append(contentsOf: rest.dropFirst(blockCount * Self.blockSize))
  }

  package mutating func update(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

  /// The hash of the message so far in lowercase hexadecimal: 64 characters. More may be appended afterwards.
  package func finalizedHexDigest() -> String {
    var end = self
    let bitCount = byteCount * 8
    let zeroCount = (2 * Self.blockSize - 9 - pending.count) % Self.blockSize
    end.update([0x80] + [UInt8](repeating: 0, count: zeroCount))
    unsafe withUnsafeBytes(of: bitCount.bigEndian) { unsafe end.update($0) }
    let characters = end.state.bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
    return String(decoding: characters, as: UTF8.self)
  }

  /// The hash of bytes in lowercase hexadecimal: 64 characters.
  package static func hexDigest(_ bytes: [UInt8]) -> String { hexDigest { $0.update(bytes) } }

  static func hexDigest(_ addBytes: (inout SHA256) -> Void) -> String {
    var hash = SHA256()
    addBytes(&hash)
    return hash.finalizedHexDigest()
  }

  /// True if a text is one that ``finalizedHexDigest()`` may give.
  package static func isHexDigest(_ text: some Collection<UInt8>) -> Bool {
    text.count == 64 && text.allSatisfy(digits.contains)
  }

  private static let digits = Array("0123456789abcdef".utf8)
}

/// The eight words that SHA-256 carries from block to block, and the step over a block. The names are FIPS 180-4's.
struct SHA256State: Sendable {
  private var h0, h1, h2, h3, h4, h5, h6, h7: UInt32

  /// FIPS 180-4, 5.3.3: fractions of the square roots of the first eight primes.
  static let initial = SHA256State(
    h0: 0x6A09_E667, h1: 0xBB67_AE85, h2: 0x3C6E_F372, h3: 0xA54F_F53A,
    h4: 0x510E_527F, h5: 0x9B05_688C, h6: 0x1F83_D9AB, h7: 0x5BE0_CD19)

  /// FIPS 180-4, 4.2.2: fractions of the cube roots of the first 64 primes.
  private static let roundConstants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]

  /// The eight words, each with its high byte first.
  var bytes: [UInt8] {
    [h0, h1, h2, h3, h4, h5, h6, h7].flatMap { word in unsafe withUnsafeBytes(of: word.bigEndian, Array.init)
    }
  }

  /// Takes in blocks of 64 bytes, at any alignment (FIPS 180-4, 6.2.2).
  mutating func compress(_ message: UnsafeRawPointer, blockCount: Int) {
    if SHA256Instructions.areUsable {
      unsafe Self.roundConstants.withUnsafeBufferPointer { constants in
        unsafe withUnsafeMutableBytes(of: &self) { words in
          unsafe SHA256Instructions.compress(
            words.assumingMemoryBound(to: UInt32.self).baseAddress!, message, blockCount: blockCount,
            constants: constants.baseAddress!)
        }
      }
    } else {
      unsafe compressByArithmetic(message, blockCount: blockCount)
    }
  }

  /// ``compress(_:blockCount:)`` on any CPU. A function of its own, see `SHA256.blocksAtOnce`.
  @inline(never)
  mutating func compressByArithmetic(_ message: UnsafeRawPointer, blockCount: Int) {
    unsafe Self.roundConstants.withUnsafeBufferPointer { constants in
      unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 16) { schedule in
        let k = constants.baseAddress!
        let w = schedule.baseAddress!
        for block in 0..<blockCount {
          for t in 0..<16 {
            let offset = block &* 64 &+ t &* 4
            unsafe w[t] = unsafe UInt32(
              bigEndian: message.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
          }
          unsafe compressBlock(w, k)
        }
      }
    }
  }

  /// The schedule keeps its latest 16 words, W(t) in place t mod 16. Unrolled by 16 rounds, so that every place is a
  /// constant and the eight working variables change roles instead of places.
  @inline(__always)
  private mutating func compressBlock(_ w: UnsafeMutablePointer<UInt32>, _ k: UnsafePointer<UInt32>) {
    var (a, b, c, d, e, f, g, h) = (h0, h1, h2, h3, h4, h5, h6, h7)

    @inline(__always)
    func round(
      _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
      _ h: inout UInt32, _ word: UInt32, _ constant: UInt32
    ) {
      let sum1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)
      let choice = g ^ (e & (f ^ g))
      // In the order in which the terms are known: e, in the last two, comes straight from the round before.
      let t1 = h &+ constant &+ word &+ choice &+ sum1
      let sum0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)
      let majority = (a & b) | (c & (a | b))
      d = d &+ t1
      h = t1 &+ sum0 &+ majority
    }

    @inline(__always)
    func expand(_ t: Int) -> UInt32 {
      let w15 = unsafe w[(t + 1) & 15]
      let w2 = unsafe w[(t + 14) & 15]
      let sigma0 = rotateRight(w15, 7) ^ rotateRight(w15, 18) ^ w15 &>> 3
      let sigma1 = rotateRight(w2, 17) ^ rotateRight(w2, 19) ^ w2 &>> 10
      unsafe w[t] = unsafe w[t] &+ sigma0 &+ w[(t + 9) & 15] &+ sigma1
      return unsafe w[t]
    }

    @inline(__always)
    func rounds(_ t: Int, word: (Int) -> UInt32) {
      unsafe round(a, b, c, &d, e, f, g, &h, word(0), k[t])
      unsafe round(h, a, b, &c, d, e, f, &g, word(1), k[t + 1])
      unsafe round(g, h, a, &b, c, d, e, &f, word(2), k[t + 2])
      unsafe round(f, g, h, &a, b, c, d, &e, word(3), k[t + 3])
      unsafe round(e, f, g, &h, a, b, c, &d, word(4), k[t + 4])
      unsafe round(d, e, f, &g, h, a, b, &c, word(5), k[t + 5])
      unsafe round(c, d, e, &f, g, h, a, &b, word(6), k[t + 6])
      unsafe round(b, c, d, &e, f, g, h, &a, word(7), k[t + 7])
      unsafe round(a, b, c, &d, e, f, g, &h, word(8), k[t + 8])
      unsafe round(h, a, b, &c, d, e, f, &g, word(9), k[t + 9])
      unsafe round(g, h, a, &b, c, d, e, &f, word(10), k[t + 10])
      unsafe round(f, g, h, &a, b, c, d, &e, word(11), k[t + 11])
      unsafe round(e, f, g, &h, a, b, c, &d, word(12), k[t + 12])
      unsafe round(d, e, f, &g, h, a, b, &c, word(13), k[t + 13])
      unsafe round(c, d, e, &f, g, h, a, &b, word(14), k[t + 14])
      unsafe round(b, c, d, &e, f, g, h, &a, word(15), k[t + 15])
    }

    rounds(0) { unsafe w[$0] }
    for t in stride(from: 16, to: 64, by: 16) { rounds(t, word: expand) }

    h0 = h0 &+ a
    h1 = h1 &+ b
    h2 = h2 &+ c
    h3 = h3 &+ d
    h4 = h4 &+ e
    h5 = h5 &+ f
    h6 = h6 &+ g
    h7 = h7 &+ h
  }
}

@inline(__always)
private func rotateRight(_ word: UInt32, _ count: UInt32) -> UInt32 {
  word &>> count | word &<< (32 &- count)
}
