import ImagePipeline
import NetworkModule
import SystemModule

extension Classifier {
  /// Measures how far maps can be trusted. Takes about 100 runs of the network and 35 more for each map; the same input
  /// gives the same numbers.
  ///
  /// - Parameters:
  ///   - maps: maps of one layer that this classifier made of `image` and `metadata`, as an ``Explanation`` has them.
  ///   - image: the image that was explained.
  ///   - metadata: the metadata that went in.
  /// - Precondition: the maps are of one layer, and their ``ActivationMap/size`` is this model's input size.
  /// - Returns: for each map, in their order, what was found.
  /// - Throws: ``DermaFusionError``: ``DermaFusionError/Code/invalidImage``, ``DermaFusionError/Code/unknownLayer``,
  ///   ``DermaFusionError/Code/ensembleNotExplained`` or ``DermaFusionError/Code/nonFiniteOutput``.
  public func trust(
    in maps: [ActivationMap], of image: PixelImage, metadata: PatientMetadata = .unknown
  ) throws(DermaFusionError) -> [MapTrust] {
    try trust(in: maps, of: preprocessed(image), metadata: metadata)
  }

  /// ``trust(in:of:metadata:)`` that tells of each of ``MapTrust/runCount(maps:)`` runs of the network.
  package func trust(
    in maps: [ActivationMap], of input: PreprocessedImage, metadata: PatientMetadata,
    onRun: @escaping () -> Void = {}
  ) throws(DermaFusionError) -> [MapTrust] {
    if maps.isEmpty { return [] }
    let network = try singleModel().network
    for map in maps { _ = try network.layerName(map.layer) }
    var pixels = [Float](repeating: 0, count: input.normalizedCount)
    unsafe pixels.withUnsafeMutableBufferPointer { unsafe input.writeNormalizedNHWC(to: $0.baseAddress!) }
    return try network.trust(
      in: maps, pixels: pixels, metadata: metadata.filled(from: input.patient).encoded(), onRun: onRun
    ) {
      (output) throws(DermaFusionError) in
      try calibration.probabilities(output.logits).values.map { Double($0) }
    }
  }
}
