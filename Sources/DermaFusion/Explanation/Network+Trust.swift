import NetworkModule
import TensorModule

extension Network {
  /// Measures how far maps can be believed: see ``MapTrust``.
  ///
  /// - Parameters:
  ///   - maps: Maps of one layer that this network made of `pixels` and `metadata`.
  ///   - pixels: `[inputSize, inputSize, 3]`, normalised.
  ///   - metadata: as it went in.
  ///   - probabilities: Of each class, from what a run gives.
  ///   - onRun: Is told of each of ``MapTrust/runCount(maps:)`` runs.
  /// - Returns: For each map, in their order, what was found.
  package func trust<Failure: Error>(
    in maps: [ActivationMap], pixels: [Float], metadata: MetadataVector,
    onRun: @escaping () -> Void = {}, probabilities: (NetworkOutput) throws(Failure) -> [Double]
  ) throws(Failure) -> [MapTrust] {
    guard let first = maps.first else { return [] }
    for map in maps {
      precondition(
        map.size == inputSize, "a map of \(map.size)x\(map.size) for a model of \(inputSize)x\(inputSize)")
      precondition(
        (map.layer, map.height, map.width) == (first.layer, first.height, first.width),
        "maps of \(map.layer), \(map.height)x\(map.width), and \(first.layer), \(first.height)x\(first.width)"
      )
    }
    return try withoutActuallyEscaping(probabilities) { (probabilities) throws(Failure) in
      let check = PerturbationCheck<Failure>(
        pixels: pixels, size: inputSize,
        probabilities: { (pixels) throws(Failure) in
          onRun()
          return try unsafe probabilities(
            self.run(metadata: metadata, writeInput: { unsafe $0.update(from: pixels, count: pixels.count) }))
        })
      var generator = SplitMix64(seed: 20_261_121)
      var random: [PerturbationCheck<Failure>.Areas] = []
      for _ in 0..<Self.randomMapCount {
        let noise = (0..<first.height * first.width).map { _ in Float(generator.next() >> 40) * 0x1p-24 }
        random.append(
          try check.areas(
            Heatmap.resized(noise, height: first.height, width: first.width, side: inputSize)))
      }
      let heads = (0..<Self.shuffledHeadCount).map { _ in head.shuffled(using: &generator) }
      var trusts: [MapTrust] = []
      for map in maps {
        let index = map.classIndex
        let areas = try check.areas(map.values)
        trusts.append(
          MapTrust(
            deletionAUC: areas.deletion[index], insertionAUC: areas.insertion[index],
            randomDeletionAUC: random.reduce(0) { $0 + $1.deletion[index] / Double(random.count) },
            randomInsertionAUC: random.reduce(0) { $0 + $1.insertion[index] / Double(random.count) },
            shuffledHeadCorrelation: meanCorrelation(
              of: map, withMapsOf: heads, pixels: pixels, metadata: metadata)))
      }
      return trusts
    }
  }

  static var randomMapCount: Int { 3 }
  private static var shuffledHeadCount: Int { 5 }

  /// The mean correlation; `nil` when a map has no variance.
  private func meanCorrelation(
    of map: ActivationMap, withMapsOf heads: [ClassifierHead], pixels: [Float], metadata: MetadataVector
  ) -> Double? {
    let run = unsafe runWithGradients(
      layer: map.layer, metadata: metadata, needsGradients: map.method.usesGradient,
      logits: { _ in heads.map { ($0, map.classIndex) } },
      writeInput: { unsafe $0.update(from: pixels, count: pixels.count) })
    var sum = 0.0
    for index in heads.indices {
      let other = map.method.signedMap(
        activations: run.activations, gradient: map.method.usesGradient ? run.gradients[index] : nil)
      guard let value = correlation(map.signedValues, other) else { return nil }
      sum += value / Double(heads.count)
    }
    return sum
  }
}

/// Pearson's correlation; nil when one of the two has no variance or is not finite.
func correlation(_ a: [Float], _ b: [Float]) -> Double? {
  precondition(a.count == b.count, "\(a.count) values correlated with \(b.count)")
  let means = (
    a.reduce(0) { $0 + Double($1) } / Double(a.count), b.reduce(0) { $0 + Double($1) } / Double(b.count)
  )
  var (ab, aa, bb) = (0.0, 0.0, 0.0)
  for i in a.indices {
    let (x, y) = (Double(a[i]) - means.0, Double(b[i]) - means.1)
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return aa > 0 && bb > 0 && ab.isFinite ? ab / (aa * bb).squareRoot() : nil
}

extension MapTrust {
  /// Runs of the network that measuring so many maps takes, those of the randomisation check left out.
  package static func runCount(maps: Int) -> Int {
    (Network.randomMapCount + maps) * 2 * (PerturbationCheck<Never>.steps + 1)
  }
}
