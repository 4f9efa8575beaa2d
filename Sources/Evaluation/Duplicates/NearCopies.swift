import ImagePipeline
import SystemModule

/// A photograph as it is compared with others.
package struct ComparedPicture: Sendable {
  let thumbnail: Thumbnail
  package let fingerprint: Fingerprint?
  /// The same for pictures that are equal to the last byte of their files.
  let content: String

  package init(_ image: PixelImage, content: String) {
    thumbnail = Thumbnail(image)
    fingerprint = Fingerprint(thumbnail)
    self.content = content
  }

  /// The correlations of the contrasts of parts of this picture with those of others: 1 for a perfect copy.
  func correlations(_ matches: [FingerprintIndex.Match], among pictures: [ComparedPicture]) -> [Double] {
    if matches.isEmpty { return [] }
    let grid = Fingerprint.grid
    let (sums, surround) = (ThumbnailSums(thumbnail), ThumbnailSums.surround(of: thumbnail))
    return matches.map { match in
      let own = sums.contrasts(grid: grid, in: match.frame, besides: surround)
      let others = ThumbnailSums(pictures[match.place].thumbnail).contrasts(grid: grid, in: .whole)
      let (ownLimit, othersLimit) = (3 * own.usual, 3 * others.usual)
      var (all, limited) = (Correlation(), Correlation())
      for (place, source) in Turn.places(grid: grid)[match.turn].enumerated() where own.isInside[place] {
        let (first, second) = (own.values[place], others.values[source])
        all.add(first, second)
        limited.add(
          min(max(first, -ownLimit), ownLimit), min(max(second, -othersLimit), othersLimit))
      }
      return min(all.value, limited.value + Double(Contrasts.tolerance))
    }
  }
}

/// The correlation of pairs of numbers around zero.
private struct Correlation {
  private var (product, square, otherSquare) = (0.0, 0.0, 0.0)

  mutating func add(_ first: Float, _ second: Float) {
    product += Double(first) * Double(second)
    square += Double(first) * Double(first)
    otherSquare += Double(second) * Double(second)
  }

  var value: Double { square * otherSquare > 0 ? product / (square * otherSquare).squareRoot() : 0 }
}

/// Two photographs of which one is a near copy of the other, or of a part of it.
package struct NearCopyPair: Sendable, Equatable {
  package let first: Int
  package let second: Int
  /// 1 for files that are equal to the last byte.
  package let score: Double

  package init(first: Int, second: Int, score: Double) {
    (self.first, self.second, self.score) = (first, second, score)
  }
}

/// Near copies among photographs.
package enum NearCopies {
  /// Photographs of 500 pixels and more score 0.95 as copies, and less than 0.9 otherwise, but for a few in ten millions.
  package static let leastScore = 0.9

  /// The pairs among photographs, each once.
  ///
  /// - Parameters:
  ///   - count: the first of them, of which every pair has one.
  ///   - progress: called after each photograph.
  package static func pairs(
    among pictures: [ComparedPicture], withOneOfFirst count: Int, threadCount: Int,
    progress: () -> Void
  ) -> [NearCopyPair] {
    var scores: [[Int]: Double] = [:]
    func add(_ first: Int, _ second: Int, _ score: Double) {
      guard first != second, min(first, second) < count else { return }
      let key = [min(first, second), max(first, second)]
      scores[key] = max(scores[key] ?? 0, score)
    }
    for places in Dictionary(grouping: pictures.indices, by: { pictures[$0].content }).values {
      for place in places.dropFirst() { add(places[0], place, 1) }
    }
    let all = FingerprintIndex(pictures.map(\.fingerprint))
    let firsts = FingerprintIndex(pictures.prefix(count).map(\.fingerprint))
    ParallelMap.forEach(Array(pictures.indices), workerCount: threadCount) {
      place -> (place: Int, found: [(Int, Double)]) in
      let (picture, index) = (pictures[place], place < count ? all : firsts)
      guard picture.fingerprint != nil else { return (place, []) }
      let matches = index.matches(of: picture, besides: place, [.contained])
      let correlations = picture.correlations(matches, among: pictures)
      return (place, zip(matches, correlations).map { ($0.place, min($0.agreement, $1)) })
    } consume: { (place, found) in
      for (other, score) in found where score >= leastScore { add(place, other, score) }
      progress()
    }
    return scores.map { NearCopyPair(first: $0.key[0], second: $0.key[1], score: $0.value) }
      .sorted { ($0.first, $0.second) < ($1.first, $1.second) }
  }
}
