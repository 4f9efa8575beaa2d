import ImagePipeline
import TensorModule

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
    guard let first = maps.first else { return [] }
    let network = try explainedNetwork()
    for map in maps {
      _ = try network.layerName(map.layer)
      precondition(
        map.size == network.inputSize,
        "a map of \(map.size)x\(map.size) for a model of \(network.inputSize)x\(network.inputSize)")
      precondition(
        (map.layer, map.height, map.width) == (first.layer, first.height, first.width),
        "maps of \(map.layer), \(map.height)x\(map.width), and \(first.layer), \(first.height)x\(first.width)"
      )
    }
    let input = try preprocessor(image)
    var pixels = [Float](repeating: 0, count: input.normalizedCount)
    pixels.withUnsafeMutableBufferPointer { input.writeNormalizedNHWC(to: $0.baseAddress!) }
    let check = PerturbationCheck(
      pixels: pixels, size: network.inputSize,
      probabilities: { pixels in
        let output = network.run(
          metadata: metadata.encoded(), writeInput: { $0.update(from: pixels, count: pixels.count) })
        guard output.logits.allSatisfy(\.isFinite) else {
          throw ClassifierError.nonFiniteLogits(output.logits)
        }
        let scores = ClassScores(output.logits).softmax(temperature: self.configuration.temperature)
        return scores.values.map(Double.init)
      })
    var generator = SplitMix64(seed: 20_261_121)
    let random = try (0..<Self.randomMapCount).map { _ in
      let noise = (0..<first.height * first.width).map { _ in Float(generator.next() >> 40) * 0x1p-24 }
      return try check.areas(
        Heatmap.resized(noise, height: first.height, width: first.width, side: network.inputSize))
    }
    let heads = (0..<Self.shuffledHeadCount).map { _ in network.head.shuffled(using: &generator) }
    return try maps.map { map in
      let index = map.lesionClass.index
      let areas = try check.areas(map.values)
      return MapTrust(
        deletionAUC: areas.deletion[index], insertionAUC: areas.insertion[index],
        randomDeletionAUC: random.reduce(0) { $0 + $1.deletion[index] / Double(random.count) },
        randomInsertionAUC: random.reduce(0) { $0 + $1.insertion[index] / Double(random.count) },
        shuffledHeadCorrelation: try meanCorrelation(
          of: map, withMapsOf: heads, network: network, pixels: pixels, metadata: metadata))
    }
  }

  private static let randomMapCount = 3
  private static let shuffledHeadCount = 5

  /// The mean correlation; `nil` when a map has no variance.
  private func meanCorrelation(
    of map: ActivationMap, withMapsOf heads: [ClassifierHead], network: Network, pixels: [Float],
    metadata: PatientMetadata
  ) throws -> Double? {
    let run = network.runWithGradients(
      layer: map.layer, metadata: metadata.encoded(), needsGradients: map.method.usesGradient,
      logits: { _ in heads.map { ($0, map.lesionClass.index) } },
      writeInput: { $0.update(from: pixels, count: pixels.count) })
    var sum = 0.0
    for index in heads.indices {
      let other = try ActivationMap(
        lesionClass: map.lesionClass, method: map.method, layer: map.layer, activations: run.activations,
        gradient: map.method.usesGradient ? run.gradients[index] : nil, size: map.size)
      guard let value = correlation(map.signedValues, other.signedValues) else { return nil }
      sum += value / Double(heads.count)
    }
    return sum
  }
}
