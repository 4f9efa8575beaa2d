import Files
import ImagePipeline
import KernelInterface
import NetworkModule
import SystemModule
import TensorModule

/// The trust that one activation map deserves, measured on the image itself.
///
/// Deletion and insertion are those of Petsiuk et al., "RISE", 2018; the randomisation check is that of Adebayo et al.,
/// "Sanity Checks for Saliency Maps", 2018. None of them can prove a map right; each can show that it is wrong.
public struct MapTrust: Sendable, Equatable {
  /// Mean probability of the class while the map's strongest places are replaced first by the image's mean colour,
  /// 0...1. Lower is better.
  public let deletionAUC: Double
  /// Mean probability of the class while the map's strongest places are brought back first into a blurred image, 0...1.
  /// Higher is better.
  public let insertionAUC: Double
  /// ``deletionAUC`` of random maps that are as smooth, on average.
  public let randomDeletionAUC: Double
  /// ``insertionAUC`` of random maps that are as smooth, on average.
  public let randomInsertionAUC: Double
  /// Pearson's correlation of the map, before its negative part is cut off, with the maps of the same network whose
  /// head's weights were shuffled, on average: -1...1. Near 1: the map shows the image rather than what the model learned.
  /// `nil` when a map has no variance.
  public let shuffledHeadCorrelation: Double?

  /// Correlations from here on are called high.
  public static let highCorrelation = 0.5

  /// True if the map does better than random ones in deletion and in insertion, and depends on the head.
  public var passes: Bool {
    deletionAUC < randomDeletionAUC && insertionAUC > randomInsertionAUC
      && (shuffledHeadCorrelation.map { $0 < Self.highCorrelation } ?? false)
  }
}

extension MapTrust {
  /// The measurements in words, one sentence each.
  public var sentences: [String] { sentences(in: .english) }

  /// The measurements in words, one sentence each.
  public func sentences(in language: Language) -> [String] {
    func compared(_ key: String, isFaster: Bool, _ value: Double, _ random: Double) -> String {
      language[
        "trust.\(key)",
        values: [
          "how": language[isFaster ? "trust.faster" : "trust.noFaster"],
          "value": language.number(value.fixed(digits: 3)),
          "random": language.number(random.fixed(digits: 3)),
        ]]
    }
    return [
      compared("deletion", isFaster: deletionAUC < randomDeletionAUC, deletionAUC, randomDeletionAUC),
      compared("insertion", isFaster: insertionAUC > randomInsertionAUC, insertionAUC, randomInsertionAUC),
      correlationSentence(in: language), verdict(in: language),
    ]
  }

  /// The outcome of the three checks in one sentence.
  public var verdict: String { verdict(in: .english) }

  /// The outcome of the three checks in one sentence.
  public func verdict(in language: Language) -> String {
    language[passes ? "heatmap.passes" : "heatmap.fails"]
  }

  private func correlationSentence(in language: Language) -> String {
    guard let correlation = shuffledHeadCorrelation else { return language["heatmap.noVariance"] }
    return language[
      correlation < Self.highCorrelation ? "trust.depends" : "trust.shows",
      values: ["value": language.number(correlation.fixed(digits: 3))]]
  }
}

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
    try trust(in: maps, of: preprocessor(DecodedImage(image)), metadata: metadata)
  }

  /// ``trust(in:of:metadata:)`` that reports each of ``MapTrust/runCount(maps:)`` runs of the network.
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
      try temperature.probabilities(output.logits).values.map { Double($0) }
    }
  }
}

extension Network {
  /// Measures how far maps can be believed: see ``MapTrust``.
  ///
  /// - Parameters:
  ///   - maps: of one layer, which this network made of `pixels` and `metadata`.
  ///   - pixels: `[inputSize, inputSize, 3]`, normalised.
  package func trust(
    in maps: [ActivationMap], pixels: [Float], metadata: MetadataVector,
    onRun: @escaping () -> Void = {}, probabilities: (NetworkOutput) throws(DermaFusionError) -> [Double]
  ) throws(DermaFusionError) -> [MapTrust] {
    guard let first = maps.first else { return [] }
    for map in maps {
      precondition(
        map.size == inputSize, "a map of \(map.size)x\(map.size) for a model of \(inputSize)x\(inputSize)")
      precondition(
        (map.layer, map.height, map.width) == (first.layer, first.height, first.width),
        "maps of \(map.layer), \(map.height)x\(map.width), and \(first.layer), \(first.height)x\(first.width)"
      )
    }
    return try withoutActuallyEscaping(probabilities) { (probabilities) throws(DermaFusionError) in
      let check = PerturbationCheck(
        pixels: pixels, size: inputSize,
        probabilities: { (pixels) throws(DermaFusionError) in
          onRun()
          return try unsafe probabilities(
            self.run(metadata: metadata, writeInput: { unsafe $0.update(from: pixels, count: pixels.count) }))
        })
      var generator = SplitMix64(seed: 20_261_121)
      var random: [PerturbationCheck.Areas] = []
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

extension MapTrust {
  /// Runs of the network that measuring so many maps takes, those of the randomisation check left out.
  package static func runCount(maps: Int) -> Int {
    (Network.randomMapCount + maps) * 2 * (PerturbationCheck.steps + 1)
  }
}

/// Hides and shows parts of an image in the order of a map, and watches probabilities.
struct PerturbationCheck {
  /// The areas under each probability's curve.
  struct Areas {
    let deletion: [Double]
    let insertion: [Double]
  }

  /// `[size, size, 3]`, normalised.
  let pixels: [Float]
  let size: Int
  /// The probabilities for an image like ``pixels``, the same number each time.
  let probabilities: ([Float]) throws(DermaFusionError) -> [Double]

  /// Equal parts that the image is hidden in.
  static var steps: Int { 16 }
  /// Blurring leaves this many means across the image: about the width of RISE's Gaussian.
  private static var blurCells: Int { 4 }

  /// The areas under the probabilities against the share of the image that is hidden or shown, strongest places of the map first.
  func areas(_ map: [Float]) throws(DermaFusionError) -> Areas {
    // Equal values keep the order of the image, so that the answer does not depend on the sort.
    let order = map.indices.sorted { (map[$0], $1) > (map[$1], $0) }
    return Areas(
      deletion: try areas(order, from: pixels, to: meanColour()),
      insertion: try areas(order, from: blurred(), to: pixels))
  }

  private func areas(_ order: [Int], from start: [Float], to end: [Float]) throws(DermaFusionError)
    -> [Double]
  {
    var current = start
    var values = [try probabilities(current)]
    for step in 0..<Self.steps {
      for pixel in order[order.count * step / Self.steps..<order.count * (step + 1) / Self.steps] {
        for channel in 0..<3 { current[pixel * 3 + channel] = end[pixel * 3 + channel] }
      }
      values.append(try probabilities(current))
    }
    return values[0].indices.map { index in
      let ends = (values[0][index] + values[Self.steps][index]) / 2
      return (values.reduce(0) { $0 + $1[index] } - ends) / Double(Self.steps)
    }
  }

  private func meanColour() -> [Float] {
    let area = size * size
    let means = (0..<3).map { channel in
      Float((0..<area).reduce(0) { $0 + Double(pixels[$1 * 3 + channel]) } / Double(area))
    }
    return (0..<area * 3).map { means[$0 % 3] }
  }

  private func blurred() -> [Float] {
    var result = pixels
    let cells = Self.blurCells
    for channel in 0..<3 {
      var sums = [Double](repeating: 0, count: cells * cells)
      var counts = sums
      for pixel in 0..<size * size {
        let cell = pixel / size * cells / size * cells + pixel % size * cells / size
        sums[cell] += Double(pixels[pixel * 3 + channel])
        counts[cell] += 1
      }
      let means = sums.indices.map { Float(sums[$0] / counts[$0]) }
      let smooth = Heatmap.resized(means, height: cells, width: cells, side: size)
      for pixel in smooth.indices { result[pixel * 3 + channel] = smooth[pixel] }
    }
    return result
  }
}

extension ClassifierHead {
  /// The same head with the weights of its dense layers in another order: their distribution stays, what they learned is
  /// gone.
  func shuffled(using generator: inout SplitMix64) -> ClassifierHead {
    var head = self
    head.hidden = hidden?.shuffled(using: &generator)
    switch output {
    case .dense(let layer): head.output = .dense(layer.shuffled(using: &generator))
    case .fusion(var fusion):
      fusion.hidden = fusion.hidden.shuffled(using: &generator)
      fusion.classifier = fusion.classifier.shuffled(using: &generator)
      head.output = .fusion(fusion)
    case .none: break
    }
    return head
  }
}

extension Dense {
  fileprivate func shuffled(using generator: inout SplitMix64) -> Dense {
    var weight = weight
    for last in stride(from: weight.count - 1, to: 0, by: -1) {
      weight.swapAt(last, generator.index(below: last + 1))
    }
    let bias = preActivation([Float](repeating: 0, count: matrix.depth))
    return Dense(
      weight: weight, bias: bias, activation: activation, isExact: isExact, kernels: matrix.kernels)
  }
}
