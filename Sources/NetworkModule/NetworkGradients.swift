import KernelInterface
import SystemModule
import TensorModule

/// The results of a run of the network for those who explain it.
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
  /// The marks that follow are kept, with what the backward pass looks at between them, and the gradients go back from mark to mark. For the last
  /// this costs next to nothing.
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
    let mark = list.marks[index]
    let segments = needsGradients ? segments(to: mark) : []
    let kept = KeptMaps(
      [mark.value] + segments.map { $0.start }, of: segments, self)
    defer { kept.giveBack() }
    let output = try run(
      metadata: metadata, writeInput: writeInput,
      observeMarks: { mark, value in kept.keep(value, of: mark.value, pool: self.pool) },
      kept: kept.values)
    let activations = kept.withMap(mark.value) { Tensor(mark.map($0)) }
    let chosen = try logits(output)
    guard needsGradients else {
      return NetworkGradients(output: output, activations: activations, gradients: [])
    }
    let gradients = ThreadPool.withDenormalsFlushed {
      backwardPass(
        to: mark, by: segments, kept: kept, pooled: output.pooled,
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

  /// The segments from a mark to the head.
  func segments(to goal: OperationList.Mark) -> [Segment] {
    guard let end = list.pooled else { preconditionFailure("a network without pooled features") }
    let way = list.marks(after: goal).map { $0.value }
    return zip(way, way.dropFirst() + [end]).map { start, end in
      Segment(of: self, from: start, to: end, goal: goal.isBranch && start == way[0] ? goal.value : nil)
    }
  }

  /// - Parameters:
  ///   - goal: The mark at which the backward pass ends.
  ///   - segments: From it, or from the last mark before it, to the head.
  ///   - kept: The values that they start with.
  ///   - pooledGradients: For each logit, the gradient with respect to it.
  private func backwardPass(
    to goal: OperationList.Mark, by segments: [Segment], kept: KeptMaps, pooled: [Float],
    _ pooledGradients: [[Float]]
  ) -> [Tensor] {
    guard let end = segments.last?.end else { preconditionFailure("a gradient without segments") }
    // One gradient is read while the next is written, for each logit.
    func layout(_ value: Value) -> Layout { plan.layouts[value.index] }
    let mapCount = (segments.map { $0.start } + [goal.value, end]).reduce(0) { max($0, layout($1).count) }
    let gradientCount = mapCount * pooledGradients.count
    let buffer = gradients.take(count: 2 * gradientCount + layout(end).count)
    defer { gradients.giveBack(buffer) }
    let pooledMap = Stored(pointer: buffer.pointer + 2 * gradientCount, layout: layout(end)).map
    var isSecond = false
    func maps(_ value: Value) -> [FeatureMap] {
      pooledGradients.indices.map {
        Stored(
          pointer: buffer.pointer + (isSecond ? gradientCount : 0) + $0 * mapCount, layout: layout(value)
        ).map
      }
    }
    return withExtendedLifetime((buffer, kept)) {
      pooledMap.write(vector: pooled)
      for (gradient, map) in zip(pooledGradients, maps(end)) { map.write(vector: gradient) }
      for segment in segments.reversed() {
        let sources = maps(segment.end)
        isSecond.toggle()
        segment.backward(
          from: sources, to: maps(segment.goal), input: kept.map(segment.start),
          output: segment.end == end ? pooledMap : kept.map(segment.end), kept: kept.values,
          scratch: kept.scratch)
      }
      return maps(goal.value).map { Tensor(goal.map($0)) }
    }
  }
}

extension OperationList {
  /// The marks that lie on all ways from a mark to the head: from that mark on, or from the last one before it.
  fileprivate func marks(after mark: Mark) -> [Mark] {
    guard let index = marks.firstIndex(where: { $0.name == mark.name }),
      let first = marks[...index].lastIndex(where: { !$0.isBranch })
    else { preconditionFailure("\(mark.name) is a branch without a mark before it") }
    return marks[first...].filter { !$0.isBranch }
  }
}

extension FeatureMap {
  /// Writes the channels of a map of one pixel, and zeros behind them.
  fileprivate func write(vector: [Float]) {
    precondition(
      shape.pixelCount == 1 && shape.channels == vector.count, "\(vector.count) values for \(shape)")
    pointer.update(from: vector, count: vector.count)
    (pointer + vector.count).update(repeating: 0, count: pixelStride - vector.count)
  }
}

/// Copies of some of a run's values, and what segments keep, in memory of their own.
private struct KeptMaps {
  private(set) var values: [Value: Kept] = [:]
  private var maps: [Value: FeatureMap] = [:]
  /// Memory for the backward pass of a segment, when those behind it are done.
  let scratch: UnsafeMutablePointer<Float>
  private let buffer: AlignedBuffer
  private let cache: GradientCache

  /// - Parameters:
  ///   - marks: The values to copy, which marks name. One may come twice.
  init(_ marks: [Value], of segments: [Segment], _ network: Network) {
    func layout(_ value: Value) -> Layout { network.plan.layouts[value.index] }
    // The values of the last segments lie first: they are scratch memory of those before them.
    var keptCount = 0
    var scratchCount = 0
    for segment in segments.reversed() {
      scratchCount = max(scratchCount, (segment.scratchCount - keptCount).roundedUp(toMultipleOf: 16))
      keptCount += segment.keptCount
    }
    buffer = network.gradients.take(
      count: marks.reduce(scratchCount + keptCount) { $0 + layout($1).count })
    cache = network.gradients
    scratch = buffer.pointer
    var next = scratch + scratchCount
    for segment in segments.reversed() {
      for (value, kept) in segment.keeping(at: next) { values[value] = kept }
      next += segment.keptCount
    }
    for value in marks where maps[value] == nil {
      maps[value] = Stored(pointer: next, layout: layout(value)).map
      next += layout(value).count
    }
  }

  /// The memory is free for others; the maps must not be looked at any more.
  func giveBack() { cache.giveBack(buffer) }

  func keep(_ map: FeatureMap, of value: Value, pool: ThreadPool) { maps[value]?.copy(map, pool: pool) }

  /// Valid as long as this.
  func map(_ value: Value) -> FeatureMap {
    guard let map = maps[value] else { preconditionFailure("a value that was not kept") }
    return map
  }

  func withMap<Result>(_ value: Value, _ body: (FeatureMap) -> Result) -> Result {
    withExtendedLifetime(buffer) { body(map(value)) }
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
