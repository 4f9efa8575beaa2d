import CPNG

/// The facts in the chunks before a PNG's pixels on its colours and on an animation (PNG, third edition).
enum PNGFacts {
  /// A profile with the tables of a printer has this size, and its tags stand before them.
  private static let profileLimit = 1 << 20

  static func read(_ bytes: UnsafeRawBufferPointer) -> FileFacts {
    let reader = ByteReader(bytes, isBigEndian: true)
    var facts = FileFacts()
    var frameCount: Int?
    var isFirstFrame = false
    // The names that the chunks give, nil for sRGB; the earlier of them counts.
    var (codePoint, icc, srgb, chromaticities): (String??, String??, String??, String??)
    var position = 8
    while let length = reader.integer32(at: position), !reader.holds("IDAT", at: position + 4),
      let content = reader.bytes(at: position + 8, count: length)
    {
      let values = ByteReader(content, isBigEndian: true)
      if reader.holds("acTL", at: position + 4) {
        frameCount = values.integer32(at: 0)
      } else if reader.holds("fcTL", at: position + 4) {
        isFirstFrame = true
      } else if reader.holds("cICP", at: position + 4) {
        codePoint = .some(values.byte(at: 0).flatMap { ColorProfile.foreignName(codePoint: $0) })
      } else if reader.holds("iCCP", at: position + 4) {
        icc = .some(profileName(content))
      } else if reader.holds("sRGB", at: position + 4) {
        srgb = .some(nil)
      } else if reader.holds("cHRM", at: position + 4) {
        let numbers = (0..<8).compactMap { values.integer32(at: $0 * 4).map { Double($0) / 100_000 } }
        chromaticities = .some(ColorProfile.foreignName(chromaticities: numbers))
      }
      position += 12 + length
    }
    // As Pillow counts: a picture that is no frame comes before the frames.
    if let frameCount, (1...1 << 31).contains(frameCount) {
      facts.pictureCount = frameCount + (isFirstFrame ? 0 : 1)
    }
    // The second bit of the colour type, in the first chunk.
    let hasColors = (reader.byte(at: 25) ?? 0) & 2 != 0
    if hasColors { facts.profile = (codePoint ?? icc ?? srgb ?? chromaticities) ?? nil }
    return facts
  }

  /// - Parameter content: of the chunk iCCP: a name, the number of the compression, and the profile.
  private static func profileName(_ content: UnsafeRawBufferPointer) -> String? {
    guard let end = content.prefix(80).firstIndex(of: 0), end + 2 <= content.count else { return nil }
    let packed = UnsafeRawBufferPointer(rebasing: content[(end + 2)...])
    let profile = [UInt8](unsafeUninitializedCapacity: profileLimit) { profile, count in
      count = cpng_inflate(
        packed.baseAddress?.assumingMemoryBound(to: UInt8.self), packed.count, profile.baseAddress,
        profileLimit)
    }
    let name = String(decoding: content[..<end], as: UTF8.self).onOneLine
    return profile.withUnsafeBytes {
      ColorProfile.foreignName(icc: $0, fallback: name.isEmpty ? "without a name" : name)
    }
  }
}
