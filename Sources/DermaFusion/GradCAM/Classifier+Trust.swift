import ImagePipeline
import TensorModule

extension Classifier {
  /// Measures how far a map can be believed. Takes about 140 runs of the network; the same input gives the same numbers.
  ///
  /// - Parameters:
  ///   - map: a map that this classifier made of `image` and `metadata`.
  ///   - image: the image that was explained.
  ///   - metadata: the metadata that went in.
  /// - Precondition: the map's ``ActivationMap/size`` is this model's input size.
  /// - Throws: ``ImageError``; ``ClassifierError/nonFiniteLogits(_:)``;
  ///   ``ClassifierError/ensembleNotExplained(file:members:)``; ``ActivationMapError``, also for a layer that this model
  ///   does not have.
  public func trust(
    in map: ActivationMap, of image: PixelImage, metadata: PatientMetadata = .unknown
  ) throws -> MapTrust {
    let network = try explainedNetwork()
    _ = try network.layerName(map.layer)
    precondition(
      map.size == network.inputSize,
      "a map of \(map.size)x\(map.size) for a model of \(network.inputSize)x\(network.inputSize)")
    let input = try preprocessor(image)
    var pixels = [Float](repeating: 0, count: input.normalizedCount)
    pixels.withUnsafeMutableBufferPointer { input.writeNormalizedNHWC(to: $0.baseAddress!) }
    let check = PerturbationCheck(
      pixels: pixels, size: network.inputSize,
      probability: { pixels in
        let output = network.run(
          metadata: metadata.encoded(), writeInput: { $0.update(from: pixels, count: pixels.count) })
        guard output.logits.allSatisfy(\.isFinite) else {
          throw ClassifierError.nonFiniteLogits(output.logits)
        }
        let scores = ClassScores(output.logits).softmax(temperature: self.configuration.temperature)
        return Double(scores[map.lesionClass])
      })
    var generator = SplitMix64(seed: 20_261_121)
    let (deletion, insertion) = try check.areas(map.values)
    var random = (deletion: 0.0, insertion: 0.0)
    for _ in 0..<Self.randomMapCount {
      let noise = (0..<map.height * map.width).map { _ in Float(generator.next() >> 40) * 0x1p-24 }
      let areas = try check.areas(
        Heatmap.resized(noise, height: map.height, width: map.width, side: network.inputSize))
      random.deletion += areas.deletion / Double(Self.randomMapCount)
      random.insertion += areas.insertion / Double(Self.randomMapCount)
    }
    return MapTrust(
      deletionAUC: deletion, insertionAUC: insertion, randomDeletionAUC: random.deletion,
      randomInsertionAUC: random.insertion,
      shuffledHeadCorrelation: try shuffledHeadCorrelation(
        of: map, network: network, pixels: pixels, metadata: metadata, generator: &generator))
  }

  /// The same for an image from a file's bytes.
  ///
  /// - Throws: see ``trust(in:of:metadata:)``.
  public func trust(
    in map: ActivationMap, ofEncodedImage bytes: [UInt8], metadata: PatientMetadata = .unknown
  ) throws -> MapTrust {
    try trust(in: map, of: ImageDecoder.decode(bytes), metadata: metadata)
  }

  private static let randomMapCount = 3
  private static let shuffledHeadCount = 5

  private func shuffledHeadCorrelation(
    of map: ActivationMap, network: Network, pixels: [Float], metadata: PatientMetadata,
    generator: inout SplitMix64
  ) throws -> Double? {
    let heads = (0..<Self.shuffledHeadCount).map { _ in network.head.shuffled(using: &generator) }
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
