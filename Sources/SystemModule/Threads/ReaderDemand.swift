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
