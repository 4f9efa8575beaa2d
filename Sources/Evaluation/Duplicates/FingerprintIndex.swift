/// Fingerprints among which the near copies of a photograph are found: of another size, cut to four fifths, turned by quarter
/// turns, mirrored, brighter, or compressed.
///
/// A photograph's contrasts are looked at in frames that a copy may show. In each, the signs of the contrasts are compared with the
/// bits of all fingerprints, first the 64 coarse ones, and those that are near with all bits, weighted by the size of the contrast.
/// The frames of the best are then moved until they fit best.
package struct FingerprintIndex: Sendable {
  /// A fingerprint like the photograph's.
  package struct Match: Sendable {
    /// The fingerprint's place among those given.
    package let place: Int
    /// The share of the weighted bits that are the same, less those that differ: 1 where all are the same.
    package let agreement: Double
    /// The part of the photograph that the other one shows. It reaches beyond the photograph where this is a part of the other one.
    let frame: Cutout
    let turn: Int
  }

  /// Roles of two photographs of which one may be a part of the other.
  package enum Direction: Sendable {
    /// The other one shows a part of the photograph, or all of it.
    case contained
    /// The photograph is a part of the other one.
    case containing
  }

  /// Copies agree to 0.97 and more, other photographs to 0.8.
  package static let leastAgreement = 0.9

  private static let leastCoarseAgreement: Float = 0.7
  private static let greatestCoarseDistance = 12
  private static let leastFineAgreement: Float = 0.55
  private static let leastCoarselyPlaced: Float = 0.75
  private static let greatestFineShare = 0.34
  private static let refinedCount = 3

  private let places: [Int]
  private let fingerprints: [Fingerprint]
  private let coarse: BitSlices
  /// The first word of the fine bits.
  private let middles: BitSlices

  /// - Parameter fingerprints: nil for photographs without one, which are found by nothing.
  package init(_ fingerprints: [Fingerprint?]) {
    places = fingerprints.indices.filter { fingerprints[$0] != nil }
    self.fingerprints = fingerprints.compactMap { $0 }
    coarse = BitSlices(self.fingerprints.map(\.coarse))
    middles = BitSlices(self.fingerprints.map(\.fine.x))
  }

  /// The near copies of a photograph, in the order of their places.
  ///
  /// - Parameters:
  ///   - own: the photograph's own place, which is not looked at.
  ///   - turnsCutouts: false to look for turned and mirrored copies only where they are whole or a square from the middle, which
  ///     takes a sixth of the comparisons.
  package func matches(
    of picture: ComparedPicture, besides own: Int? = nil,
    _ directions: [Direction] = [.contained, .containing], turnsCutouts: Bool = true
  ) -> [Match] {
    if picture.fingerprint == nil { return [] }
    let probes = Probes(picture.thumbnail)
    var best: [Int: Match] = [:]
    for direction in directions {
      let candidates =
        direction == .contained
        ? containedCandidates(probes, turnsCutouts) : containingCandidates(probes, turnsCutouts)
      for candidate in candidates where places[candidate.index] != own {
        guard let match = refined(candidate, direction, probes) else { continue }
        if best[match.place].map({ $0.agreement < match.agreement }) ?? true { best[match.place] = match }
      }
    }
    return best.values.sorted { $0.place < $1.place }
  }

  // MARK: - Candidates

  private struct Candidate {
    let index: Int
    let turn: Int
    let frame: Cutout
    let agreement: Float
  }

  /// The best few frames of each fingerprint.
  private static func best(_ candidates: [Candidate]) -> [Candidate] {
    Dictionary(grouping: candidates, by: \.index).values.flatMap { candidates in
      candidates.sorted { ($0.agreement, $1.turn) > ($1.agreement, $0.turn) }.prefix(refinedCount)
    }
  }

  /// The turns in which a frame is looked at.
  private static func turns(of frame: Cutout, _ turnsCutouts: Bool) -> Range<Int> {
    turnsCutouts || frame == .whole || Cutouts.middleSquares.contains(frame) ? 0..<Turn.count : 0..<1
  }

  private func containedCandidates(_ probes: Probes, _ turnsCutouts: Bool) -> [Candidate] {
    let coarseProbes = Cutouts.coarse.map { frame in
      let contrasts = probes.sums.contrasts(grid: Fingerprint.coarseGrid, in: frame)
      return (
        frame: frame, word: Fingerprint.word(contrasts.values),
        weights: Weights(contrasts.values, limits: SIMD2(repeating: contrasts.mean))
      )
    }
    // The turns in which a fingerprint's coarse bits fit somewhere.
    var turns: [Int: Set<Int>] = [:]
    for probe in coarseProbes {
      for turn in Self.turns(of: probe.frame, turnsCutouts) {
        coarse.near(Turn.turned(probe.word, Turn.inverses[turn]), limit: Self.greatestCoarseDistance) {
          index in
          if turns[index]?.contains(turn) ?? false { return }
          if probe.weights.agreement(Turn.turned(fingerprints[index].coarse, turn))
            >= Self.leastCoarseAgreement
          {
            turns[index, default: []].insert(turn)
          }
        }
      }
    }
    if turns.isEmpty { return [] }
    let fineProbes = Cutouts.fine.map { (frame: $0, probe: probes.fine($0)) }.filter { $0.probe.tells }
    var candidates: [Candidate] = []
    for (index, turns) in turns {
      for turn in turns {
        let bits = Turn.turned(fingerprints[index].fine, turn)
        for (frame, probe) in fineProbes where probe.distance(bits) <= Self.greatestFineShare {
          let agreement = probe.agreement(bits)
          if agreement >= Self.leastFineAgreement {
            candidates.append(Candidate(index: index, turn: turn, frame: frame, agreement: agreement))
          }
        }
      }
    }
    return Self.best(candidates)
  }

  private func containingCandidates(_ probes: Probes, _ turnsCutouts: Bool) -> [Candidate] {
    var candidates: [Candidate] = []
    for frame in Cutouts.fine where frame != .whole {
      let probe = probes.fine(frame.surroundings)
      guard probe.tells else { continue }
      for turn in Self.turns(of: frame, turnsCutouts) {
        let turned = probe.turnedBack(turn)
        // Most are told apart by the first word.
        middles.near(turned.words.x, mask: turned.mask.x, limit: turned.middleLimit) { index in
          guard turned.distance(fingerprints[index].fine) <= Self.greatestFineShare else { return }
          let agreement = probe.agreement(Turn.turned(fingerprints[index].fine, turn))
          if agreement >= Self.leastFineAgreement {
            candidates.append(Candidate(index: index, turn: turn, frame: frame, agreement: agreement))
          }
        }
      }
    }
    return Self.best(candidates)
  }

  // MARK: - Refinement

  /// Moves and stretches the frame while that makes more bits agree.
  private func refined(_ candidate: Candidate, _ direction: Direction, _ probes: Probes) -> Match? {
    let bits = Turn.turned(fingerprints[candidate.index].fine, candidate.turn)
    func shown(_ frame: Cutout) -> Cutout { direction == .contained ? frame : frame.surroundings }
    func agreement(_ frame: Cutout) -> Float { probes.fine(shown(frame)).agreement(bits) }
    var (frame, best) = (candidate.frame, agreement(candidate.frame))
    var step = 0.02
    while step > 0.004 {
      var hasMoved = false
      for move in direction == .contained ? Cutouts.moves + Cutouts.stretches : Cutouts.moves {
        let moved = frame.moved(move, by: step)
        guard moved.width >= Cutouts.leastSide, moved.height >= Cutouts.leastSide else { continue }
        let agreement = agreement(moved)
        if agreement > best { (frame, best, hasMoved) = (moved, agreement, true) }
      }
      if hasMoved { continue }
      // Smaller steps do not make a copy of it.
      if best < Self.leastCoarselyPlaced { return nil }
      step /= 2
    }
    guard Double(best) >= Self.leastAgreement else { return nil }
    return Match(
      place: places[candidate.index], agreement: Double(best), frame: shown(frame), turn: candidate.turn)
  }
}

/// The frames of copies that are looked at: the whole, cuts of several sizes in a raster, and the square in the middle.
enum Cutouts {
  static let coarse = all([(1, 1), (0.95, 2), (0.9, 3), (0.85, 4), (0.8, 5)])
  static let fine = all([(1, 1), (0.95, 3), (0.9, 4), (0.85, 5), (0.8, 7)])
  static let leastSide = 0.72

  typealias Move = (left: Double, top: Double, right: Double, bottom: Double)
  static let moves: [Move] = [
    (1, 0, 1, 0), (-1, 0, -1, 0), (0, 1, 0, 1), (0, -1, 0, -1), (1, 1, -1, -1), (-1, -1, 1, 1),
  ]
  static let stretches: [Move] = [(1, 0, -1, 0), (-1, 0, 1, 0), (0, 1, 0, -1), (0, -1, 0, 1)]

  private static func all(_ sizes: [(side: Double, count: Int)]) -> [Cutout] {
    sizes.flatMap { side, count in
      (0..<count * count).map { place in
        let step = count > 1 ? (1 - side) / Double(count - 1) : 0
        let (left, top) = (Double(place % count) * step, Double(place / count) * step)
        return Cutout(left: left, top: top, right: left + side, bottom: top + side)
      }
    } + middleSquares
  }

  /// The middle squares of photographs of four to three.
  static let middleSquares = [
    Cutout(left: 0.125, top: 0, right: 0.875, bottom: 1),
    Cutout(left: 0, top: 0.125, right: 1, bottom: 0.875),
  ]
}

extension Cutout {
  fileprivate func moved(_ move: Cutouts.Move, by step: Double) -> Cutout {
    func inside(_ value: Double) -> Double { min(max(value, 0), 1) }
    return Cutout(
      left: inside(left + move.left * step), top: inside(top + move.top * step),
      right: inside(right + move.right * step), bottom: inside(bottom + move.bottom * step))
  }
}

/// The weight of each contrast's sign: its size, up to a limit. Two limits are counted side by side.
private struct Weights {
  private let values: [SIMD2<Float>]
  private let sum: SIMD2<Float>
  private let total: SIMD2<Float>

  /// - Parameter limits: of all contrasts, and of the usual ones.
  init(_ contrasts: [Float], limits: SIMD2<Float>) {
    values = contrasts.map { SIMD2(repeating: $0).clamped(lowerBound: -limits, upperBound: limits) }
    sum = values.reduce(.zero, +)
    total = values.reduce(.zero) { $0 + $1.replacing(with: -$1, where: $1 .< 0) }
  }

  func agreement(_ word: UInt64) -> Float { agreement(SIMD4(word, 0, 0, 0)) }

  func agreement(_ words: SIMD4<UInt64>) -> Float {
    guard total.min() > 0 else { return -1 }
    var same = SIMD2<Float>.zero
    values.withUnsafeBufferPointer { values in
      for start in stride(from: 0, to: values.count, by: 64) {
        var word = words[start / 64]
        while word != 0 {
          same += values[start + word.trailingZeroBitCount]
          word &= word &- 1
        }
      }
    }
    let agreement = (2 * same - sum) / total
    return min(agreement.x, agreement.y + Contrasts.tolerance)
  }
}

/// The signs of a photograph's contrasts in a frame, as they are compared with the fine bits of fingerprints.
private struct FineBits {
  let words: SIMD4<UInt64>
  /// The cells that lie in the photograph.
  let mask: SIMD4<UInt64>
  let count: Int

  init(words: SIMD4<UInt64>, mask: SIMD4<UInt64>) {
    (self.words, self.mask) = (words, mask)
    count = Self.bitCount(mask)
  }

  /// The greatest distance of the first words of near fingerprints.
  var middleLimit: Int { (mask.x.nonzeroBitCount + 8) / 4 }

  /// The share of the bits that differ.
  func distance(_ other: SIMD4<UInt64>) -> Double {
    Double(Self.bitCount((words ^ other) & mask)) / Double(count)
  }

  private static func bitCount(_ words: SIMD4<UInt64>) -> Int {
    words.x.nonzeroBitCount + words.y.nonzeroBitCount + words.z.nonzeroBitCount
  }
}

/// A photograph's contrasts in frames, each worked out once: most candidates begin in the same frames and are moved by the same
/// steps.
private final class Probes {
  let sums: ThumbnailSums
  private let surround: ThumbnailSums?
  private var fine: [Cutout: FineProbe] = [:]

  init(_ thumbnail: Thumbnail) {
    sums = ThumbnailSums(thumbnail)
    surround = ThumbnailSums.surround(of: thumbnail)
  }

  func fine(_ frame: Cutout) -> FineProbe {
    if let known = fine[frame] { return known }
    let probe = FineProbe(sums, frame, besides: surround)
    fine[frame] = probe
    return probe
  }
}

/// A photograph's contrasts in a frame.
private struct FineProbe {
  private let bits: FineBits
  private let weights: Weights

  /// True where enough of a fingerprint's cells count: of a few, those of some other photograph agree by chance. A frame that
  /// reaches beyond the picture needs more, as its cells are compared in more places.
  let tells: Bool

  init(_ sums: ThumbnailSums, _ frame: Cutout, besides surround: ThumbnailSums?) {
    let contrasts = sums.contrasts(grid: Fingerprint.grid, in: frame, besides: surround)
    bits = FineBits(
      words: Fingerprint.fineWords(contrasts.values), mask: Fingerprint.words(contrasts.isInside) { $0 })
    tells = bits.count >= (frame.width <= 1 && frame.height <= 1 ? 40 : 64)
    let values = Fingerprint.places.map { contrasts.values[$0] }
    weights = Weights(values, limits: SIMD2(contrasts.mean, contrasts.usual))
  }

  /// The bits that agree with a fingerprint as these do with the turned one.
  func turnedBack(_ turn: Int) -> FineBits {
    let turn = Turn.inverses[turn]
    return FineBits(words: Turn.turned(bits.words, turn), mask: Turn.turned(bits.mask, turn))
  }

  func distance(_ other: SIMD4<UInt64>) -> Double { bits.distance(other) }

  func agreement(_ other: SIMD4<UInt64>) -> Float {
    tells ? weights.agreement(other) : -1
  }
}
