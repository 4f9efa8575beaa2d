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
  /// For the last map they have a closed form that costs next to nothing. For any other, the marks that follow are kept, and
  /// the gradients go back from mark to mark.
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
    let last = featureMapNames.count - 1
    let kept = KeptMaps(index...(needsGradients ? last : index), of: self)
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
      backwardPass(
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
  ///   - index: The mark at which the backward pass ends.
  ///   - kept: The maps of the marks from there on.
  ///   - pooledGradients: For each logit, the gradient with respect to the pooled features.
  private func backwardPass(to index: Int, kept: KeptMaps, _ pooledGradients: [[Float]]) -> [Tensor] {
    let segments = (index + 1..<list.marks.count).reversed().map { Segment(of: self, endingAt: $0) }
    // One gradient is read while the next is written, for each logit; the rest is scratch memory.
    let layouts = list.marks.map { plan.layouts[$0.value.index] }
    let mapCount = layouts[index...].reduce(0) { max($0, $1.count) }
    let gradientCount = mapCount * pooledGradients.count
    let buffer = gradients.take(count: 2 * gradientCount + segments.reduce(0) { max($0, $1.scratchCount) })
    defer { gradients.giveBack(buffer) }
    func maps(_ mark: Int) -> [FeatureMap] {
      pooledGradients.indices.map {
        Stored(
          pointer: buffer.pointer + mark % 2 * gradientCount + $0 * mapCount, layout: layouts[mark]
        ).map
      }
    }
    return withExtendedLifetime((buffer, kept)) {
      // Every pixel of the last map has the same share in the pooled features.
      for (gradient, map) in zip(pooledGradients, maps(list.marks.count - 1)) {
        GlobalAveragePooling.inputGradient(gradient, into: map)
      }
      for segment in segments {
        segment.backward(
          from: maps(segment.mark), to: maps(segment.mark - 1), input: kept.map(segment.mark - 1),
          output: kept.map(segment.mark), scratch: buffer.pointer + 2 * gradientCount)
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
    let layouts = indices.map { network.plan.layouts[network.list.marks[$0].value.index] }
    buffer = network.gradients.take(count: layouts.reduce(0) { $0 + $1.count })
    var next = buffer.pointer
    maps = layouts.map { layout in
      defer { next += layout.count }
      return Stored(pointer: next, layout: layout).map
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

/// The operations packed for the backward pass, each when it is first needed: classifying alone packs none.
final class GradientCache: Sendable {
  private let gradients = Locked<[Int: any OperationGradient]>([:])
  /// Buffers kept from the last backward pass; fresh pages cost more than the arithmetic.
  private let idle = Locked<[AlignedBuffer]>([])

  /// The maps that are kept, and the gradients with their scratch memory.
  private static let idleLimit = 2

  /// At least so many floats, with anything in them, for the caller alone.
  func take(count: Int) -> AlignedBuffer {
    idle.withLock { idle in
      let fitting = idle.indices.filter { idle[$0].count >= count }.min { idle[$0].count < idle[$1].count }
      return fitting.map { idle.remove(at: $0) }
    } ?? AlignedBuffer(count: count)
  }

  /// Keeps the largest of what comes back.
  func giveBack(_ buffer: AlignedBuffer) {
    idle.withLock { idle in
      idle.append(buffer)
      if idle.count > Self.idleLimit, let least = idle.indices.min(by: { idle[$0].count < idle[$1].count }) {
        idle.remove(at: least)
      }
    }
  }

  /// The gradient of a network's step; nil for one whose output stands for its first input.
  func gradient(ofStep index: Int, of network: Network) -> (any OperationGradient)? {
    gradients.withLock { gradients in
      if let made = gradients[index] { return made }
      let step = network.steps[index]
      let producers = step.inputs.map { input in
        network.steps.first { $0.value == input }?.operation
      }
      let made = step.operation.makeGradient(producers)
      gradients[index] = made
      return made
    }
  }
}
