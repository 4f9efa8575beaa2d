import DermaFusion
import ImagePipeline

/// The agreement of every stage with what Python computed.
package struct ParityReport: Sendable, Equatable {
  /// The first place of a fixture at which a stage departs.
  package struct Departure: Sendable, Equatable, CustomStringConvertible {
    package let fixture: String
    /// `[row, column, channel]`, `row 12`, `shape`, ...
    package let place: String
    package let expected: String
    package let found: String

    package var description: String { "\(fixture) at \(place): expected \(expected), found \(found)" }
  }

  package struct Stage: Sendable, Equatable {
    package let name: String
    /// Largest absolute difference that still agrees; `nil` where every bit must.
    package let tolerance: Double?
    /// Arrays, vectors or refusals that were compared.
    package var comparisons = 0
    /// Those of them that depart.
    package var departures = 0
    /// Largest absolute difference seen, where differences are numbers.
    package var greatestDifference = 0.0
    package var firstDeparture: Departure?
  }

  /// In the order of computation.
  package private(set) var stages: [Stage] = []

  /// The first stage in the order of computation that departs anywhere.
  package var firstDepartingStage: Stage? { stages.first { $0.firstDeparture != nil } }

  static let mapStage = "map"

  /// The parts of complete fixtures, the stages between `conv_stem` and `conv_head` aside.
  static let stageNames =
    ["refused"] + PreprocessingStage.allCases.map(\.rawValue)
    + [
      "warnings", "constancy variants", "normalized variants", "metadata", "conv_stem", "conv_head", "pooled",
      "logits", "probabilities", mapStage,
    ]

  /// Stages of complete fixtures of which these hold nothing.
  package var missingStages: [String] {
    Self.stageNames.filter { name in !stages.contains { $0.name == name } }
  }

  /// True if every stage that was compared agrees everywhere.
  package var agrees: Bool { firstDepartingStage == nil }

  /// Counts one comparison; the stage appears with its first.
  mutating func record(
    _ name: String, tolerance: Double?, difference: Double = 0, departure: Departure?
  ) {
    let index =
      stages.firstIndex { $0.name == name }
      ?? {
        stages.append(Stage(name: name, tolerance: tolerance))
        return stages.count - 1
      }()
    stages[index].comparisons += 1
    stages[index].greatestDifference = max(stages[index].greatestDifference, difference)
    if let departure {
      stages[index].departures += 1
      stages[index].firstDeparture = stages[index].firstDeparture ?? departure
    }
  }
}

// MARK: - Comparing

extension ParityReport {
  /// Compares things that must be the same.
  mutating func compare<Value: Equatable>(
    _ stage: String, fixture: String, place: String, expected: Value, found: Value
  ) {
    let departure = Departure(
      fixture: fixture, place: place, expected: "\(expected)", found: "\(found)")
    record(stage, tolerance: nil, departure: expected == found ? nil : departure)
  }

  /// Compares numbers with a tolerance for their differences divided by `scale`; without one they must be equal as Float32. `found`
  /// takes the flat index. A number that is not finite departs.
  mutating func compare(
    _ stage: String, fixture: String, tolerance: Double?, scale: Double = 1,
    samples: ParityManifest.Samples, foundShape: [Int], found: (Int) -> Float
  ) {
    guard samples.shape == foundShape else {
      let departure = Departure(
        fixture: fixture, place: "shape", expected: "\(samples.shape)", found: "\(foundShape)")
      return record(stage, tolerance: tolerance, departure: departure)
    }
    var greatest = 0.0
    var departure: Departure?
    let count = foundShape.reduce(1, *)
    for (index, expected) in zip(samples.indices, samples.values) {
      precondition((0..<count).contains(index), "index \(index) in a fixture of shape \(foundShape)")
      let value = found(index)
      let difference = abs(Double(value) - expected) / scale
      if tolerance.map({ difference <= $0 }) ?? (value == Float(expected)) {
        greatest = max(greatest, difference)
        continue
      }
      greatest = max(greatest, difference.isFinite ? difference : .infinity)
      departure =
        departure
        ?? Departure(
          fixture: fixture, place: "\(Self.position(index, in: foundShape))",
          expected: "\(Float(expected))", found: "\(value)")
    }
    record(stage, tolerance: tolerance, difference: greatest, departure: departure)
  }

  /// Compares a list of numbers with a tolerance, as above.
  mutating func compare(
    _ stage: String, fixture: String, tolerance: Double, scale: Double = 1, expected: [Double],
    found: [Float]
  ) {
    let samples = ParityManifest.Samples(
      shape: [expected.count], indices: Array(expected.indices), values: expected)
    compare(
      stage, fixture: fixture, tolerance: tolerance, scale: scale, samples: samples,
      foundShape: [found.count],
      found: { found[$0] })
  }

  /// Flat row-major index to one index a dimension.
  static func position(_ index: Int, in shape: [Int]) -> [Int] {
    var rest = index
    var position: [Int] = []
    for size in shape.reversed() {
      position.insert(rest % size, at: 0)
      rest /= size
    }
    return position
  }
}
