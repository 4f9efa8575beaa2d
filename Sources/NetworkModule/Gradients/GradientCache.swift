import SystemModule
import TensorModule

/// The blocks packed for the backward pass, each when it is first needed: classifying alone packs none.
final class GradientCache: Sendable {
  private let gradients = Locked<[Int: any BlockGradient]>([:])
  /// What the last ways back worked in: memory that is new to the process costs more than the sums written to it.
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

  /// The gradient of one of a network's blocks, but the first.
  ///
  /// - Parameters:
  ///   - blocks: all of the network's, in order.
  ///   - pool: threads that pack its weights.
  func gradient(ofBlock index: Int, among blocks: [any Block], pool: ThreadPool) -> any BlockGradient {
    gradients.withLock { gradients in
      if let made = gradients[index] { return made }
      guard let made = blocks[index].makeGradient(pool: pool) else {
        preconditionFailure("no feature map lies before \(blocks[index].name)")
      }
      gradients[index] = made
      return made
    }
  }
}
