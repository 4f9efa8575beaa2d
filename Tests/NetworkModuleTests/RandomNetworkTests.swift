import Files
import KernelInterface
import ReferenceLayers
import SystemModule
import TensorModule
import TestModels
import Testing

@testable import NetworkModule

/// Random lists of operations against plain loops in Double, forward and backward. A failure prints its seed.
@Suite struct RandomNetworkTests {
  private static let seeds: Range<UInt64> = 0..<32
  private static let metadata = MetadataVector(age: 0, isAgeMissing: true, sexIndex: 2, siteIndex: 0)

  /// A network and an image whose arguments all keep away from kinks, where rounding would change the gradient.
  private static func random(_ seed: UInt64) throws -> (network: ReferenceNetwork, image: [Float]) {
    var generator = SeededGenerator(seed: seed &* 7919)
    for _ in 0..<50 {
      let builder = NetworkBuilder.random(using: &generator)
      let network = ReferenceNetwork(builder, using: &generator)
      let size = builder.list.image.height
      let image = generator.floats(size * size * 3, scale: 2)
      if network.leastDistanceToKink(reference(network, image)) > 5e-6 { return (network, image) }
    }
    throw NoClearNetwork(seed: seed)
  }

  private struct NoClearNetwork: Error {
    let seed: UInt64
  }

  /// The maps of all marks, and the logits.
  private static func run(_ network: Network, _ image: [Float]) -> (maps: [[Float]], logits: [Float]) {
    var maps: [[Float]] = []
    let output = network.run(
      metadata: metadata, writeInput: { $0.update(from: image, count: image.count) },
      observe: { _, map in maps.append(map.dense()) })
    return (maps, output.logits)
  }

  private static func gradients(_ network: Network, _ image: [Float], at mark: String) -> [[Float]] {
    network.runWithGradients(
      layer: mark, metadata: metadata, needsGradients: true, classes: [0, 1],
      writeInput: { $0.update(from: image, count: image.count) }
    ).gradients.map(\.values)
  }

  private static func reference(_ network: ReferenceNetwork, _ image: [Float]) -> [Value: ReferenceMap] {
    let size = network.builder.list.image.height
    return network.run(ReferenceMap(height: size, width: size, channels: 3, values: image))
  }

  /// The greatest difference, relative to the greatest value.
  ///
  /// - Parameter floor: The least that a value is divided by.
  private static func difference(_ found: [Float], _ expected: [Double], floor: Double = 1e-6) -> Double {
    guard found.count == expected.count else { return .infinity }
    let scale = expected.reduce(floor) { max($0, abs($1)) }
    return zip(found, expected).reduce(0) {
      let difference = abs(Double($1.0) - $1.1) / scale
      return difference.isNaN ? .infinity : max($0, difference)
    }
  }

  @Test(arguments: seeds) func mapsAreThoseOfPlainLoops(seed: UInt64) throws {
    let (network, image) = try Self.random(seed)
    let expected = Self.reference(network, image)
    let marks = network.builder.list.marks
    for kernels in KernelChoice.runnable {
      let found = Self.run(try network.network(kernels: kernels), image)
      for (mark, map) in zip(marks, found.maps) {
        // Those tokens that are on the grid.
        let values = expected[mark.value]!.values.suffix(map.count)
        let difference = Self.difference(map, Array(values))
        #expect(difference < 2e-5, "seed \(seed), \(kernels.instructionSet), \(mark.name)")
      }
      let logits = network.logits(expected, with: expected[marks[0].value]!, at: marks[0].value)
      #expect(Self.difference(found.logits, logits) < 2e-5, "seed \(seed), \(kernels.instructionSet)")
    }
  }

  @Test(arguments: seeds) func gradientsAreThoseOfDifferences(seed: UInt64) throws {
    let (network, image) = try Self.random(seed)
    let maps = Self.reference(network, image)
    for mark in network.builder.list.marks {
      let map = maps[mark.value]!
      // Those tokens that are on the grid.
      let first =
        map.values.count - (mark.grid ?? network.builder.shape(mark.value)).pixelCount * map.channels
      let count = map.values.count - first
      let places = stride(from: 0, to: count, by: max(count / 12, 1) | 1)
      var expected: [[Double]] = [[], []]
      for place in places {
        // So small a step hardly ever crosses a kink.
        let ends = [5e-7, -5e-7].map { step in
          var moved = map
          moved.values[first + place] += step
          return network.logits(maps, with: moved, at: mark.value)
        }
        for logit in 0..<2 { expected[logit].append((ends[0][logit] - ends[1][logit]) / 1e-6) }
      }
      for kernels in KernelChoice.runnable {
        let found = Self.gradients(try network.network(kernels: kernels), image, at: mark.name)
        for logit in 0..<2 {
          // Where one pixel alone is pooled, most places have nothing but rounding; and differences of logits resolve no
          // gradient below 1e-9.
          let floor = found[logit].reduce(1e-4) { max($0, Double(abs($1))) }
          let difference = Self.difference(
            places.map { found[logit][$0] }, expected[logit], floor: floor)
          #expect(
            difference < 1e-4, "seed \(seed), \(kernels.instructionSet), \(mark.name), logit \(logit)")
        }
      }
    }
  }

  @Test(arguments: seeds) func neitherThreadsNorSharedMemoryChangeABit(seed: UInt64) throws {
    let (network, image) = try Self.random(seed)
    let first = network.builder.list.marks[0].name
    let expected = try network.network(threadCount: 1, sharesMemory: false)
    for threadCount in [1, 3] {
      let found = try network.network(threadCount: threadCount)
      #expect(found.plan.count <= expected.plan.count)
      #expect(Self.run(found, image) == Self.run(expected, image), "seed \(seed), \(threadCount) threads")
      #expect(
        Self.gradients(found, image, at: first) == Self.gradients(expected, image, at: first),
        "seed \(seed), \(threadCount) threads")
    }
  }

  private static let fusedKernels = KernelChoice.available.filter { $0.instructionSet.hasFusedProducts }

  /// Whatever the width of their vectors.
  @Test(
    .enabled(if: fusedKernels.count > 1, "needs a CPU with two sets of kernels with fused products"),
    arguments: seeds)
  func kernelsWithFusedProductsGiveTheSameBits(seed: UInt64) throws {
    let (network, image) = try Self.random(seed)
    let marks = network.builder.list.marks.map { $0.name }
    let expected = try network.network(kernels: Self.fusedKernels[0])
    let (maps, logits) = Self.run(expected, image)
    for kernels in Self.fusedKernels.dropFirst() {
      let found = try network.network(kernels: kernels)
      let place = "seed \(seed), \(expected.kernels.instructionSet) and \(kernels.instructionSet)"
      let run = Self.run(found, image)
      #expect(run.logits == logits, "\(place)")
      for (index, mark) in marks.enumerated() {
        #expect(firstDifference(run.maps[index], maps[index]) == nil, "\(place), map of \(mark)")
        let gradients = [found, expected].map { Self.gradients($0, image, at: mark).flatMap { $0 } }
        #expect(firstDifference(gradients[0], gradients[1]) == nil, "\(place), gradient at \(mark)")
      }
    }
  }

  /// Values that the forward pass keeps against those that are computed again.
  @Test func keptValuesKeepTheBitsOfGradients() throws {
    var keptCounts = [0, 0]
    func keptCount(_ network: Network) -> Int {
      network.segments(to: network.list.marks[0]).reduce(0) { $0 + $1.keptCount }
    }
    for seed in Self.seeds {
      let (network, image) = try Self.random(seed)
      let first = network.builder.list.marks[0].name
      for kernels in KernelChoice.runnable {
        let expected = try network.network(threadCount: 1, kernels: kernels, leastKept: nil)
        #expect(keptCount(expected) == 0)
        // Masks alone, everything, and what takes some work.
        for (threadCount, leastKept) in [(1, Int.max >> 32), (3, 0), (1, 0), (1, 10)] {
          let found = try network.network(threadCount: threadCount, kernels: kernels, leastKept: leastKept)
          if leastKept == 0 { keptCounts[1] += keptCount(found) } else { keptCounts[0] += keptCount(found) }
          #expect(
            Self.gradients(found, image, at: first) == Self.gradients(expected, image, at: first),
            "seed \(seed), \(kernels.instructionSet), \(threadCount) threads, from \(leastKept) on")
        }
      }
    }
    #expect(0 < keptCounts[0] && keptCounts[0] < keptCounts[1])
  }

  /// Each pass after those before it: with the same bits where it says so, otherwise within rounding.
  @Test(arguments: seeds) func passesKeepTheValues(seed: UInt64) throws {
    let passes: [(name: String, keepsBits: Bool, apply: (inout OperationList) -> Void)] = [
      ("norms", false, { $0.foldNorms() }), ("additions", true, { $0.fuseAdditions() }),
      ("activations", true, { $0.fuseActivations() }), ("gates", false, { $0.fuseGates() }),
      ("expansions", true, { $0.fuseExpansions() }),
    ]
    let (network, image) = try Self.random(seed)
    let first = network.builder.list.marks[0].name
    var before = try network.network { _ in }
    for count in passes.indices {
      let after = try network.network { list in for pass in passes[...count] { pass.apply(&list) } }
      let (a, b) = (Self.run(before, image), Self.run(after, image))
      let gradients = [before, after].map { Self.gradients($0, image, at: first) }
      if passes[count].keepsBits {
        #expect(a == b, "seed \(seed), \(passes[count].name)")
      }
      for (a, b) in zip(a.maps + gradients[0], b.maps + gradients[1]) {
        #expect(Self.difference(a, b.map(Double.init)) < 1e-4, "seed \(seed), \(passes[count].name)")
      }
      before = after
    }
    #expect(Self.run(try network.network(), image) == Self.run(before, image), "seed \(seed)")
  }
}
