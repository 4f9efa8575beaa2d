import ExplanationModule
import ImagePipeline
import NetworkModule

extension Classifier {
  /// Measures how far maps can be believed. Takes about 100 runs of the network and 35 more for each map; the same input
  /// gives the same numbers.
  ///
  /// - Parameters:
  ///   - maps: maps of one layer that this classifier made of `image` and `metadata`, as an ``Explanation`` has them.
  ///   - image: the image that was explained.
  ///   - metadata: the metadata that went in.
  /// - Precondition: the maps are of one layer, and their ``ActivationMap/size`` is this model's input size.
  /// - Returns: for each map, in their order, what was found.
  /// - Throws: ``ImageError``; ``ClassifierError/nonFiniteLogits(_:)``;
  ///   ``ClassifierError/ensembleNotExplained(file:members:)``; ``ActivationMapError``, also for a layer that this model
  ///   does not have.
  public func trust(
    in maps: [ActivationMap], of image: PixelImage, metadata: PatientMetadata = .unknown
  ) throws -> [MapTrust] {
    if maps.isEmpty { return [] }
    let network = try explainedNetwork()
    for map in maps { _ = try network.layerName(map.layer) }
    let input = try preprocessor(image)
    var pixels = [Float](repeating: 0, count: input.normalizedCount)
    pixels.withUnsafeMutableBufferPointer { input.writeNormalizedNHWC(to: $0.baseAddress!) }
    return try network.trust(in: maps, pixels: pixels, metadata: metadata.encoded()) {
      (output) throws(ClassifierError) in
      guard output.logits.allSatisfy({ $0.isFinite }) else { throw .nonFiniteLogits(output.logits) }
      let scores = ClassScores(output.logits).softmax(temperature: configuration.temperature)
      return scores.values.map { Double($0) }
    }
  }
}
