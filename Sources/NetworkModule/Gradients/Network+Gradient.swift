import KernelInterface
import TensorModule

/// What a run of the network gives to those who explain it.
package struct NetworkGradients: Sendable {
  package let output: NetworkOutput
  /// The feature map of the layer asked for, `[height, width, channels]`.
  package let activations: Tensor
  /// For each logit asked for, its gradient with respect to ``activations``, of their shape.
  package let gradients: [Tensor]
}

extension Network {
  /// Runs the network on one image and works out the gradients of logits with respect to one of its feature maps.
  ///
  /// For the last map they have a closed form that costs next to nothing. For any other, the outputs of the blocks that
  /// follow are kept, and the gradients go back through the blocks one by one.
  ///
  /// - Parameters:
  ///   - layer: One of ``featureMapNames``.
  ///   - metadata: `[4]`, held fixed; ignored by a model without a fusion head.
  ///   - needsGradients: False when only the activations are wanted.
  ///   - logits: Chooses the logits, each a head and the index of one of its outputs, when the run is done.
  ///   - writeInput: Writes the normalised image, NHWC `[inputSize, inputSize, 3]`.
  package func runWithGradients(
    layer: String, metadata: MetadataVector, needsGradients: Bool,
    logits: (NetworkOutput) -> [(head: ClassifierHead, index: Int)],
    writeInput: (UnsafeMutablePointer<Float>) throws -> Void
  ) rethrows -> NetworkGradients {
    guard let index = featureMapNames.firstIndex(of: layer) else {
      preconditionFailure("no feature map \(layer) among \(featureMapNames)")
    }
    let isLast = index == featureMapNames.count - 1
    let kept = KeptMaps(
      // The last map's values stand for what its activation got where they can.
      index...(!needsGradients || isLast ? index : blocks.count + (hasReadableHead ? 1 : 0)), of: self)
    defer { kept.giveBack() }
    var position = 0
    let output = try run(
      metadata: metadata, writeInput: writeInput,
      observe: { _, map in
        kept.keep(map, at: position, pool: self.pool)
        position += 1
      })
    let activations = kept.withMap(index) { Tensor($0) }
    guard needsGradients else {
      return NetworkGradients(output: output, activations: activations, gradients: [])
    }
    let chosen = logits(output)
    let gradients = ThreadPool.withDenormalsFlushed {
      let pooledGradients = chosen.map { head, index in
        head.pooledGradient(ofLogit: index, pooled: output.pooled, metadata: metadata)
      }
      return isLast
        ? pooledGradients.map { lastMapGradient($0) }
        : gradientsThroughBlocks(to: index, kept: kept, pooledGradients)
    }
    return NetworkGradients(output: output, activations: activations, gradients: gradients)
  }

  /// The same for logits of the network's own head, by their indices.
  package func runWithGradients(
    layer: String, metadata: MetadataVector, needsGradients: Bool, classes: [Int],
    writeInput: (UnsafeMutablePointer<Float>) throws -> Void
  ) rethrows -> NetworkGradients {
    try runWithGradients(
      layer: layer, metadata: metadata, needsGradients: needsGradients,
      logits: { _ in classes.map { (head, $0) } }, writeInput: writeInput)
  }

  /// Whether the last feature map tells where its activation has which slope.
  private var hasReadableHead: Bool { headConvolution.activation.isIdempotent }

  /// The closed form: every pixel of the last map has the same share in the pooled features.
  private func lastMapGradient(_ pooledGradient: [Float]) -> Tensor {
    let buffer = AlignedBuffer(count: FeatureMap.count(plan.headShape, kernels: kernels))
    return withExtendedLifetime(buffer) {
      let map = FeatureMap(buffer.pointer, plan.headShape, kernels: kernels)
      GlobalAveragePooling.inputGradient(pooledGradient, into: map)
      return Tensor(map)
    }
  }

  /// - Parameters:
  ///   - index: The layer at whose output the way back ends: 0 is the stem, `i + 1` is block `i`.
  ///   - kept: The outputs of the layers from there on.
  private func gradientsThroughBlocks(
    to index: Int, kept: KeptMaps, _ pooledGradients: [[Float]]
  ) -> [Tensor] {
    let layouts = (index..<blocks.count).map {
      gradients.gradient(of: blocks[$0], at: $0).layout(input: featureMapShape($0))
    }
    // One gradient is read while the next is written, for each logit; the rest is scratch memory.
    let mapCount =
      (index...blocks.count).map { FeatureMap.count(featureMapShape($0), kernels: kernels) }.max() ?? 0
    let gradientCount = mapCount * pooledGradients.count
    let headCount = FeatureMap.count(plan.headShape, kernels: kernels)
    let buffer = gradients.take(
      count: 2 * gradientCount + max(layouts.map(\.count).max() ?? 0, 2 * headCount))
    defer { gradients.giveBack(buffer) }
    let scratch = buffer.pointer + 2 * gradientCount
    func maps(_ layer: Int) -> [FeatureMap] {
      pooledGradients.indices.map {
        FeatureMap(
          buffer.pointer + layer % 2 * gradientCount + $0 * mapCount, featureMapShape(layer), kernels: kernels
        )
      }
    }
    return withExtendedLifetime((buffer, kept)) {
      gradientsThroughHead(pooledGradients, kept: kept, into: maps(blocks.count), scratch: scratch)
      for blockIndex in (index..<blocks.count).reversed() {
        gradients.gradient(of: blocks[blockIndex], at: blockIndex)(
          at: kept.map(blockIndex), outputGradients: maps(blockIndex + 1), into: maps(blockIndex),
          scratch: scratch, pool: pool)
      }
      return maps(index).map { Tensor($0) }
    }
  }

  /// The gradients at the output of the last block.
  ///
  /// - Parameter scratch: Memory for two maps of the last layer's shape.
  private func gradientsThroughHead(
    _ pooledGradients: [[Float]], kept: KeptMaps, into inputGradients: [FeatureMap],
    scratch: UnsafeMutablePointer<Float>
  ) {
    let outputGradient = FeatureMap(scratch, plan.headShape, kernels: kernels)
    var arguments = FeatureMap(
      scratch + FeatureMap.count(plan.headShape, kernels: kernels), plan.headShape, kernels: kernels)
    if hasReadableHead {
      arguments = kept.map(blocks.count + 1)
    } else {
      headConvolution.preActivation(kept.map(blocks.count), into: arguments, pool: pool)
    }
    let layer = gradients.gradient(ofHead: headConvolution)
    for (pooledGradient, inputGradient) in zip(pooledGradients, inputGradients) {
      GlobalAveragePooling.inputGradient(pooledGradient, into: outputGradient)
      outputGradient.applyDerivative(
        of: headConvolution.activation, at: arguments, kernels: kernels, pool: pool)
      layer(outputGradient, into: inputGradient, pool: pool)
    }
  }

  /// The shape of one of ``featureMapNames``.
  fileprivate func featureMapShape(_ index: Int) -> FeatureShape {
    switch index {
    case 0: plan.stemShape
    case ...blocks.count: plan.blocks[index - 1].outputShape
    default: plan.headShape
    }
  }
}

/// Copies of some of a run's feature maps, in memory of their own.
private struct KeptMaps {
  private let maps: [FeatureMap]
  private let indices: ClosedRange<Int>
  private let buffer: AlignedBuffer
  private let cache: GradientCache

  /// - Parameter indices: Which of the network's feature maps to keep.
  init(_ indices: ClosedRange<Int>, of network: Network) {
    let shapes = indices.map { network.featureMapShape($0) }
    let counts = shapes.map { FeatureMap.count($0, kernels: network.kernels) }
    buffer = network.gradients.take(count: counts.reduce(0, +))
    var next = buffer.pointer
    maps = zip(shapes, counts).map { shape, count in
      defer { next += count }
      return FeatureMap(next, shape, kernels: network.kernels)
    }
    self.indices = indices
    cache = network.gradients
  }

  /// The memory is free for others; the maps must not be looked at any more.
  func giveBack() { cache.giveBack(buffer) }

  func keep(_ map: FeatureMap, at index: Int, pool: ThreadPool) {
    if indices.contains(index) { self.map(index).copy(map, pool: pool) }
  }

  /// Valid as long as this.
  func map(_ index: Int) -> FeatureMap { maps[index - indices.lowerBound] }

  func withMap<Result>(_ index: Int, _ body: (FeatureMap) -> Result) -> Result {
    withExtendedLifetime(buffer) { body(map(index)) }
  }
}

extension Tensor {
  /// The values without the padding, `[height, width, channels]`.
  fileprivate init(_ map: FeatureMap) {
    self.init(shape: [map.shape.height, map.shape.width, map.shape.channels], values: map.dense())
  }
}
