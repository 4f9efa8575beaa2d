import SystemModule

/// Milliseconds that the steps of one classification took.
package struct ClassificationTiming: Sendable, Equatable {
  /// From the file's bytes to pixels.
  package var decodeMilliseconds = 0.0
  /// From pixels to the resized image and its tables.
  package var preprocessMilliseconds = 0.0
  /// From there to the logits, the writing of the network's input included.
  package var networkMilliseconds = 0.0

  package init() {}

  /// Does a step and puts the time that it took into `milliseconds`.
  package static func measure<Value, Failure: Error>(
    _ milliseconds: inout Double, _ work: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let start = MonotonicClock.milliseconds
    let result = try work()
    milliseconds = MonotonicClock.milliseconds - start
    return result
  }
}
