import SystemModule

extension DermaFusionError {
  /// A file of a model breaks a rule.
  ///
  /// - Parameter rule: in words, with the file in front or to be ``named(_:)``.
  package static func invalidModel(_ rule: Sentence) -> DermaFusionError {
    .init(.invalidModel, message: rule, remedy: "Export the model again, or copy its folder again in full.")
  }

  /// A model's folder, or one of its files, is not there.
  ///
  /// - Parameter remedy: what to do instead, without a full stop; it ends the message too. Nil: nothing more is known than
  ///   what a model's folder holds.
  static func modelNotFound(_ rule: Sentence, remedy: Sentence? = nil) -> DermaFusionError {
    .init(
      .modelNotFound, message: remedy.map { "\(rule); \($0)" } ?? rule,
      remedy: remedy.map { "\($0)." }
        ?? "Name a folder that holds config.json and model.safetensors.")
  }

  /// The network cannot be computed in the precision that the configuration or the caller asks for.
  package static func unusablePrecision(file: String, rule: Sentence) -> DermaFusionError {
    .init(
      .invalidModel, message: "\(file): \(rule)", remedy: "Leave the precision to the model's config.json.")
  }

  /// The same failure, of a file that belongs to a model.
  package var inModel: DermaFusionError {
    code == .fileNotFound ? .modelNotFound(fault) : .invalidModel(fault)
  }

  /// The key's number breaks its rule.
  ///
  /// - Parameter key: with the keys around it: `preprocessing.color_constancy.p`.
  package static func outOfRange(key: String, value: String, rule: Sentence) -> DermaFusionError {
    invalidModel("\(quoted(key)) is \(shortened(value, to: 40)), and must be \(rule)")
  }

  package static func unknownValue(key: String, value: String, allowed: [String]) -> DermaFusionError {
    invalidModel("\(quoted(key)) is \(quoted(value)), and must be one of \(allowed.joined(separator: ", "))")
  }

  /// Two members say different things of the network.
  static func disagreeing(
    _ key: String, _ value: String, _ other: String, _ otherValue: String
  ) -> DermaFusionError {
    invalidModel("\(quoted(key)) is \(value), and \(quoted(other)) is \(otherValue); they must be the same")
  }

  /// A network that takes images of another number of channels than photographs have.
  static func inputChannels(_ count: Int, key: String) -> DermaFusionError {
    invalidModel(
      "\(quoted(key)) says that its images have \(channels(count)), and photographs have 3 (red, green, blue); the network must be trained on such"
    )
  }

  /// `4 channels`
  static func channels(_ count: Int) -> Sentence { count == 1 ? "1 channel" : "\(count) channels" }

  /// A model's network that is not among those that can be run.
  package static func unknownArchitecture(_ name: String, of names: [String]) -> DermaFusionError {
    let wanted = NameParts(name)
    let distances = names.map { wanted.distance(to: NameParts($0)) }
    let nearest = names.indices.sorted {
      (distances[$0].edits, distances[$0].numbers, $0) < (distances[$1].edits, distances[$1].numbers, $1)
    }.prefix(3)
    return invalidModel(
      "\"architecture\" is \(quoted(name)), which is not one of the \(names.count) networks that can be run; the nearest "
        + "are \(nearest.map { names[$0] }.joined(separator: ", "))")
  }

  static func missingKey(_ key: String) -> DermaFusionError {
    invalidModel("the key \(quoted(key)) is missing")
  }

  package static func wrongCount(key: String, expected: Sentence, found: Int) -> DermaFusionError {
    invalidModel("\(quoted(key)) must have \(expected), and has \(found)")
  }

  static func wrongType(key: String, expected: Sentence, found: JSONValue) -> DermaFusionError {
    invalidModel("\(quoted(key)) must be \(expected), and is \(found.typeInWords)")
  }

  static func checksumMismatch(path: String, expected: String, found: String) -> DermaFusionError {
    invalidModel(
      "\(path): the SHA-256 is \(found), and the folder's \(ModelChecksums.fileName) states \(expected): the file is "
        + "damaged, or was replaced without its checksum")
  }
}

/// A name as letters and whole numbers.
private struct NameParts {
  /// Letters by their bytes, numbers negative.
  private var parts: [Int] = []

  init(_ name: String) {
    var isInNumber = false
    for byte in name.utf8 {
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      if isDigit, isInNumber, let last = parts.last, last > Int(Int32.min) / 16 {
        parts[parts.count - 1] = 10 * (last + 1) - Int(byte - UInt8(ascii: "0")) - 1
      } else {
        parts.append(isDigit ? -Int(byte - UInt8(ascii: "0")) - 1 : Int(byte))
      }
      isInNumber = isDigit
    }
  }

  /// The cost of changing, leaving out or putting in parts until this name is the other (Levenshtein's distance), and by how
  /// much the numbers differ. A part put in costs a third, because most names end with sizes that a person leaves out.
  func distance(to other: NameParts) -> (edits: Int, numbers: Int) {
    var row = Array(0...other.parts.count)
    for part in parts {
      var diagonal = row[0]
      row[0] += 3
      for j in other.parts.indices {
        let replaced = diagonal + (part == other.parts[j] ? 0 : 3)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, diagonal + 3, row[j] + 1)
      }
    }
    let numbers = zip(parts.filter { $0 < 0 }, other.parts.filter { $0 < 0 }).map { abs($0 - $1) }
    return (row[other.parts.count], numbers.reduce(0, +))
  }
}
