import ImagePipeline
import TestImages
import Testing

@testable import ImageCodecs

/// A decoder that makes pixels of a damaged file says so.
@Suite struct DamagedFileTests {
  private func damage(_ bytes: [UInt8]) throws -> ImageDamage? {
    try ImageDecoder.decode(bytes, part: .whole).damage
  }

  @Test(arguments: [
    TinyJPEG.gray, TinyJPEG.subsampled, TinyJPEG.progressive, TinyJPEG.restarting, TinyJPEG.cmyk,
  ])
  func wholeFilesAreNotDamaged(bytes: [UInt8]) throws {
    #expect(try damage(bytes) == nil)
    #expect(try damage(bytes + [1, 2, 3]) == nil)
  }

  /// Pillow takes such a file; all rows after the marker are invented.
  @Test func anEarlyEndOfImageIsSevere() throws {
    let scan = try #require(TinyJPEG.subsampled.firstIndex(of: [0xFF, 0xDA]))
    let cut = Array(TinyJPEG.subsampled.prefix(scan + 20)) + [0xFF, 0xD9]
    let damage = try #require(try damage(cut))
    #expect(damage.isSevere)
    #expect(damage.share == 1)
    #expect(damage.reason == "Corrupt JPEG data: premature end of data segment")
  }

  @Test func aMissingMarkerAtTheEndIsNotSevere() throws {
    let damage = try #require(try damage(Array(TinyJPEG.restarting.dropLast(2))))
    #expect(!damage.isSevere)
    #expect(damage.reason == "the end-of-image marker is missing")
  }

  @Test func leftoverDataTellThatTheImageWasMisread() throws {
    let whole = TinyJPEG.subsampled
    let leftover = try #require(try damage(Array(whole.dropLast(2)) + [0x12, 0x34, 0x56, 0xFF, 0xD9]))
    #expect(leftover.isSevere)
    // Some cameras fill their files up with zeros.
    let padded = try #require(try damage(Array(whole.dropLast(2)) + [0, 0, 0, 0xFF, 0xD9]))
    #expect(!padded.isSevere)
    // Between the segments of the header there are no image data.
    let tables = try #require(whole.firstIndex(of: [0xFF, 0xDB]))
    let header = try #require(try damage(whole.replacing(at: tables, count: 0, with: [0x12, 0x34])))
    #expect(!header.isSevere)
  }

  /// The pixels stay those that Pillow makes of the file.
  @Test func restartMarkersConfineTheDamage() throws {
    let whole = TinyJPEG.restarting
    let marker = try #require(whole.firstIndex(of: [0xFF, 0xD0]))
    let damage = try #require(try damage(whole.replacing(at: marker - 2, count: 2, with: [])))
    #expect(damage.share > 0 && damage.share < 1, "\(damage)")
  }

  @Test func aPNGWithoutItsEndIsDamaged() throws {
    let whole = PNGBuilder(width: 2, height: 1, bitDepth: 8, colorType: 0).file([1, 2])
    #expect(try damage(whole) == nil)
    let damage = try #require(try damage(Array(whole.dropLast(12))))
    #expect(!damage.isSevere)
  }

  @Test func resultsOfDamagedFilesSaySo() throws {
    let image = PixelImage(
      width: 40, height: 40, pixels: (0..<4800).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    let preprocessor = Preprocessor(.standard)
    for (share, isSevere) in [(0.0, false), (0.049, false), (0.05, true), (1, true)] {
      let damaged = DecodedImage(image, damage: ImageDamage(reason: "a bit is wrong", share: share))
      let result = try preprocessor(damaged)
      #expect(result.warnings == [.damagedFile, .smallImage])
      #expect(result.damage?.isSevere == isSevere, "\(share)")
      expectEqual(result.resized, try preprocessor(image).resized)
    }
  }
}
