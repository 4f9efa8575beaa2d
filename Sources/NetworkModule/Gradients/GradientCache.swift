import SystemModule
import TensorModule

/// The blocks packed for the way back, each when it is first needed: whoever only classifies pays nothing.
final class GradientCache: Sendable {
  private let blocks = Locked<[Int: any BlockGradient]>([:])
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
  func gradient(ofBlock index: Int, of network: Network) -> any BlockGradient {
    blocks.withLock { blocks in
      if let made = blocks[index] { return made }
      guard let made = network.blocks[index].makeGradient(pool: network.pool) else {
        preconditionFailure("no feature map lies before \(network.blocks[index].name)")
      }
      blocks[index] = made
      return made
    }
  }
}
