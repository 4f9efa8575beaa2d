import ImagePipeline
import ModelFiles

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
  /// - Throws: ``ImageError``, or ``ClassifierError/nonFiniteLogits(_:)``.
  public func metadataShares(of image: PixelImage, metadata: PatientMetadata) throws -> MetadataShares {
    let input = try preprocessor(image)
    let images = try (ensemble?.members ?? [self]).map { member in
      let network = try member.explainedNetwork()
      let output = network.run(
        metadata: metadata.encoded(), writeInput: { input.writeNormalizedNHWC(to: $0) })
      return (head: network.head, pooled: output.pooled)
    }
    func logits(_ metadata: PatientMetadata) throws(ClassifierError) -> ClassScores {
      let ofMembers = images.map { $0.head.logits(pooled: $0.pooled, metadata: metadata.encoded()) }
      let logits = try ensemble?.vote(ofMembers) ?? ofMembers[0]
      guard logits.allSatisfy(\.isFinite) else { throw .nonFiniteLogits(logits) }
      return ClassScores(logits)
    }
    let age = metadata.ageInYears
    return MetadataShares(
      imageAlone: try logits(.unknown), everything: try logits(metadata),
      withoutAge: try logits(PatientMetadata(sex: metadata.sex, site: metadata.site)),
      withoutSex: try logits(PatientMetadata(ageInYears: age, site: metadata.site)),
      withoutSite: try logits(PatientMetadata(ageInYears: age, sex: metadata.sex)))
  }

  /// The same from a file's bytes.
  ///
  /// - Throws: see ``metadataShares(of:metadata:)``.
  public func metadataShares(
    ofEncodedImage bytes: [UInt8], metadata: PatientMetadata
  ) throws -> MetadataShares {
    try metadataShares(of: ImageDecoder.decode(bytes), metadata: metadata)
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

  package var orderedJSON: OrderedJSON {
    .object(named.map { (key: $0.key, value: $0.logits.orderedJSON) })
  }
}
