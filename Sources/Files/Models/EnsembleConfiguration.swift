import ImagePipeline
import SystemModule

/// The contents of the `config.json` of an ensemble: models that vote, each in a folder of its own below the ensemble's.
package struct EnsembleConfiguration: Sendable, Equatable {
  package struct Member: Sendable, Equatable {
    /// The name of the model's folder, directly below the ensemble's.
    package let folder: String
    /// Its share of the vote before the shares are divided by their sum, 1e-6...1e6.
    package let weight: Double
  }

  /// The numbers of members that an ensemble may have: each is a whole network in memory.
  package static let memberCounts = 1...32

  package let name: String
  package let version: String
  /// The logits of the vote are divided by this before softmax; above 0.
  package let temperature: Double
  /// ``memberCounts`` of them, in the order of the vote; their folders differ.
  package let members: [Member]

  /// Reads a `config.json` that lists members; nil for that of a single model, which has no key `members`.
  package init?(parsing bytes: [UInt8]) throws(DermaFusionError) {
    try self.init(ConfigurationObject(parsing: bytes))
  }

  init?(_ object: ConfigurationObject) throws(DermaFusionError) {
    var root = object
    guard root["members"] != nil else { return nil }
    try root.requireFormatVersion()
    name = try root.text("name")
    version = try root.text("version")
    temperature = try root.number("temperature", .temperature)
    let objects = try root.objects("members")
    guard Self.memberCounts.contains(objects.count) else {
      throw .wrongCount(
        key: "members",
        expected: "\(Self.memberCounts.lowerBound) to \(Self.memberCounts.upperBound) members",
        found: objects.count)
    }
    var members: [Member] = []
    // Bytes: to a file system two forms of one letter are two names, to a String they are equal.
    var folders: Set<[UInt8]> = []
    for var object in objects {
      let member = Member(folder: try object.text("folder"), weight: try object.number("weight", .voteWeight))
      try object.requireNoOtherKeys()
      let key = "members[\(members.count)].folder"
      guard !member.folder.contains("/"), member.folder != ".", member.folder != ".." else {
        throw .invalidModel(
          "\(quoted(key)) is \(quoted(member.folder)), and must be the plain name of a folder beside this file"
        )
      }
      guard folders.insert(Array(member.folder.utf8)).inserted else {
        throw .invalidModel(
          "\(quoted(key)) is \(quoted(member.folder)), which another member has already")
      }
      members.append(member)
    }
    self.members = members
    root.ignore("training")
    try root.requireNoOtherKeys()
  }
}

extension ModelConfiguration {
  /// An ensemble as its readers see it: its own name, version and temperature; what its members have in common; and a
  /// fusion head when one of them has one.
  ///
  /// - Parameter members: at least one, which ``requireAgreement(with:)``.
  package init(_ ensemble: EnsembleConfiguration, members: [ModelConfiguration]) {
    self.init(
      name: ensemble.name, version: ensemble.version,
      architecture: members.map { $0.architecture }.joined(separator: " + "), padding: members[0].padding,
      precision: members.first { $0.precision != .float32 }?.precision ?? .float32,
      batchNormEpsilon: members[0].batchNormEpsilon, classes: members[0].classes,
      temperature: ensemble.temperature, preprocessing: members[0].preprocessing,
      sexes: members[0].sexes, sites: members[0].sites,
      fusion: members.lazy.compactMap { $0.fusion }.first, abstention: nil)
  }

  /// Checks that this model can vote with an ensemble's first member: on the same input, about the same classes.
  func requireAgreement(with first: ModelConfiguration) throws(DermaFusionError) {
    func failure(_ key: String, _ found: Sentence, _ expected: Sentence) -> DermaFusionError {
      .invalidModel("\(quoted(key)) is \(found), and must be \(expected), as in the ensemble's first member")
    }
    func require(_ key: String, _ words: (ModelConfiguration) -> Sentence) throws(DermaFusionError) {
      let (found, expected) = (words(self), words(first))
      guard found == expected else { throw failure(key, found, expected) }
    }
    try require("classes") { "\(shortened($0.classes.map { $0.id }.joined(separator: ", "), to: 400))" }
    for (index, (found, expected)) in zip(classes, first.classes).enumerated() where found != expected {
      throw failure("classes[\(index)]", Sentence(found.words), Sentence(expected.words))
    }
    if outputs == .multiLabel {
      throw .invalidModel(
        "several classes may be right at once (a multi-label head), and an ensemble's vote is for one of them"
      )
    }
    try require("preprocessing.size") { "\($0.preprocessing.size)" }
    try require("preprocessing.color_constancy") { configuration in
      configuration.preprocessing.colorConstancy.shadesOfGray.map {
        "shades_of_gray with p \(String($0.p)) and rounding \($0.rounding.rawValue)"
      } ?? "\("none")"
    }
    try require("preprocessing.crop_mode") { $0.preprocessing.framing.words }
    try require("preprocessing.interpolation") { Sentence($0.preprocessing.interpolation.rawValue) }
    try require("preprocessing.mean") { "\("\($0.preprocessing.mean)")" }
    try require("preprocessing.std") { "\("\($0.preprocessing.standardDeviation)")" }
  }
}

extension ModelConfiguration.Class {
  /// `mel (Melanoma, malignant)`
  fileprivate var words: String {
    shortened("\(id) (\([name, malignancy?.rawValue].compactMap { $0 }.joined(separator: ", ")))", to: 400)
  }
}

extension Framing {
  /// `center with crop_pct 0.875`
  package var words: Sentence {
    switch self {
    case .square: "the centre square"
    case .timm(let mode, let share): "\(mode.rawValue) with crop_pct \(String(share))"
    }
  }
}
