import ImagePipeline
import JSONModule
import ModelFiles
import NetworkModule
import TensorModule

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
    let output = try output(of: preprocessor(image), metadata: metadata.encoded(), views: .upright)
    return try metadataShares(of: output, metadata: metadata)
  }

  /// The same from what the network made of an image, upright and with all of the metadata.
  package func metadataShares(
    of output: NetworkOutput, metadata: PatientMetadata
  ) throws -> MetadataShares {
    let outputs = ensemble == nil ? [output] : output.members
    let heads = try (ensemble?.members ?? [self]).map { try $0.explainedNetwork().head }
    func finite(_ logits: [Float]) throws(ClassifierError) -> ClassScores {
      guard logits.allSatisfy(\.isFinite) else { throw .nonFiniteLogits(logits) }
      return ClassScores(logits)
    }
    func logits(_ metadata: PatientMetadata) throws(ClassifierError) -> ClassScores {
      let ofMembers = ThreadPool.withDenormalsFlushed {
        zip(heads, outputs).map { head, output in
          head.logits(pooled: output.pooled, metadata: metadata.encoded())
        }
      }
      return try finite(try ensemble?.vote(ofMembers) ?? ofMembers[0])
    }
    let age = metadata.ageInYears
    return MetadataShares(
      imageAlone: try logits(.unknown), everything: try finite(output.logits),
      withoutAge: try logits(PatientMetadata(sex: metadata.sex, site: metadata.site)),
      withoutSex: try logits(PatientMetadata(ageInYears: age, site: metadata.site)),
      withoutSite: try logits(PatientMetadata(ageInYears: age, sex: metadata.sex)))
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
