import SystemModule
import TensorModule

extension Classifier {
  /// Hands `transform` of each input to `consume`, on the calling thread and in the order of the inputs, each as soon
  /// as it and those before it are done; see ``ParallelMap/forEach(_:workerCount:_:consume:)``.
  ///
  /// Several images are computed whole, one on each of the classifier's threads. A single one, and a few that would
  /// leave most threads idle in the end, share theirs layer by layer. Results do not depend on it.
  package func forEach<Input: Sendable, Output: Sendable, Failure: Error>(
    _ inputs: [Input], _ transform: @escaping @Sendable (Input) -> Output,
    consume: (Output) throws(Failure) -> Void
  ) throws(Failure) {
    let rest = inputs.count % threadCount
    let wholeCount = 2 * rest <= threadCount ? inputs.count - rest : inputs.count
    let wholeImages = Array(inputs[..<wholeCount])
    func computeWhole() throws(Failure) {
      try ParallelMap.forEach(wholeImages, workerCount: threadCount, transform, consume: consume)
    }
    try pool.withoutSharing(computeWhole)
    for input in inputs[wholeCount...] { try consume(transform(input)) }
  }

  /// What `work` returns; the layers of the images that it classifies are computed on the calling thread alone. For callers
  /// that keep all processors busy with images.
  package func withoutSharing<Value>(
    _ work: () throws(DermaFusionError) -> Value
  ) throws(DermaFusionError) -> Value {
    try pool.withoutSharing(work)
  }
}
