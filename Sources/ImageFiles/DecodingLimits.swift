import ImagePipeline
import SystemModule

/// How much of an image is wanted.
package enum ImagePart: Sendable {
  case whole
  /// What a network sees. Of a large JPEG, PNG or BMP only the centre square at this size is kept, made while the file is decoded;
  /// an image too small for a network is refused before its pixels are read.
  case square(size: Int)
  /// What a network sees, and what a person sees of it: the centre square, at most `side` pixels wide.
  case picture(size: Int, side: Int)

  /// The side of a network's input; nil where the whole image is wanted.
  var networkSize: Int? {
    switch self {
    case .whole: nil
    case .square(let size), .picture(let size, _): size
    }
  }
}

/// What decoding may cost. Files far beyond what a camera makes are refused by a rule, so that one cannot stall or end a
/// batch of thousands.
package final class DecodingLimits: Sendable {
  /// The most pixels of an image.
  package let pixels: Int
  /// The most pixels times scans: each scan of a progressive JPEG passes over the whole image.
  package let scannedPixels: Int
  /// The most bytes of pixels and coefficients of all images that are being decoded, on all threads.
  package let memory: Int
  /// The longest that decoding an image may take.
  package let seconds: Double
  private let budget: DecodingBudget

  package static let standardScannedPixels = 2_000_000_000
  package static let standardMemory = 1 << 30
  package static let standardSeconds = 60.0
  package static let standard = DecodingLimits()

  package init(
    pixels: Int = PixelLimit.count, scannedPixels: Int = standardScannedPixels, memory: Int = standardMemory,
    seconds: Double = standardSeconds
  ) {
    self.pixels = pixels
    self.scannedPixels = scannedPixels
    self.memory = memory
    self.seconds = seconds
    budget = DecodingBudget(byteCount: memory)
  }

  /// Checks a size from a file's header, before anything is allocated for it.
  func check(width: Int, height: Int, part: ImagePart) throws(DermaFusionError) {
    try PixelLimit.check(width: width, height: height, limit: pixels)
    if part.networkSize != nil { try Preprocessor.requireSize(width: width, height: height) }
  }

  /// Waits until so many bytes are free of other images. They are free again when the reservation goes.
  ///
  /// - Throws: ``DermaFusionError/tooMuchMemory(_:byteCount:limit:)`` where they would never be,
  ///   ``DermaFusionError/outOfMemory(_:)`` where the system does not give them.
  func reserve(_ byteCount: Int, for format: ImageFormat) throws(DermaFusionError) -> DecodingReservation {
    guard byteCount <= memory else {
      throw .tooMuchMemory(format, byteCount: byteCount, limit: memory)
    }
    let reservation = budget.reserve(byteCount)
    guard MemoryProbe.canAllocate(byteCount: byteCount) else { throw .outOfMemory(format) }
    return reservation
  }
}

/// Bytes that are in use until this object goes.
final class DecodingReservation: Sendable {
  private let budget: DecodingBudget
  private let byteCount: Int

  fileprivate init(_ budget: DecodingBudget, byteCount: Int) {
    self.budget = budget
    self.byteCount = byteCount
  }

  deinit { budget.release(byteCount) }
}

/// Bytes that several threads share. The longest waiting thread is served first, so that a large image does not wait for ever.
private final class DecodingBudget: Sendable {
  private struct State: Sendable {
    var free: Int
    var waiting: [(byteCount: Int, turn: Semaphore)] = []
  }

  private let state: Locked<State>

  init(byteCount: Int) { state = Locked(State(free: byteCount)) }

  func reserve(_ byteCount: Int) -> DecodingReservation {
    let turn: Semaphore? = state.withLock { state in
      if state.waiting.isEmpty, state.free >= byteCount {
        state.free -= byteCount
        return nil
      }
      let turn = Semaphore()
      state.waiting.append((byteCount, turn))
      return turn
    }
    turn?.wait()
    return DecodingReservation(self, byteCount: byteCount)
  }

  func release(_ byteCount: Int) {
    state.withLock { state in
      state.free += byteCount
      while let first = state.waiting.first, first.byteCount <= state.free {
        state.free -= first.byteCount
        state.waiting.removeFirst()
        first.turn.signal()
      }
    }
  }
}
