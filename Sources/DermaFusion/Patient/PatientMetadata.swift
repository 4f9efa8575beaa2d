import Files
import ImagePipeline
import NetworkModule
import SystemModule

/// Metadata of the patient and the lesion.
///
/// Nothing is invented: an age that was not given stays missing, a sex or a site that was not given is
/// `unknown`, and ``missing`` lists them so that every result says what it was made without.
public struct PatientMetadata: Sendable, Equatable {
  /// Ages that are accepted, in years. 0 is an infant; above 100 the model's input is clamped to 100.
  public static let acceptedAges: ClosedRange<Double> = PatientAge.accepted

  package static let ageExpectation: Sentence = "Please provide a number of years from 0 to 130."

  /// Nothing known: age missing, sex and site unknown.
  public static let unknown = PatientMetadata(sex: .unknown, site: .unknown)

  /// Age in years within ``acceptedAges``, or `nil` when it is missing.
  public let ageInYears: Double?
  /// `.unknown` when it was not given.
  public let sex: Sex
  /// `.unknown` when it was not given.
  public let site: BodySite

  /// - Parameters:
  ///   - ageInYears: 0...130, fractions allowed; `nil` when not known.
  ///   - sex: `.unknown` when not known.
  ///   - site: `.unknown` when not known.
  /// - Throws: ``DermaFusionError/Code/invalidMetadata`` for an age outside of ``acceptedAges`` or one that is not a number.
  public init(
    ageInYears: Double?, sex: Sex = .unknown, site: BodySite = .unknown
  ) throws(DermaFusionError) {
    if let ageInYears, !Self.acceptedAges.contains(ageInYears) {
      throw DermaFusionError(
        .invalidMetadata, message: "age \(ageInYears) is not within 0...130 years",
        remedy: "Give an age in years, or none when it is not known.")
    }
    // Adding zero turns -0 into 0, which would otherwise be printed with its sign.
    self.ageInYears = ageInYears.map { $0 + 0 }
    self.sex = sex
    self.site = site
  }

  /// Metadata without an age.
  public init(sex: Sex = .unknown, site: BodySite = .unknown) {
    ageInYears = nil
    self.sex = sex
    self.site = site
  }

  /// The fields that are not known, out of `age`, `sex` and `site`, in that order. A sex or site that was
  /// given as `unknown` counts as missing: it tells the model nothing.
  public var missing: [String] {
    var fields: [String] = []
    if ageInYears == nil { fields.append("age") }
    if sex == .unknown { fields.append("sex") }
    if site == .unknown { fields.append("site") }
    return fields
  }

  /// True if no field is known.
  public var isEmpty: Bool { missing.count == 3 }

  /// The model's metadata input.
  package func encoded() -> MetadataVector {
    MetadataVector(
      age: Float(ageInYears.map { min(max($0 / 100, 0), 1) } ?? 0), isAgeMissing: ageInYears == nil,
      sexIndex: sex.index, siteIndex: site.index)
  }
}

extension PatientMetadata {
  /// With what an image file says in the place of the fields that are not known.
  package func filled(from patient: FilePatient?) -> PatientMetadata {
    guard let patient else { return self }
    return (try? filled(patient.ageInYears, patient.knownSex, patient.site)) ?? self
  }

  /// With what a row says in the place of the fields that are not known.
  package func filled(fromRow entry: MetadataTable.Entry?) throws(DermaFusionError) -> PatientMetadata {
    try filled(entry?.ageInYears, entry?.sex, entry?.site)
  }

  private func filled(_ age: Double?, _ sex: Sex?, _ site: BodySite?) throws(DermaFusionError) -> Self {
    try PatientMetadata(
      ageInYears: ageInYears ?? age, sex: self.sex == .unknown ? sex ?? .unknown : self.sex,
      site: self.site == .unknown ? site ?? .unknown : self.site)
  }
}

extension PatientMetadata: CustomStringConvertible {
  /// `age 55, male, site missing`
  public var description: String { description(in: .english) }
}

#if !hasFeature(Embedded)
  extension PatientMetadata: Codable {
    private enum CodingKeys: String, CodingKey { case ageInYears, sex, site }

    /// Values that break a rule of this type are an error.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      try self.init(
        ageInYears: container.decodeIfPresent(Double.self, forKey: .ageInYears),
        sex: container.decode(Sex.self, forKey: .sex), site: container.decode(BodySite.self, forKey: .site))
    }
  }
#endif

/// The effect of each metadata field on the logits of one image.
public struct MetadataShares: Sendable, Equatable {
  /// The logits of the image with nothing known about the patient.
  public let imageAlone: ClassScores
  /// The logits with all that is known: those of the classification.
  public let everything: ClassScores
  /// The logits with all that is known but the age. The same as ``everything`` when the age is missing.
  public let withoutAge: ClassScores
  /// The logits with all that is known but the sex.
  public let withoutSex: ClassScores
  /// The logits with all that is known but the site.
  public let withoutSite: ClassScores
}

extension Classifier {
  /// The logits of an image with all of the metadata, with none, and with each field left out. The image goes through the
  /// network once.
  ///
  /// A model that does not use metadata gives the same logits five times. Those of an ensemble are the members' votes.
  ///
  /// - Parameters:
  ///   - image: at least 32x32.
  ///   - metadata: what is known.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
  public func metadataShares(
    of image: PixelImage, metadata: PatientMetadata
  ) throws(DermaFusionError) -> MetadataShares {
    let answer = try run(ImageRequest(metadata: metadata), on: image)
    return try metadataShares(of: answer.output, metadata: metadata)
  }

  /// The same from what the network made of an image, upright and with all of the metadata.
  package func metadataShares(
    of output: NetworkOutput, metadata: PatientMetadata
  ) throws(DermaFusionError) -> MetadataShares {
    MetadataShares(
      imageAlone: try logits(output, .unknown), everything: try temperature.scores(output.logits),
      withoutAge: try logits(output, PatientMetadata(sex: metadata.sex, site: metadata.site)),
      withoutSex: try logits(output, PatientMetadata(ageInYears: metadata.ageInYears, site: metadata.site)),
      withoutSite: try logits(output, PatientMetadata(ageInYears: metadata.ageInYears, sex: metadata.sex)))
  }

  /// The logits of the image's features with other metadata, by the head or by the vote of the members' heads.
  private func logits(
    _ output: NetworkOutput, _ metadata: PatientMetadata
  ) throws(DermaFusionError) -> ClassScores {
    func logits(_ model: Model, _ output: NetworkOutput) -> [Float] {
      ThreadPool.withDenormalsFlushed {
        model.network.head.logits(pooled: output.pooled, metadata: metadata.encoded())
      }
    }
    guard let ensemble else { return try temperature.scores(logits(models[0], output)) }
    return try temperature.scores(ensemble.vote(zip(models, output.members).map { logits($0, $1) }))
  }
}

extension MetadataShares {
  /// Each set of logits with its name in JSON, in the order in which they are told.
  package var named: [(key: String, logits: ClassScores)] {
    [
      ("imageAlone", imageAlone), ("everything", everything), ("withoutAge", withoutAge),
      ("withoutSex", withoutSex), ("withoutSite", withoutSite),
    ]
  }

  package var json: JSONValue {
    .object(named.map { (key: $0.key, value: $0.logits.json) })
  }
}
