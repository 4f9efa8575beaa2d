import KernelInterface
import Synchronization
import TensorModule

/// What a run of the network gives to those who explain it.
struct NetworkGradients: Sendable {
  let output: NetworkOutput
  /// The feature map of the layer asked for, `[height, width, channels]`.
  let activations: Tensor
  /// For each logit asked for, its gradient with respect to ``activations``, of their shape.
  let gradients: [Tensor]
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
  func runWithGradients(
    layer: String, metadata: [Float], needsGradients: Bool,
    logits: (NetworkOutput) -> [(head: ClassifierHead, index: Int)],
    writeInput: (UnsafeMutablePointer<Float>) throws -> Void
  ) rethrows -> NetworkGradients {
    guard let index = featureMapNames.firstIndex(of: layer) else {
      preconditionFailure("no feature map \(layer) among \(featureMapNames)")
    }
    // The outputs of the stem, the blocks and the last convolution, from the layer on.
    var maps: [OwnedMap] = []
    var position = 0
    let isLast = index == featureMapNames.count - 1
    let output = try run(
      metadata: metadata, writeInput: writeInput,
      observe: { _, map in
        let isBetween = position > index && position <= self.blocks.count
        let isNeeded = position == index || (isBetween && needsGradients)
        if isNeeded { maps.append(OwnedMap(copying: map)) }
        position += 1
      })
    guard needsGradients else {
      return NetworkGradients(output: output, activations: maps[0].tensor, gradients: [])
    }
    let pooledGradients = logits(output).map { head, index in
      head.pooledGradient(ofLogit: index, pooled: output.pooled, metadata: metadata)
    }
    let gradients = ThreadPool.withDenormalsFlushed {
      isLast
        ? pooledGradients.map { lastMapGradient($0) }
        : gradientsThroughBlocks(from: index, maps: maps, pooledGradients).map(\.tensor)
    }
    return NetworkGradients(output: output, activations: maps[0].tensor, gradients: gradients)
  }

  /// The closed form: every pixel of the last map has the same share in the pooled features.
  private func lastMapGradient(_ pooledGradient: [Float]) -> Tensor {
    let map = OwnedMap(plan.headShape, kernels: kernels)
    GlobalAveragePooling.inputGradient(pooledGradient, into: map.map)
    return map.tensor
  }

  /// - Parameters:
  ///   - index: The layer at whose output the way back ends: 0 is the stem, `i + 1` is block `i`.
  ///   - maps: The outputs of the layers from there to the last block.
  private func gradientsThroughBlocks(
    from index: Int, maps: [OwnedMap], _ pooledGradients: [[Float]]
  ) -> [OwnedMap] {
    var current = withExtendedLifetime(maps) {
      gradientsThroughHead(at: maps[maps.count - 1].map, pooledGradients)
    }
    let layouts = (index..<blocks.count).map {
      gradients.block($0, of: self).layout(input: maps[$0 - index].map.shape)
    }
    let scratch = gradients.takeScratch(count: layouts.map(\.count).max() ?? 0)
    defer { gradients.giveBack(scratch) }
    for blockIndex in (index..<blocks.count).reversed() {
      let input = maps[blockIndex - index].map
      let next = current.map { _ in OwnedMap(input.shape, kernels: kernels) }
      gradients.block(blockIndex, of: self)(
        at: input, outputGradients: current.map(\.map), into: next.map(\.map), scratch: scratch.pointer,
        pool: pool)
      // The maps are views; what they look at must live until here.
      withExtendedLifetime((maps, scratch, current, next)) {}
      current = next
    }
    return current
  }

  /// The gradients at the output of the last block.
  private func gradientsThroughHead(at input: FeatureMap, _ pooledGradients: [[Float]]) -> [OwnedMap] {
    let sums = OwnedMap(plan.headShape, kernels: kernels)
    headConvolution.preActivation(input, into: sums.map, pool: pool)
    let layer = gradients.head(of: self)
    let outputGradient = OwnedMap(plan.headShape, kernels: kernels)
    return pooledGradients.map { pooledGradient in
      GlobalAveragePooling.inputGradient(pooledGradient, into: outputGradient.map)
      outputGradient.map.applyDerivative(
        of: headConvolution.activation, at: sums.map, kernels: kernels, pool: pool)
      let inputGradient = OwnedMap(input.shape, kernels: kernels)
      layer(outputGradient.map, into: inputGradient.map, pool: pool)
      withExtendedLifetime((sums, outputGradient, inputGradient)) {}
      return inputGradient
    }
  }
}

/// The layers packed for the way back, each when it is first needed: whoever only classifies pays nothing.
final class GradientCache: Sendable {
  private let blocks = Mutex<[Int: MBConvBlockGradient]>([:])
  private let head = Mutex<PointwiseConvolutionGradient?>(nil)
  /// What the last way back worked in: memory that is new to the process costs more than the sums written to it.
  private let idleScratch = Mutex<AlignedBuffer?>(nil)

  /// At least so many floats, with anything in them, for the caller alone.
  func takeScratch(count: Int) -> AlignedBuffer {
    let idle = idleScratch.withLock { $0.take() }
    if let idle, idle.count >= count { return idle }
    return AlignedBuffer(count: count)
  }

  func giveBack(_ scratch: AlignedBuffer) {
    idleScratch.withLock { if ($0?.count ?? -1) < scratch.count { $0 = scratch } }
  }

  func block(_ index: Int, of network: Network) -> MBConvBlockGradient {
    blocks.withLock { blocks in
      if let block = blocks[index] { return block }
      let block = MBConvBlockGradient(network.blocks[index])
      blocks[index] = block
      return block
    }
  }

  func head(of network: Network) -> PointwiseConvolutionGradient {
    head.withLock { head in
      if let head { return head }
      let made = PointwiseConvolutionGradient(network.headConvolution)
      head = made
      return made
    }
  }
}

/// A feature map with memory of its own, padded for the kernels.
private struct OwnedMap {
  let buffer: AlignedBuffer
  let map: FeatureMap

  private init(_ buffer: AlignedBuffer, _ shape: FeatureShape, pixelStride: Int) {
    self.buffer = buffer
    map = FeatureMap(buffer.pointer, shape: shape, pixelStride: pixelStride)
  }

  init(_ shape: FeatureShape, kernels: KernelSet) {
    self.init(
      AlignedBuffer(count: FeatureMap.count(shape, kernels: kernels)), shape,
      pixelStride: shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth))
  }

  init(copying other: FeatureMap) {
    let count = other.shape.pixelCount * other.pixelStride
    self.init(AlignedBuffer(count: count), other.shape, pixelStride: other.pixelStride)
    buffer.pointer.update(from: other.pointer, count: count)
  }

  var tensor: Tensor { withExtendedLifetime(buffer) { Tensor(map) } }
}

extension Tensor {
  /// The values without the padding, `[height, width, channels]`.
  fileprivate init(_ map: FeatureMap) {
    self.init(shape: [map.shape.height, map.shape.width, map.shape.channels], values: map.dense())
  }
}
