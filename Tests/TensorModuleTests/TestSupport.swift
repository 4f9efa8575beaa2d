import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

extension KernelSet: CustomTestStringConvertible {
  /// The instruction set, and whether the compiler used it.
  public var testDescription: String {
    isBuiltForInstructionSet ? instructionSet.rawValue : "\(instructionSet.rawValue) without its flags"
  }
}

extension Activation {
  var reference: ReferenceActivation {
    switch self {
    case .identity: .identity
    case .relu: .relu
    case .relu6: .relu6
    case .silu: .silu
    case .sigmoid: .sigmoid
    case .hardSwish: .hardSwish
    case .hardSigmoid: .hardSigmoid
    case .gelu: .gelu
    }
  }
}

extension Padding {
  var reference: ReferencePadding {
    switch self {
    case .same: .same
    case .symmetric(let zeros): .symmetric(zeros)
    }
  }
}

/// Memory between two zones that nobody may write. All of it holds a NaN of a pattern of its own at first, so that a
/// value read from outside shows too.
final class GuardedBuffer {
  static let poison = Float(bitPattern: 0x7FC0_5A5A)
  static let zone = 128

  let count: Int
  private let whole: AlignedBuffer

  init(count: Int) {
    self.count = count
    whole = AlignedBuffer(count: count + 2 * Self.zone)
    whole.pointer.update(repeating: Self.poison, count: count + 2 * Self.zone)
  }

  convenience init(_ values: [Float]) {
    self.init(count: values.count)
    pointer.update(from: values, count: values.count)
  }

  var pointer: UnsafeMutablePointer<Float> { whole.pointer + Self.zone }

  var values: [Float] { Array(UnsafeBufferPointer(start: pointer, count: count)) }

  /// The place of the first guard that was written, counted from the buffer's start; nil when all are whole.
  var firstBrokenGuard: Int? {
    let end = count + Self.zone
    return (Array(-Self.zone..<0) + Array(count..<end))
      .first { pointer[$0].bitPattern != Self.poison.bitPattern }
  }
}

extension [Float] {
  /// Calls `body` with the values' memory, which a kernel's arguments may keep meanwhile.
  func withPointer<Result>(_ body: (UnsafePointer<Float>) -> Result) -> Result {
    withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}

/// A feature map in guarded memory, as the layers want it: channels padded to whole vectors. The padding is poisoned.
final class GuardedMap {
  let buffer: GuardedBuffer
  let map: FeatureMap

  /// - Parameter extraStride: Floats between the pixels beyond the padded channels.
  convenience init(_ shape: FeatureShape, kernels: KernelSet, extraStride: Int = 0) {
    self.init(
      shape, pixelStride: shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth) + extraStride)
  }

  init(_ shape: FeatureShape, pixelStride: Int) {
    buffer = GuardedBuffer(count: shape.pixelCount * pixelStride)
    map = FeatureMap(buffer.pointer, shape: shape, pixelStride: pixelStride)
  }

  /// - Parameter values: `[height, width, channels]`
  convenience init(_ values: [Float], _ shape: FeatureShape, kernels: KernelSet, extraStride: Int = 0) {
    self.init(
      values, shape, pixelStride: shape.channels.roundedUp(toMultipleOf: kernels.vectorWidth) + extraStride)
  }

  /// - Parameter values: `[height, width, channels]`
  convenience init(_ values: [Float], _ shape: FeatureShape, pixelStride: Int) {
    self.init(shape, pixelStride: pixelStride)
    values.withUnsafeBufferPointer { values in
      for pixel in 0..<shape.pixelCount {
        (map.pointer + pixel * map.pixelStride).update(
          from: values.baseAddress! + pixel * shape.channels, count: shape.channels)
      }
    }
  }

  var isIntact: Bool { buffer.firstBrokenGuard == nil }

  /// The values of the map: `[height, width, channels]`. Asked of the map itself, the memory might be gone already: it is a
  /// view, and the owner may end with its last mention.
  func dense() -> [Float] { withExtendedLifetime(self) { map.dense() } }
}

/// Pools that all tests share: 1, 2, 3 and 7 threads.
enum Pools {
  static let alone = ThreadPool(threadCount: 1)
  static let two = ThreadPool(threadCount: 2)
  static let three = ThreadPool(threadCount: 3)
  static let seven = ThreadPool(threadCount: 7)
  static let all = [alone, two, three, seven]
}
