import Files
import ImagePipeline
import NetworkModule
import SystemModule

/// Models that get the same input and whose probabilities are averaged, as `Scripts/dermafusion_training/model/ensemble.py` defines.
public struct Ensemble: Sendable {
  /// One model that votes.
  public struct Member: Sendable {
    /// The name of its folder.
    public let folder: String
    /// Its share of the vote before the shares are divided by their sum; above 0.
    public let weight: Double
    /// The model.
    public let model: Model
  }

  /// At least one, in the order of the vote, with the same labels and the same preprocessing.
  public let members: [Member]
  /// The ensemble's own name, version and temperature, with the settings that its members share.
  package let configuration: ModelConfiguration
  /// The path of the ensemble's `config.json`, for errors.
  let file: String
  private let sha256: @Sendable () -> String

  /// Loads the members, which share one set of threads.
  init(
    _ folder: EnsembleFolder, threadCount: Int?, precision: Precision? = nil
  ) throws(DermaFusionError) {
    folder.digest.prepare()
    var models: [Model] = []
    for member in folder.members {
      let member = try member.computed(in: precision)
      models.append(try Model(member, threadCount: threadCount, pool: models.first?.network.pool))
    }
    self.init(
      folder.configuration, file: folder.configurationPath, models: models,
      sha256: { [digest = folder.digest] in digest.sha256 })
  }

  /// - Parameters:
  ///   - models: one for each member of the configuration, in its order.
  ///   - sha256: the ensemble's identity.
  package init(
    _ ensemble: EnsembleConfiguration, file: String = ConfigurationFile.name, models: [Model],
    sha256: @escaping @Sendable () -> String
  ) {
    precondition(
      ensemble.members.count == models.count,
      "\(models.count) models for an ensemble of \(ensemble.members.count)")
    members = zip(ensemble.members, models).map {
      Member(folder: $0.folder, weight: $0.weight, model: $1)
    }
    configuration = ModelConfiguration(ensemble, members: models.map { $0.configuration })
    self.file = file
    self.sha256 = sha256
  }

  /// The ensemble that results name.
  public var identity: ModelIdentity {
    ModelIdentity(name: configuration.name, version: configuration.version, sha256: sha256())
  }

  /// Runs the members one after the other, each averaging its own views, and computes the logits of their vote.
  package func output(
    of image: PreprocessedImage, metadata: MetadataVector, views: ImageViews
  ) throws(DermaFusionError) -> NetworkOutput {
    let outputs = members.map { $0.model.output(of: image, metadata: metadata, views: views) }
    return NetworkOutput(logits: try vote(outputs.map { $0.logits }), pooled: [], members: outputs)
  }

  /// The logarithms of the weighted mean of the members' probabilities, each at its own temperature; in Double, added up
  /// in the members' order and rounded once.
  ///
  /// - Parameter logits: `[members][classes]`
  func vote(_ logits: [[Float]]) throws(DermaFusionError) -> [Float] {
    let total = members.reduce(0) { $0 + $1.weight }
    var terms: [[Double]] = []
    for (index, member) in members.enumerated() {
      let scores = try member.model.temperature.scores(logits[index])
      let scaled = scores.values.map { Double($0) / member.model.configuration.temperature }
      let offset = Mathematics.log(member.weight / total) - Self.logOfSum(scaled)
      terms.append(scaled.map { $0 + offset })
    }
    return terms[0].indices.map { index in
      // Added up as logarithms a probability never becomes 0, however far its logit is below the others.
      let value = Self.logOfSum(terms.map { $0[index] })
      return Float(max(value, -Double(Float.greatestFiniteMagnitude)))
    }
  }

  /// ln(sum of exp(value)), without overflow.
  private static func logOfSum(_ values: [Double]) -> Double {
    let greatest = values.reduce(-.infinity, max)
    return greatest + Mathematics.log(values.reduce(0) { $0 + Mathematics.exp($1 - greatest) })
  }
}
