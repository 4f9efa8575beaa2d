import DermaFusion
import ImageCodecs
import ImagePipeline
import TestImages
import Testing

@testable import Evaluation

@Suite struct NearCopyTests {
  static let originals = (0..<8).map { PixelImage.spots(width: 230, height: 171, seed: 100 + $0) }

  /// A copy that a person or a program makes of a photograph.
  static func copies(_ image: PixelImage) throws -> [(name: String, image: PixelImage)] {
    let corner = image.cut(
      left: 0, top: image.height / 5, width: image.width * 4 / 5, height: image.height * 4 / 5)
    let square = image.cut(
      left: (image.width - image.height) / 2, top: 0, width: image.height, height: image.height)
    let small = image.resized(width: 101, height: 75)
    let jpeg = try ImageDecoder.decode(JPEGEncoder.encode(image, quality: 50))
    let all = corner.turned(quarters: 1).mirrored.brightened(by: 0.8).resized(width: 90, height: 120)
    return [
      ("smaller", small), ("greater", image.resized(width: 333, height: 250)),
      ("squeezed", image.resized(width: 128, height: 128)), ("JPEG 50", jpeg),
      ("a corner cut off", corner), ("middle square", square), ("a quarter turn", image.turned(quarters: 1)),
      ("two quarter turns", image.turned(quarters: 2)), ("three", image.turned(quarters: 3)),
      ("mirrored", image.mirrored), ("brighter", image.brightened(by: 1.2)),
      ("darker", image.brightened(by: 0.7)),
      ("all at once", try ImageDecoder.decode(JPEGEncoder.encode(all, quality: 50))),
    ]
  }

  /// Numbers of words and limits at the borders of the blocks, against plain counting.
  @Test(arguments: [0, 1, 63, 64, 127, 128, 129, 300]) func distancesAreThoseOfPlainCounting(count: Int) {
    var random = SplitMix64(seed: UInt64(count))
    let words = (0..<count).map { $0 % 7 == 0 ? UInt64.max << UInt64($0 % 65) : random.next() }
    let slices = BitSlices(words)
    let masks: [UInt64] = [.max, 0, 1, 0x8000_0000_0000_0000, random.next(), 0x00ff_ff00_ffff_0001]
    for mask in masks {
      let probes: [UInt64] = [0, .max, random.next(), words.last ?? 0]
      for probe in probes {
        for limit in [0, 1, 12, 31, 32, 63, 64] {
          var found: [Int] = []
          slices.near(probe, mask: mask, limit: limit) { found.append($0) }
          let expected = words.indices.filter { ((words[$0] ^ probe) & mask).nonzeroBitCount <= limit }
          #expect(found == expected, "\(count) words, mask \(mask), word \(probe), limit \(limit)")
        }
      }
    }
  }

  /// The quick search finds every kind of copy but those that are cut and turned.
  @Test func theQuickSearchFindsAllButCopiesThatAreCutAndTurned() throws {
    let index = FingerprintIndex(pictures(Self.originals).map(\.fingerprint))
    for (name, copy) in try Self.copies(Self.originals[3]) {
      let found = index.matches(of: ComparedPicture(copy, content: ""), turnsCutouts: false).map(\.place)
      #expect(found == (name == "all at once" ? [] : [3]), "\(name)")
    }
  }

  private func pictures(_ images: [PixelImage]) -> [ComparedPicture] {
    images.enumerated().map { ComparedPicture($1, content: "\($0)") }
  }

  @Test(arguments: 0..<3) func copiesOfEachKindAreFoundAndOtherPicturesAreNot(place: Int) throws {
    let copies = try Self.copies(Self.originals[place])
    for (name, copy) in copies {
      let pairs = NearCopies.pairs(
        among: pictures(Self.originals + [copy]), withOneOfFirst: .max, threadCount: 2
      ) {}
      #expect(pairs.map { [$0.first, $0.second] } == [[place, 8]], "\(name): \(pairs)")
    }
  }

  /// A model keeps the fingerprints alone, so either of the two may be the part.
  @Test(arguments: 0..<3) func fingerprintsAloneFindCopiesToo(place: Int) throws {
    for (name, copy) in try Self.copies(Self.originals[place]) {
      let known = FingerprintIndex(pictures(Self.originals).map(\.fingerprint))
      let found = known.matches(of: ComparedPicture(copy, content: ""))
      #expect(found.map(\.place) == [place], "\(name): \(found)")
      let copies = FingerprintIndex([ComparedPicture(copy, content: "").fingerprint])
      for (other, original) in Self.originals.enumerated() {
        let found = copies.matches(of: ComparedPicture(original, content: ""))
        #expect(found.count == (other == place ? 1 : 0), "\(name), \(other): \(found)")
      }
    }
  }

  /// Photographs of one camera, with the same dark frame, the same round field, or the same ruler.
  @Test(arguments: ["frame", "field", "ruler"])
  func aFrameThatPhotographsShareMakesNoCopiesOfThem(kind: String) throws {
    let framed = Self.originals.map { image in
      PixelImage(
        width: image.width, height: image.height,
        pixels: image.pixels.enumerated().map { place, value in
          let (x, y) = (place / 3 % image.width, place / 3 / image.width)
          let (right, below) = (x - image.width / 2, y - image.height / 2)
          let edge = min(x, image.width - 1 - x, y, image.height - 1 - y)
          return switch kind {
          case "frame": edge < 17 ? 0 : value
          case "field": right * right + below * below > 80 * 80 ? 0 : value
          default: y < image.height - 24 ? value : x % 6 == 0 ? 0 : 255
          }
        })
    }
    let copy = try ImageDecoder.decode(
      JPEGEncoder.encode(framed[5].resized(width: 150, height: 112), quality: 60))
    let pairs = NearCopies.pairs(
      among: pictures(framed + [copy]), withOneOfFirst: .max, threadCount: 2
    ) {}
    #expect(pairs.map { [$0.first, $0.second] } == [[5, 8]], "\(pairs)")
    let index = FingerprintIndex(pictures(framed).map(\.fingerprint))
    #expect(index.matches(of: ComparedPicture(copy, content: "")).map(\.place) == [5])
  }

  /// A pale photograph in a round field: its edge is the strongest contrast of all.
  private static func paleField(radius: Int, seed: UInt64) -> PixelImage {
    let image = PixelImage.spots(width: 120, height: 120, seed: seed)
    return PixelImage(
      width: image.width, height: image.height,
      pixels: image.pixels.enumerated().map { place, value in
        let (right, below) = (place / 3 % image.width - 60, place / 3 / image.width - 60)
        return right * right + below * below > radius * radius ? 3 : 160 + value / 8
      })
  }

  /// A greater field looks like a cut-out of a photograph with a smaller one.
  @Test func paleRoundFieldsOfTwoSizesAreNoCopies() throws {
    let index = FingerprintIndex(
      pictures((0..<16).map { Self.paleField(radius: 42, seed: $0) }).map(\.fingerprint))
    for seed in 100..<112 as Range<UInt64> {
      let found = index.matches(of: ComparedPicture(Self.paleField(radius: 53, seed: seed), content: ""))
      #expect(found.map(\.place).isEmpty, "\(found)")
    }
    let copy = try ImageDecoder.decode(
      JPEGEncoder.encode(Self.paleField(radius: 53, seed: 7).resized(width: 150, height: 150), quality: 90))
    let fields = FingerprintIndex(
      pictures((0..<16).map { Self.paleField(radius: 53, seed: $0) }).map(\.fingerprint))
    #expect(fields.matches(of: ComparedPicture(copy, content: "")).map(\.place) == [7])
  }

  @Test func onlyPairsWithOneOfTheFirstAreLookedFor() {
    let images = [
      Self.originals[0], Self.originals[1], Self.originals[1].mirrored, Self.originals[0].mirrored,
    ]
    func pairs(_ count: Int) -> [[Int]] {
      NearCopies.pairs(among: pictures(images), withOneOfFirst: count, threadCount: 1) {}
        .map { [$0.first, $0.second] }
    }
    #expect(pairs(4) == [[0, 3], [1, 2]])
    #expect(pairs(1) == [[0, 3]])
    #expect(pairs(0) == [])
  }

  /// Without contrast there is nothing to compare but the bytes.
  @Test func flatPicturesAreCopiesOnlyIfTheirBytesAreEqual() {
    let flat = [
      PixelImage.solid(width: 50, height: 40, 200, 150, 130), .solid(width: 60, height: 60, 9, 9, 9),
    ]
    #expect(flat.allSatisfy { ComparedPicture($0, content: "").fingerprint == nil })
    let pictures = [(flat[0], "a"), (flat[1], "b"), (flat[0], "c"), (flat[0], "a"), (Self.originals[0], "d")]
      .map { ComparedPicture($0, content: $1) }
    let pairs = NearCopies.pairs(among: pictures, withOneOfFirst: 5, threadCount: 3) {}
    #expect(pairs == [NearCopyPair(first: 0, second: 3, score: 1)])
  }

  @Test func theNumberOfThreadsChangesNothing() throws {
    let images = Self.originals + (try Self.copies(Self.originals[4]).map(\.image))
    let runs = [1, 2, 5].map {
      NearCopies.pairs(among: pictures(images), withOneOfFirst: images.count, threadCount: $0) {}
    }
    #expect(runs[0].count > 30 && runs[0] == runs[1] && runs[0] == runs[2])
  }

  // MARK: - Fingerprints

  @Test func aFingerprintIsRestoredFromIts32Bytes() throws {
    for image in Self.originals {
      let fingerprint = try #require(ComparedPicture(image, content: "").fingerprint)
      let bytes = fingerprint.bytes
      #expect(bytes.count == 32 && Fingerprint(bytes: ([7] + bytes)[1...]) == fingerprint)
    }
    #expect(Fingerprint(bytes: [UInt8](repeating: 0, count: 32)[...]) == nil)
  }

  /// Fingerprints in files of models must stay the same.
  @Test func theBitsOfAPictureAreFixed() throws {
    var pixels: [UInt8] = []
    for y in 0..<70 {
      for x in 0..<90 {
        pixels += [UInt8(x * y % 251), UInt8((x * x + 3 * y) % 241), UInt8((7 * x + y * y) % 239)]
      }
    }
    let image = PixelImage(width: 90, height: 70, pixels: pixels)
    let bytes = try #require(ComparedPicture(image, content: "").fingerprint).bytes
    let digits = Array("0123456789abcdef")
    let text = String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    #expect(text == "825a48a5655d953a0eaa9bd3d345352bc0263c327aca42429ab2b23229b395ac")
  }

  /// But for bits of cells that are hardly lighter or darker than those around them, since the thumbnail is rounded.
  @Test func aTurnedPictureHasTheTurnedFingerprint() throws {
    let image = PixelImage.spots(width: 128, height: 128, seed: 3)
    let fingerprint = try #require(ComparedPicture(image, content: "").fingerprint)
    func distance(_ one: Fingerprint, _ other: Fingerprint) -> Int {
      zip(one.bytes, other.bytes).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
    }
    for quarters in 0..<4 {
      for picture in [image.turned(quarters: quarters), image.turned(quarters: quarters).mirrored] {
        let own = try #require(ComparedPicture(picture, content: "").fingerprint)
        let distances = (0..<8).map { distance(fingerprint.turned($0), own) }.sorted()
        #expect(distances[0] < 6 && distances[1] > 60, "\(quarters): \(distances)")
      }
    }
  }
}
