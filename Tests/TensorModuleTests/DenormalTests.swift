import CBuiltins
import SystemModule
import Testing

@testable import TensorModule

@Suite struct DenormalTests {
  @Test func denormalsAreFlushedInsideAndTheCallersStateComesBack() throws {
    let before = get_float_state()
    let inside = ThreadPool.withDenormalsFlushed { Self.halfOfTheLeastNormal() }
    #expect(inside == 0)
    #expect(get_float_state() == before)
    #expect(Self.halfOfTheLeastNormal() == .leastNormalMagnitude / 2)
  }

  @Test func theStateComesBackAfterAnError() {
    struct Failure: Error {}
    let before = get_float_state()
    #expect(throws: Failure.self) { try ThreadPool.withDenormalsFlushed { throw Failure() } }
    #expect(get_float_state() == before)
  }

  @Test func nestedUseRestoresWhatItFound() {
    ThreadPool.withDenormalsFlushed {
      ThreadPool.withDenormalsFlushed {}
      #expect(Self.halfOfTheLeastNormal() == 0)
    }
    #expect(Self.halfOfTheLeastNormal() != 0)
  }

  /// The same on every thread of a pool, or results would depend on who took a task.
  @Test func everyThreadOfAPoolFlushes() {
    let count = 64
    let results = UnsafeMutablePointer<Float>.allocate(capacity: count)
    defer { results.deallocate() }
    results.initialize(repeating: 1, count: count)
    ThreadPool.withDenormalsFlushed {
      Pools.seven.run(taskCount: count) { task, _ in
        for _ in 0..<200 { cpu_relax() }
        results[task] = Self.halfOfTheLeastNormal()
      }
    }
    #expect(Array(UnsafeBufferPointer(start: results, count: count)) == [Float](repeating: 0, count: count))
  }

  /// The caller takes some of the tasks too, whose state is another's.
  @Test func whatAPoolMapsToDoesNotDependOnTheThread() {
    let before = get_float_state()
    let results = Pools.seven.map(Array(0..<64)) { _ in
      for _ in 0..<200 { cpu_relax() }
      return Self.halfOfTheLeastNormal()
    }
    #expect(results == [Float](repeating: 0, count: 64))
    #expect(get_float_state() == before)
  }

  /// Opaque, so that it is computed at run time.
  @inline(never)
  private static func halfOfTheLeastNormal() -> Float {
    multiply(.leastNormalMagnitude, 0.5)
  }

  @inline(never) @_optimize(none)
  private static func multiply(_ a: Float, _ b: Float) -> Float { a * b }
}
