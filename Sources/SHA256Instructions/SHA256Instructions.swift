import CBuiltins

/// SHA-256 by the instructions that x86-64 CPUs since 2017 have for it, several times faster than by plain arithmetic.
public enum SHA256Instructions {
  /// True if this module was compiled to use them and this CPU has them.
  public static let areUsable: Bool = {
    #if SHA256_INSTRUCTIONS
      cpu_runs_sha256()
    #else
      false
    #endif
  }()

  /// Takes in blocks of 64 bytes, at any alignment (FIPS 180-4, 6.2.2).
  ///
  /// - Parameters:
  ///   - state: The eight words a, b, ... h.
  ///   - constants: The 64 round constants.
  /// - Precondition: ``areUsable``.
  public static func compress(
    _ state: UnsafeMutablePointer<UInt32>, _ message: UnsafeRawPointer, blockCount: Int,
    constants: UnsafePointer<UInt32>
  ) {
    #if SHA256_INSTRUCTIONS
      // The instructions want the words in this order, the first in the lowest lane.
      var efab = Words(state[5], state[4], state[1], state[0])
      var ghcd = Words(state[7], state[6], state[3], state[2])
      for block in 0..<blockCount {
        compressBlock(&efab, &ghcd, message + block &* 64, UnsafeRawPointer(constants))
      }
      (state[0], state[1], state[2], state[3]) = (efab[3], efab[2], ghcd[3], ghcd[2])
      (state[4], state[5], state[6], state[7]) = (efab[1], efab[0], ghcd[1], ghcd[0])
    #else
      preconditionFailure("SHA-256 instructions were asked for where they are not usable")
    #endif
  }
}

#if SHA256_INSTRUCTIONS
  private typealias Words = SIMD4<UInt32>

  @inline(__always)
  private func compressBlock(
    _ efab: inout Words, _ ghcd: inout Words, _ message: UnsafeRawPointer, _ constants: UnsafeRawPointer
  ) {
    let (startEFAB, startGHCD) = (efab, ghcd)
    // The latest 16 words of the message schedule.
    var w0 = bigEndianWords(message)
    var w1 = bigEndianWords(message + 16)
    var w2 = bigEndianWords(message + 32)
    var w3 = bigEndianWords(message + 48)
    fourRounds(&efab, &ghcd, w0, constants)
    fourRounds(&efab, &ghcd, w1, constants + 16)
    fourRounds(&efab, &ghcd, w2, constants + 32)
    fourRounds(&efab, &ghcd, w3, constants + 48)
    for turn in 1..<4 {
      let constants = constants + turn &* 64
      w0 = expanded(w0, w1, w2, w3)
      fourRounds(&efab, &ghcd, w0, constants)
      w1 = expanded(w1, w2, w3, w0)
      fourRounds(&efab, &ghcd, w1, constants + 16)
      w2 = expanded(w2, w3, w0, w1)
      fourRounds(&efab, &ghcd, w2, constants + 32)
      w3 = expanded(w3, w0, w1, w2)
      fourRounds(&efab, &ghcd, w3, constants + 48)
    }
    efab &+= startEFAB
    ghcd &+= startGHCD
  }

  /// Rounds t to t + 3, given W(t) ... W(t + 3). Two rounds turn a, b, e, f into the new c, d, g, h by standing still.
  @inline(__always)
  private func fourRounds(
    _ efab: inout Words, _ ghcd: inout Words, _ words: Words, _ constants: UnsafeRawPointer
  ) {
    let sums = words &+ constants.loadUnaligned(as: Words.self)
    ghcd = sha256_two_rounds(ghcd, efab, sums)
    efab = sha256_two_rounds(efab, ghcd, Words(sums[2], sums[3], sums[2], sums[3]))
  }

  /// W(t) ... W(t + 3) from the sixteen words before.
  @inline(__always)
  private func expanded(_ w0: Words, _ w1: Words, _ w2: Words, _ w3: Words) -> Words {
    sha256_schedule2(sha256_schedule1(w0, w1) &+ Words(w2[1], w2[2], w2[3], w3[0]), w3)
  }

  @inline(__always)
  private func bigEndianWords(_ bytes: UnsafeRawPointer) -> Words {
    let words = bytes.loadUnaligned(as: Words.self)
    return Words(words[0].byteSwapped, words[1].byteSwapped, words[2].byteSwapped, words[3].byteSwapped)
  }
#endif
