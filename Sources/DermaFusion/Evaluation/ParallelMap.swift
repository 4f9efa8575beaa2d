import Dispatch
import Synchronization
import TensorModule

/// Whole images on several threads at once: for many images this wastes less than sharing each layer's work.
package enum ParallelMap {
  /// `transform` of each input, in their order.
  ///
  /// - Parameters:
  ///   - workerCount: how many may run at once; `nil`: as many as the process may use.
  ///   - progress: told how many are done, one call at a time.
  package static func map<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], workerCount: Int?, progress: @Sendable (_ doneCount: Int) -> Void = { _ in },
    _ transform: @Sendable (Input) -> Output
  ) -> [Output] {
    let outputs = Mutex([Output?](repeating: nil, count: inputs.count))
    let next = Atomic<Int>(0)
    let doneCount = Mutex(0)
    let workers = min(workerCount ?? ProcessorCount.available(), inputs.count)
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < inputs.count else { return }
        let output = transform(inputs[index])
        outputs.withLock { $0[index] = output }
        doneCount.withLock {
          $0 += 1
          progress($0)
        }
      }
    }
    return outputs.withLock { $0.map { $0! } }
  }
}
