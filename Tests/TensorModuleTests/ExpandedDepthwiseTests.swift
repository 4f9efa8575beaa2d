import KernelInterface
import ReferenceLayers
import TestModels
import Testing

@testable import TensorModule

@Suite struct ExpandedDepthwiseTests {
  struct Case: CustomTestStringConvertible {
    let height: Int
    let width: Int
    let inputChannels: Int
    let channels: Int
    let window: Window

    init(_ height: Int, _ width: Int, _ inputChannels: Int, _ channels: Int, _ window: Window) {
      self.height = height
      self.width = width
      self.inputChannels = inputChannels
      self.channels = channels
      self.window = window
    }

    var input: FeatureShape { FeatureShape(height: height, width: width, channels: inputChannels) }

    var testDescription: String {
      "\(input) to \(channels), window \(window.kernelSize) / \(window.stride)"
    }
  }

  static let cases: [Case] = [
    // Smaller than the window.
    Case(1, 1, 2, 9, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(3, 5, 1, 1, Window(kernelSize: 5, padding: .same)),
    Case(2, 9, 3, 17, Window(kernelSize: 7, padding: .symmetric(3))),
    // Small images, odd and even.
    Case(9, 7, 5, 19, Window(kernelSize: 3, padding: .same)),
    Case(12, 12, 6, 40, Window(kernelSize: 5, padding: .symmetric(2))),
    Case(12, 13, 4, 24, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(13, 12, 4, 24, Window(kernelSize: 5, stride: 2, padding: .same)),
    Case(10, 11, 3, 12, Window(kernelSize: 1, stride: 3, padding: .symmetric(0))),
    // As wide as the network's first layers: the ring wraps and the channels are cut into blocks.
    Case(26, 381, 3, 40, Window(kernelSize: 3, stride: 2, padding: .same)),
    Case(27, 380, 3, 24, Window(kernelSize: 5, stride: 2, padding: .same)),
    Case(14, 400, 2, 56, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(12, 190, 3, 112, Window(kernelSize: 7, stride: 3, padding: .symmetric(3))),
    // High enough for several bands.
    Case(50, 13, 4, 33, Window(kernelSize: 3, padding: .symmetric(1))),
    Case(131, 20, 2, 16, Window(kernelSize: 5, stride: 2, padding: .same)),
    Case(370, 150, 2, 24, Window(kernelSize: 3, padding: .same)),
  ]

  /// The cases are worth nothing if they do not reach what they were chosen for.
  @Test(arguments: KernelChoice.runnable)
  func casesReachBandsBlocksAndWraps(kernels: KernelSet) {
    let plans = Self.cases.flatMap { item in
      let (layer, _) = layer(item, expands: true, activation: .relu, seed: 1, kernels: kernels)
      return Pools.all.map { layer.plan(item.input, threadCount: $0.threadCount) }
    }
    let cuts = plans.flatMap { [($0.input.height, $0.alone), ($0.input.height, $0.shared)] }
    #expect(cuts.contains { $1.channelBlocks.count > 1 })
    #expect(cuts.contains { $1.ringRowCount < $0 && $1.bandCount == 1 })
    #expect(cuts.contains { $1.ringRowCount < $1.rowsPerBand && $1.bandCount > 1 })
    #expect(cuts.contains { $1.ringRowCount == $0 })
    #expect(plans.contains { $0.ringSides != .none })
    #expect(plans.contains { $0.ringSides == .none })
    #expect(plans.allSatisfy { $0.sumCount <= 16 })
  }

  /// Layers of the shipped model and of EfficientNet-B4, wide and narrow, high and low.
  @Test(arguments: KernelChoice.runnable, [2, 4, 8, 12, 16])
  func eachThreadHasAsMuchToDo(kernels: KernelSet, threadCount: Int) {
    let (three, five) = (Window(kernelSize: 3, padding: .same), Window(kernelSize: 5, padding: .same))
    for item in [
      Case(95, 95, 24, 144, three), Case(95, 95, 32, 192, three), Case(48, 48, 48, 288, five),
      Case(48, 48, 56, 336, five), Case(24, 24, 112, 672, three), Case(24, 24, 160, 960, five),
      Case(12, 12, 208, 1248, five), Case(12, 12, 448, 2688, three),
    ] {
      let (layer, _) = layer(item, expands: true, activation: .relu, seed: 1, kernels: kernels)
      let plan = layer.plan(item.input, threadCount: threadCount)
      // The pixels of a thread that has the most, by whole blocks and bands, against an even share.
      let rounds = (plan.shared.taskCount + threadCount - 1) / threadCount
      let most = rounds * plan.shared.rowsPerBand * plan.shared.widestBlock
      let share = Double(item.height * item.channels) / Double(threadCount)
      #expect(
        Double(most) < 1.7 * share,
        "\(kernels.testDescription), \(item.testDescription): \(plan.shared.taskCount) tasks, \(most) of \(share)"
      )
    }
  }

  @Test(arguments: KernelChoice.runnable, cases)
  func equalsTheReferenceForAnyNumberOfThreads(kernels: KernelSet, item: Case) {
    for expands in [true, false] {
      let activation = Activation.allCases[(item.width + (expands ? 1 : 0)) % Activation.allCases.count]
      check(item, expands: expands, activation: activation, kernels: kernels)
    }
  }

  private func check(_ item: Case, expands: Bool, activation: Activation, kernels: KernelSet) {
    let seed = UInt64(item.height * 1000 + item.width)
    let (layer, expected) = layer(
      item, expands: expands, activation: activation, seed: seed, kernels: kernels)
    var generator = SeededGenerator(seed: seed)
    var shape = item.input
    shape.channels = expands ? item.inputChannels : item.channels
    let values = generator.floats(shape.pixelCount * shape.channels, scale: 2)
    let input = GuardedMap(values, shape, kernels: kernels)
    let reference = expected(
      ReferenceMap(height: shape.height, width: shape.width, channels: shape.channels, values: values))
    let padded = layer.depthwise.paddedChannels
    var first: (output: [Float], sums: [Float])?
    for pool in Pools.all {
      let context: Comment = """
        \(kernels.testDescription), \(item.testDescription), expands: \(expands), \(activation), \
        \(pool.threadCount) threads, seed \(seed)
        """
      let plan = layer.plan(shape, threadCount: pool.threadCount)
      let output = GuardedMap(plan.output, kernels: kernels)
      let sums = GuardedBuffer(count: plan.sumCount * padded)
      let scratch = GuardedBuffer(count: plan.scratchCount)
      layer(
        input.map, into: output.map, sums: sums.pointer, plan: plan, scratch: scratch.pointer, pool: pool)
      #expect(output.isIntact && input.isIntact, context)
      #expect(sums.firstBrokenGuard == nil && scratch.firstBrokenGuard == nil, context)
      let dense = output.dense()
      let rows = (0..<plan.sumCount).flatMap { row in
        (0..<item.channels).map { sums.pointer[row * padded + $0] }
      }
      guard let first else {
        first = (dense, rows)
        #expect(reference.mismatch(dense, factor: Tolerances.expandedDepthwise) == nil, context)
        let total = (0..<item.channels).map { channel in
          (0..<plan.sumCount).reduce(Float(0)) { $0 + rows[$1 * item.channels + channel] }
        }
        #expect(reference.summed().mismatch(total, factor: Tolerances.sumOfPixels) == nil, context)
        // The sums are optional and do not change the output.
        let other = GuardedMap(plan.output, kernels: kernels)
        layer(input.map, into: other.map, sums: nil, plan: plan, scratch: scratch.pointer, pool: pool)
        #expect(firstDifference(other.dense(), dense) == nil, context)
        continue
      }
      #expect(firstDifference(dense, first.output) == nil, context)
      #expect(firstDifference(rows, first.sums) == nil, context)
    }
  }

  /// The masks of both activations against the values of the layers one after the other. Bands expand some rows twice.
  @Test(arguments: KernelChoice.runnable, cases)
  func masksAreThoseOfTheValues(kernels: KernelSet, item: Case) {
    let seed = UInt64(item.height * 1000 + item.width)
    for (activation, expansion) in [(Activation.relu6, Activation.relu), (.relu, .relu6)] {
      let (layer, _) = layer(
        item, expands: true, activation: activation, expansionActivation: expansion, seed: seed,
        kernels: kernels)
      var generator = SeededGenerator(seed: seed)
      let values = generator.floats(item.input.pixelCount * item.inputChannels, scale: 4)
      let input = GuardedMap(values, item.input, kernels: kernels)
      let expanded = GuardedMap(layer.expandedShape(item.input), kernels: kernels)
      let alone = GuardedBuffer(count: layer.expansion!.scratchCount(item.input, pool: Pools.alone))
      layer.expansion!(input.map, into: expanded.map, scratch: alone.pointer, pool: Pools.alone)
      for pool in Pools.all {
        let context: Comment =
          "\(kernels.testDescription), \(item.testDescription), \(pool.threadCount) threads, seed \(seed)"
        let plan = layer.plan(item.input, threadCount: pool.threadCount)
        let scratch = GuardedBuffer(count: plan.scratchCount)
        let output = GuardedMap(plan.output, kernels: kernels)
        let counts = [plan.output, expanded.map.shape].map { GradientMask.count($0, kernels: kernels) }
        let memory = GuardedBuffer(count: counts[0] + counts[1])
        let masks = layer.masks(item.input, at: memory.pointer)
        layer(
          input.map, into: output.map, sums: nil, masks: masks, plan: plan, scratch: scratch.pointer,
          pool: pool)
        #expect(memory.firstBrokenGuard == nil && output.isIntact, context)
        expectMask(
          masks.output!, of: output.map, rows: Set(0..<plan.output.height), kernels: kernels, context)
        // Nobody asks for the bits of rows that no window reads.
        let top = item.window.resolve(height: item.height, width: item.width).top
        let read = (0..<plan.output.height).flatMap { y in
          (0..<item.window.kernelSize).map { y * item.window.stride - top + $0 }
        }
        expectMask(
          masks.expanded!, of: expanded.map, rows: Set(read).intersection(0..<item.height), kernels: kernels,
          context)
      }
    }
  }

  /// Compares a mask with the derivative at a map's values, in some rows.
  private func expectMask(
    _ mask: GradientMask, of map: FeatureMap, rows: Set<Int>, kernels: KernelSet, _ context: Comment
  ) {
    var generator = SeededGenerator(seed: 5)
    let gradient = generator.floats(map.shape.pixelCount * map.shape.channels)
    let results = [0, 1].map { _ in GuardedMap(gradient, map.shape, kernels: kernels) }
    ActivationBelow(mask).apply(to: results[0].map, kernels: kernels, pool: Pools.two)
    ActivationBelow(mask.activation, at: map).apply(to: results[1].map, kernels: kernels, pool: Pools.two)
    let rowCount = map.shape.width * map.shape.channels
    for row in rows.sorted() {
      let places = row * rowCount..<(row + 1) * rowCount
      let (found, expected) = (Array(results[0].dense()[places]), Array(results[1].dense()[places]))
      #expect(firstDifference(found, expected) == nil, context)
    }
    #expect(results[0].isIntact && results[1].isIntact, context)
  }

  /// The layer, and what computes the same in Double.
  private func layer(
    _ item: Case, expands: Bool, activation: Activation, expansionActivation: Activation = .silu,
    seed: UInt64, kernels: KernelSet
  ) -> (ExpandedDepthwise, (ReferenceMap) -> ReferenceMap) {
    var generator = SeededGenerator(seed: seed &+ 1)
    let window = item.window
    let taps = window.kernelSize * window.kernelSize
    let expandWeight = generator.floats(item.channels * item.inputChannels)
    let expandBias = generator.floats(item.channels)
    let weight = generator.floats(item.channels * taps)
    let bias = generator.floats(item.channels)
    let layer = ExpandedDepthwise(
      expansion: expands
        ? Convolution2D(
          linear: expandWeight, bias: expandBias, inputChannels: item.inputChannels,
          activation: expansionActivation, kernels: kernels) : nil,
      depthwise: DepthwiseConvolution2D(
        weight: weight, bias: bias, window: window, activation: activation, kernels: kernels))
    return (
      layer,
      { input in
        let expanded =
          expands
          ? input.pointwise(weight: expandWeight, bias: expandBias).activated(expansionActivation.reference)
          : input
        return expanded.depthwise(
          weight: weight, bias: bias, kernelSize: window.kernelSize, stride: window.stride,
          padding: window.padding.reference
        ).activated(activation.reference)
      }
    )
  }
}
