import Files
import ImagePipeline
import NetworkModule
import SystemModule

/// What each field of the metadata does to the logits of one image.
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
    try metadataShares(of: preprocessed(image), metadata: metadata)
  }

  /// ``metadataShares(of:metadata:)`` of an image that is preprocessed already.
  package func metadataShares(
    of input: PreprocessedImage, metadata: PatientMetadata
  ) throws(DermaFusionError) -> MetadataShares {
    let known = metadata.filled(from: input.patient)
    return try metadataShares(
      of: output(of: input, metadata: known.encoded(), views: .upright), metadata: known)
  }

  /// The same from what the network made of an image, upright and with all of the metadata.
  package func metadataShares(
    of output: NetworkOutput, metadata: PatientMetadata
  ) throws(DermaFusionError) -> MetadataShares {
    return MetadataShares(
      imageAlone: try logits(output, .unknown), everything: try calibration.scores(output.logits),
      withoutAge: try logits(output, PatientMetadata(sex: metadata.sex, site: metadata.site)),
      withoutSex: try logits(output, PatientMetadata(ageInYears: metadata.ageInYears, site: metadata.site)),
      withoutSite: try logits(output, PatientMetadata(ageInYears: metadata.ageInYears, sex: metadata.sex)))
  }

  /// What the head, or the vote of the members' heads, makes of the image's features with other metadata.
  private func logits(
    _ output: NetworkOutput, _ metadata: PatientMetadata
  ) throws(DermaFusionError) -> ClassScores {
    func logits(_ model: Model, _ output: NetworkOutput) -> [Float] {
      ThreadPool.withDenormalsFlushed {
        model.network.head.logits(pooled: output.pooled, metadata: metadata.encoded())
      }
    }
    switch source {
    case .model(let model): return try calibration.scores(logits(model, output))
    case .ensemble(let ensemble):
      let votes = zip(ensemble.members, output.members).map { logits($0.model, $1) }
      return try calibration.scores(ensemble.vote(votes))
    }
  }
}

extension MetadataShares {
  /// Each set of logits with its name in JSON and its heading in text, in the order in which they are told.
  package var named: [(key: String, heading: String, logits: ClassScores)] {
    [
      ("imageAlone", "image", imageAlone), ("everything", "all", everything),
      ("withoutAge", "-age", withoutAge), ("withoutSex", "-sex", withoutSex),
      ("withoutSite", "-site", withoutSite),
    ]
  }

  package var orderedJSON: JSONValue {
    .object(named.map { (key: $0.key, value: $0.logits.orderedJSON) })
  }
}
