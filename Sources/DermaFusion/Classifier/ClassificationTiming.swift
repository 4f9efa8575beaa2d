/// Milliseconds that the steps of one classification took.
package struct ClassificationTiming: Sendable, Equatable {
  /// From the file's bytes to pixels.
  package var decodeMilliseconds = 0.0
  /// From pixels to the resized image and its tables.
  package var preprocessMilliseconds = 0.0
  /// From there to the logits, the writing of the network's input included.
  package var networkMilliseconds = 0.0

  package init() {}

  package mutating func measure<Value>(
    _ step: WritableKeyPath<ClassificationTiming, Double>, _ work: () throws -> Value
  ) rethrows -> Value {
    let start = ContinuousClock.now
    let result = try work()
    self[keyPath: step] = (ContinuousClock.now - start) / .milliseconds(1)
    return result
  }
}
