import ImagePipeline
import TensorModule

extension Classifier {
  /// Measures how far a map can be believed. Takes about 140 runs of the network; the same input gives the same numbers.
  ///
  /// - Parameters:
  ///   - map: a map that this classifier made of `image` and `metadata`.
  ///   - image: the image that was explained.
  ///   - metadata: the metadata that went in.
  /// - Throws: ``ClassifierError/nonFiniteLogits(_:)``, ``ActivationMapError/notFinite(lesionClass:layer:)``, or an error
  ///   that names the rule which the image broke.
  public func trust(
    in map: ActivationMap, of image: PixelImage, metadata: PatientMetadata = .unknown
  ) throws -> MapTrust {
    let network = try explainedNetwork()
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

/// Pearson's correlation; nil when one of the two has no variance.
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
  return aa > 0 && bb > 0 ? ab / (aa * bb).squareRoot() : nil
}

/// Hides and shows parts of an image in the order of a map, and watches a probability.
struct PerturbationCheck {
  /// `[size, size, 3]`, normalised.
  let pixels: [Float]
  let size: Int
  let probability: ([Float]) throws -> Double

  /// Equal parts that the image is hidden in.
  private static let steps = 16
  /// Blurring leaves this many means across the image: about the width of RISE's Gaussian.
  private static let blurCells = 4

  /// The area under the probability against the share of the image that is hidden or shown, strongest places first.
  ///
  /// - Parameter map: `[size, size]`
  func areas(_ map: [Float]) throws -> (deletion: Double, insertion: Double) {
    // Equal values keep the order of the image, so that the answer does not depend on the sort.
    let order = map.indices.sorted { (map[$0], $1) > (map[$1], $0) }
    return (
      try area(order, from: pixels, to: meanColour()), try area(order, from: blurred(), to: pixels)
    )
  }

  private func area(_ order: [Int], from start: [Float], to end: [Float]) throws -> Double {
    var current = start
    var values = [try probability(current)]
    for step in 0..<Self.steps {
      for pixel in order[order.count * step / Self.steps..<order.count * (step + 1) / Self.steps] {
        for channel in 0..<3 { current[pixel * 3 + channel] = end[pixel * 3 + channel] }
      }
      values.append(try probability(current))
    }
    let ends = (values[0] + values[values.count - 1]) / 2
    return (values.reduce(0, +) - ends) / Double(Self.steps)
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
    switch self {
    case .dense(let layer): return .dense(layer.shuffled(using: &generator))
    case .fusion(var head):
      head.hidden = head.hidden.shuffled(using: &generator)
      head.classifier = head.classifier.shuffled(using: &generator)
      return .fusion(head)
    }
  }
}

extension Dense {
  fileprivate func shuffled(using generator: inout SplitMix64) -> Dense {
    var weight = weight
    for last in stride(from: weight.count - 1, to: 0, by: -1) {
      weight.swapAt(last, generator.index(below: last + 1))
    }
    let bias = self([Float](repeating: 0, count: matrix.depth))
    return Dense(weight: weight, bias: bias, activation: activation, kernels: matrix.kernels)
  }
}
