import DermaFusion
import Evaluation
import Files
import SystemModule

/// Groups of near copies, for a program and for a person.
struct DuplicateReport: PlainReport {
  /// An image that was given, one of those to compare with, or a photograph of a model's list.
  struct Entry {
    let image: String
    /// ``given``, ``against``, or the photograph's side in the model's list.
    let source: String

    static let given = "given"
    static let against = "against"

    /// True for a photograph of a model's list.
    var isSeen: Bool { source != Self.given && source != Self.against }
  }

  struct Member {
    let entry: Entry
    /// The greatest of its scores with others of the group.
    let score: Double
  }

  let listedCount: Int
  let comparedCount: Int
  let model: ModelSight?
  let groups: [[Member]]

  /// The entries that are linked to each other, directly or by others, in the order of the entries.
  static func groups(_ entries: [Entry], _ links: [NearCopyPair]) -> [[Member]] {
    var scores: [Int: Double] = [:]
    var sets = DisjointSets(count: entries.count)
    for link in links {
      for place in [link.first, link.second] { scores[place] = max(scores[place] ?? 0, link.score) }
      sets.join(link.first, link.second)
    }
    let grouped = Dictionary(grouping: scores.keys.sorted()) { sets.leastMember(with: $0) }
    return grouped.sorted { $0.key < $1.key }.map { _, places in
      places.map { Member(entry: entries[$0], score: scores[$0] ?? 0) }
    }
  }

  private static func rounded(_ score: Double) -> Double { (score * 10_000).rounded() / 10_000 }

  var members: [(key: String, value: JSONValue)] {
    let groups = groups.map { group in
      JSONValue.object([
        "score": .number(Self.rounded(group.map(\.score).min() ?? 0)),
        "images": .array(
          group.map {
            .object([
              "image": .string($0.entry.image), "score": .number(Self.rounded($0.score)),
              "source": .string($0.entry.source),
            ])
          }),
      ])
    }
    return [
      ("listed", .integer(listedCount)), ("compared", .integer(comparedCount)),
      ("model", model?.json ?? .null), ("groups", .array(groups)),
    ]
  }

  func csv(isForTerminal: Bool) -> (header: String, rows: String) {
    let rows = groups.enumerated().flatMap { number, group in
      group.map { member in
        [String(number + 1)] + ClassificationCSV.names(member.entry.image)
          + [member.score.fixed(digits: 4), member.entry.source]
      }
    }
    return (
      ClassificationCSV.line(["group", "image_id", "image", "score", "source"]),
      rows.map { ClassificationCSV.line($0, isForTerminal: isForTerminal) }.joined()
    )
  }

  func lines(width: Int?) -> [String] {
    let found =
      groups.isEmpty
      ? "no near copies"
      : groups.count == 1 ? "1 group of near copies" : "\(groups.count) groups of near copies"
    var sentences = ["\(comparedCount) of \(listedCount) images compared: \(found)."]
    if let model { sentences.append(model.sentence(groups)) }
    var lines = sentences.map { $0.wrapped(width: width, indent: 0) }
    for (number, group) in groups.enumerated() {
      lines += ["", "Group \(number + 1)"]
      lines += group.map { member in
        let source = member.entry.source == Entry.given ? "" : "  (\(member.entry.source))"
        return "  \(member.score.fixed(digits: 3))  \(member.entry.image.printable)\(source)"
      }
    }
    return lines
  }
}
