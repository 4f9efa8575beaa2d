/// The hash SHA-256 (FIPS 180-4), in one go or piece by piece.
///
///     var hash = SHA256()
///     hash.update(first)
///     hash.update(second)
///     hash.finalizedHexDigest()
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

  /// Appends bytes to the message.
  package mutating func update(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  /// Appends bytes to the message.
  package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

  /// The hash of the message so far: 32 bytes. More may be appended afterwards.
  package func finalized() -> [UInt8] {
    var end = self
    let bitCount = byteCount * 8
    let zeroCount = (2 * Self.blockSize - 9 - pending.count) % Self.blockSize
    end.update([0x80] + [UInt8](repeating: 0, count: zeroCount))
    unsafe withUnsafeBytes(of: bitCount.bigEndian) { unsafe end.update($0) }
    return end.state.bytes
  }

  /// The hash of the message so far in lowercase hexadecimal: 64 characters.
  package func finalizedHexDigest() -> String {
    let digits = Array("0123456789abcdef".utf8)
    let characters = finalized().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: characters, as: UTF8.self)
  }

  /// The hash of bytes in lowercase hexadecimal: 64 characters.
  package static func hexDigest(_ bytes: UnsafeRawBufferPointer) -> String {
    var hash = SHA256()
    unsafe hash.update(bytes)
    return hash.finalizedHexDigest()
  }

  /// The hash of bytes in lowercase hexadecimal: 64 characters.
  package static func hexDigest(_ bytes: [UInt8]) -> String {
    unsafe bytes.withUnsafeBytes { unsafe hexDigest($0) }
  }
}
