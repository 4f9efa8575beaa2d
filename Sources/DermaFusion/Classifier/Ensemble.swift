import ImagePipeline
import ModelFiles
import NetworkModule
import SystemModule

/// Models that see the same input, and whose probabilities are averaged. `Scripts/ensemble.py` is the definition.
package struct Ensemble: Sendable {
  let configuration: EnsembleConfiguration
  /// The path of the ensemble's `config.json`, for errors.
  let file: String
  /// One for each member of the configuration, in its order.
  let members: [Classifier]

  package init(configuration: EnsembleConfiguration, file: String, members: [Classifier]) {
    precondition(
      configuration.members.count == members.count,
      "\(members.count) classifiers for an ensemble of \(configuration.members.count)")
    self.configuration = configuration
    self.file = file
    self.members = members
  }

  /// What the members make of an image, one after the other, and the logits of their vote.
  ///
  /// - Parameter metadata: `[4]`, see ``PatientMetadata/encoded()``.
  func output(
    of image: PreprocessedImage, metadata: [Float], views: ImageViews
  ) throws -> NetworkOutput {
    let outputs = try members.map { try $0.output(of: image, metadata: metadata, views: views) }
    return NetworkOutput(logits: try vote(outputs.map(\.logits)), pooled: [], members: outputs)
  }

  /// The logarithms of the weighted mean of the members' probabilities, each at its own temperature; in Double, added up
  /// in the members' order and rounded once.
  ///
  /// - Parameter logits: `[members][classes]`
  /// - Throws: ``ClassifierError/nonFiniteLogits(_:)`` for the first member whose logits are not finite.
  func vote(_ logits: [[Float]]) throws(ClassifierError) -> [Float] {
    let total = configuration.members.reduce(0) { $0 + $1.weight }
    var terms: [[Double]] = []
    for (index, member) in members.enumerated() {
      guard logits[index].allSatisfy(\.isFinite) else { throw .nonFiniteLogits(logits[index]) }
      let scaled = logits[index].map { Double($0) / member.configuration.temperature }
      let offset = Mathematics.log(configuration.members[index].weight / total) - Self.logOfSum(scaled)
      terms.append(scaled.map { $0 + offset })
    }
    return terms[0].indices.map { index in
      // Added up as logarithms a probability never becomes 0, however far its logit is below the others.
      let value = Self.logOfSum(terms.map { $0[index] })
      return Float(max(value, -Double(Float.greatestFiniteMagnitude)))
    }
  }

  /// ln(sum of Mathematics.exp(value)), without overflow.
  private static func logOfSum(_ values: [Double]) -> Double {
    let greatest = values.reduce(-.infinity, max)
    return greatest + Mathematics.log(values.reduce(0) { $0 + Mathematics.exp($1 - greatest) })
  }
}
