import ImagePipeline
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

/// A file that claims more than a photograph is refused by a rule, before it costs time and memory.
@Suite struct DecodingLimitsTests {
  private func expectRefusal(
    _ bytes: [UInt8], _ limits: DecodingLimits = .standard, part: ImagePart = .square(size: 380),
    as expected: DermaFusionError, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: expected, sourceLocation: sourceLocation) {
      try ImageDecoder.decode(bytes, part: part, limits: limits)
    }
  }

  /// A grey JPEG of one size: arithmetic coding's markers, progressive scans of no data.
  private func emptyScans(_ count: Int, width: Int, height: Int) -> [UInt8] {
    let sides = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    bytes += [0xFF, 0xCA, 0, 11, 8] + sides + [1, 1, 0x11, 0]
    for index in 0..<count {
      bytes += [0xFF, 0xDA, 0, 8, 1, 1, 0] + (index == 0 ? [0, 0, 0] : [1, 63, 0])
    }
    return bytes + [0xFF, 0xD9]
  }

  @Test func aFewBytesThatClaimAHugeArithmeticImage() {
    let bytes = emptyScans(1, width: 13000, height: 13000)
    expectRefusal(
      bytes, as: .implausibleSize(.jpeg, byteCount: bytes.count, width: 13000, height: 13000))
    expectRefusal(
      bytes, part: .whole, as: .implausibleSize(.jpeg, byteCount: bytes.count, width: 13000, height: 13000))
  }

  @Test func scansAreCountedBeforeTheyAreDecoded() {
    let limit = DecodingLimits.standardScannedPixels
    expectRefusal(
      emptyScans(490, width: 4096, height: 4096),
      as: .tooManyScans(width: 4096, height: 4096, scans: 490, limit: limit))
    expectRefusal(
      TinyJPEG.progressive, DecodingLimits(scannedPixels: 989), part: .whole,
      as: .tooManyScans(width: 11, height: 9, scans: 10, limit: 989))
    #expect(throws: Never.self) {
      try ImageDecoder.decode(TinyJPEG.progressive, part: .whole, limits: DecodingLimits(scannedPixels: 990))
    }
  }

  @Test func pixelsMemoryAndTimeHaveTheirOwnMessages() {
    expectRefusal(
      TinyJPEG.subsampled, DecodingLimits(pixels: 98), part: .whole,
      as: .tooManyPixels(width: 11, height: 9, limit: 98))
    expectRefusal(
      TinyJPEG.subsampled, DecodingLimits(memory: 296), part: .whole,
      as: .tooMuchMemory(.jpeg, byteCount: 297, limit: 296))
    // The coefficients of all scans are kept: 2x2 blocks of 64 numbers of two bytes, and 1x2 twice.
    expectRefusal(
      TinyJPEG.progressive, DecodingLimits(memory: 1000), part: .whole,
      as: .tooMuchMemory(.jpeg, byteCount: 297 + 8 * 128, limit: 1000))
    expectRefusal(
      TinyJPEG.progressive, DecodingLimits(seconds: -1), part: .whole, as: .tooSlow(.jpeg, seconds: 0))
    let png = PNGBuilder(width: 2, height: 1, bitDepth: 8, colorType: 0).file([1, 2])
    expectRefusal(
      png, DecodingLimits(memory: 11), part: .whole, as: .tooMuchMemory(.png, byteCount: 12, limit: 11))
    expectRefusal(png, DecodingLimits(seconds: -1), part: .whole, as: .tooSlow(.png, seconds: 0))
    expectRefusal(
      Array("P2 1 1 255 7".utf8), DecodingLimits(memory: 2), part: .whole,
      as: .tooMuchMemory(.pnm, byteCount: 3, limit: 2))
  }

  @Test func whatIsTooSmallForANetworkIsRefusedBeforeItsPixels() throws {
    // A bitmap of 178 million rows, of which none is there.
    expectRefusal(
      Array("P4 1 178000000\n".utf8), as: .tooSmall(width: 1, height: 178_000_000, minimumSide: 32))
    expectRefusal(TinyJPEG.subsampled, as: .tooSmall(width: 11, height: 9, minimumSide: 32))
  }

  /// Each of 16 threads wants a third of what all may have.
  @Test func imagesWaitForOneAnothersMemory() async throws {
    let limits = DecodingLimits(memory: 900)
    let bytes = TinyJPEG.subsampled
    let decoded = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<16 {
        group.addTask {
          var total = 0
          for _ in 0..<50 { total += try ImageDecoder.decode(bytes, part: .whole, limits: limits).width }
          return total
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(decoded == 16 * 50 * 11)
    // All of it is free again.
    #expect(throws: Never.self) {
      let reservation = try limits.reserve(900, for: .jpeg)
      withExtendedLifetime(reservation) {}
    }
  }

  /// No value traps, here or in the process that decodes.
  @Test func limitsBeyondReasonAreClampedWhereTheyAreMade() {
    let times: [Double] = [
      -1, -Double.infinity, .nan, 0, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    ]
    for seconds in times {
      for count in [Int.min, -1, 0, .max] {
        let limits = DecodingLimits(pixels: count, scannedPixels: count, memory: count, seconds: seconds)
        #expect((0...1e9).contains(limits.seconds), "\(seconds)")
        #expect((0...1 << 40).contains(limits.pixels) && (0...1 << 46).contains(limits.memory), "\(count)")
        #expect(limits.scannedPixels >= 0)
        for bytes in [TinyJPEG.gray, TinyJPEG.progressive] {
          let isRefused = (try? ImageDecoder.decode(bytes, part: .whole, limits: limits)) == nil
          if count <= 0 { #expect(isRefused, "\(count)") }
        }
      }
    }
    let wide = DecodingLimits(pixels: .max, memory: .max, seconds: .infinity)
    #expect((try? ImageDecoder.decode(TinyJPEG.gray, part: .whole, limits: wide)) != nil)
    #expect(DecodingLimits(pixels: 100, memory: 1000, seconds: 2.5).seconds == 2.5)
  }
}
