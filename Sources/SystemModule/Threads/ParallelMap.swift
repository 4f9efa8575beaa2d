/// Whole images on several threads at once: for many images this wastes less than sharing each layer's work.
package enum ParallelMap {
  /// Hands `transform` of each input to `consume`, on the calling thread and in the order of the inputs, each as soon
  /// as it and those before it are done. Few are begun ahead of the one that is waited for, so memory does not grow
  /// with the number of inputs.
  ///
  /// - Parameter workerCount: how many may run at once, at least 1.
  /// - Throws: what `consume` throws, at once: inputs under way are not waited for, and no others are begun.
  package static func forEach<Input: Sendable, Output: Sendable, Failure: Error>(
    _ inputs: [Input], workerCount: Int, _ transform: @escaping @Sendable (Input) -> Output,
    consume: (Output) throws(Failure) -> Void
  ) throws(Failure) {
    precondition(workerCount >= 1, "\(workerCount) workers for \(inputs.count) inputs")
    let workers = min(workerCount, inputs.count)
    let window = OrderedWindow<Output>(count: 4 * max(workers, 1))
    let started = (workers > 1 ? 0..<workers : 0..<0).filter { _ in
      BackgroundThread.start {
        while let index = window.next(before: inputs.count) {
          window.put(transform(inputs[index]), at: index)
        }
      }
    }
    defer { window.stop() }
    for index in inputs.indices {
      try consume(started.isEmpty ? transform(inputs[index]) : window.take(index))
    }
  }
}

/// Results between those who make them, in any order, and the one who takes them in order.
private final class OrderedWindow<Element: Sendable>: Sendable {
  private let slots: Locked<[Element?]>
  private let isFull: [Semaphore]
  private let room = Semaphore()
  private let nextIndex = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  init(count: Int) {
    slots = Locked([Element?](repeating: nil, count: count))
    isFull = (0..<count).map { _ in Semaphore() }
    // Not its initial value, which a semaphore must have again when it goes.
    for _ in 0..<count { room.signal() }
  }

  /// The next index to work on, waiting while the window is full; nil when there is none.
  func next(before end: Int) -> Int? {
    room.wait()
    let index = nextIndex.add(1, ordering: .relaxed).oldValue
    if index < end, !isStopped.load(ordering: .acquiring) { return index }
    room.signal()
    return nil
  }

  func put(_ element: Element, at index: Int) {
    slots.withLock { $0[index % $0.count] = element }
    isFull[index % isFull.count].signal()
  }

  /// Waits for the element of an index; indices are taken in ascending order.
  func take(_ index: Int) -> Element {
    isFull[index % isFull.count].wait()
    let element = slots.withLock { slots -> Element in
      defer { slots[index % slots.count] = nil }
      return slots[index % slots.count]!
    }
    room.signal()
    return element
  }

  func stop() {
    isStopped.store(true, ordering: .releasing)
    room.signal()
  }
}

/// Keeps those who compute from running far ahead of the one who reads.
package final class ReaderDemand: Sendable {
  private let semaphore = Semaphore()
  private let hasEnded = Atomic<Bool>(false)
  private let isLifted = Atomic<Bool>(false)

  /// - Parameter limit: results that may wait to be read.
  package init(limit: Int) { for _ in 0..<limit { semaphore.signal() } }

  package func signalRead() { semaphore.signal() }

  /// From here on nobody waits.
  package func lift() { isLifted.store(true, ordering: .releasing) }

  package func end() {
    hasEnded.store(true, ordering: .releasing)
    semaphore.signal()
  }

  /// Waits until there is room for another result; `false` where nobody will read it.
  package func awaitReader() -> Bool {
    if isLifted.load(ordering: .acquiring) { return true }
    semaphore.wait()
    return !hasEnded.load(ordering: .acquiring)
  }
}
