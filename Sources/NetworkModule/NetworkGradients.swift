import KernelInterface
import SystemModule
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
  ///   - metadata: held fixed; ignored by a model without a fusion head.
  ///   - needsGradients: False when only the activations are wanted.
  ///   - logits: Chooses the logits, each a head and the index of one of its outputs, when the run is done; asked even where
  ///     no gradients are wanted.
  ///   - writeInput: Writes the normalised image, NHWC `[inputSize, inputSize, 3]`.
  package func runWithGradients<Failure: Error>(
    layer: String, metadata: MetadataVector, needsGradients: Bool,
    logits: (NetworkOutput) throws(Failure) -> [(head: ClassifierHead, index: Int)],
    writeInput: (UnsafeMutablePointer<Float>) throws(Failure) -> Void
  ) throws(Failure) -> NetworkGradients {
    guard let index = featureMapNames.firstIndex(of: layer) else {
      preconditionFailure("no feature map \(layer) among \(featureMapNames)")
    }
    let isLast = index == blocks.count - 1
    let lastKept = blocks.count - (blocks[blocks.count - 1].gradientReadsOutput ? 1 : 2)
    let kept = KeptMaps(index...(!needsGradients || isLast ? index : max(index, lastKept)), of: self)
    defer { kept.giveBack() }
    var position = 0
    let output = try run(
      metadata: metadata, writeInput: writeInput,
      observe: { _, map in
        kept.keep(map, at: position, pool: self.pool)
        position += 1
      })
    let activations = kept.withMap(index) { Tensor($0) }
    let chosen = try logits(output)
    guard needsGradients else {
      return NetworkGradients(output: output, activations: activations, gradients: [])
    }
    let gradients = ThreadPool.withDenormalsFlushed {
      gradientsThroughBlocks(
        to: index, kept: kept,
        chosen.map { head, index in
          head.pooledGradient(ofLogit: index, pooled: output.pooled, metadata: metadata)
        })
    }
    return NetworkGradients(output: output, activations: activations, gradients: gradients)
  }

  /// The same for logits of the network's own head, by their indices.
  package func runWithGradients<Failure: Error>(
    layer: String, metadata: MetadataVector, needsGradients: Bool, classes: [Int],
    writeInput: (UnsafeMutablePointer<Float>) throws(Failure) -> Void
  ) throws(Failure) -> NetworkGradients {
    try runWithGradients(
      layer: layer, metadata: metadata, needsGradients: needsGradients,
      logits: { (_) throws(Failure) in classes.map { (head, $0) } }, writeInput: writeInput)
  }

  /// - Parameters:
  ///   - index: The block at whose output the backward pass ends.
  ///   - kept: The outputs of the blocks from there on.
  ///   - pooledGradients: For each logit, the gradient with respect to the pooled features.
  private func gradientsThroughBlocks(
    to index: Int, kept: KeptMaps, _ pooledGradients: [[Float]]
  ) -> [Tensor] {
    let back = (index + 1..<blocks.count).reversed().map {
      (index: $0, gradient: gradients.gradient(ofBlock: $0, among: blocks, pool: pool))
    }
    // One gradient is read while the next is written, for each logit; the rest is scratch memory.
    let mapCount =
      (index..<blocks.count).map { FeatureMap.count(blocks[$0].output, kernels: kernels) }.max() ?? 0
    let gradientCount = mapCount * pooledGradients.count
    let buffer = gradients.take(
      count: 2 * gradientCount + back.reduce(0) { max($0, $1.gradient.scratchCount) })
    defer { gradients.giveBack(buffer) }
    func maps(_ block: Int) -> [FeatureMap] {
      pooledGradients.indices.map {
        FeatureMap(
          buffer.pointer + block % 2 * gradientCount + $0 * mapCount, blocks[block].output, kernels: kernels)
      }
    }
    return withExtendedLifetime((buffer, kept)) {
      // Every pixel of the last map has the same share in the pooled features.
      for (gradient, map) in zip(pooledGradients, maps(blocks.count - 1)) {
        GlobalAveragePooling.inputGradient(gradient, into: map)
      }
      for (block, gradient) in back {
        gradient(
          at: kept.map(block - 1), output: blocks[block].gradientReadsOutput ? kept.map(block) : nil,
          outputGradients: maps(block), into: maps(block - 1),
          scratch: buffer.pointer + 2 * gradientCount, pool: pool)
      }
      return maps(index).map { Tensor($0) }
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
    let shapes = indices.map { network.blocks[$0].output }
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
