import DermaFusion
import ImagePipeline

/// How far every stage agrees with what Python computed.
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
    /// Of these, those that depart.
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

  /// What complete fixtures hold, the stages between `conv_stem` and `conv_head` aside.
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

  /// Whether every stage that was compared agrees everywhere.
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
