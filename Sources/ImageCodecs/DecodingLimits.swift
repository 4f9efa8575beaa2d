import ImagePipeline
import SystemModule

/// The part of an image that is wanted.
package enum ImagePart: Sendable, Equatable {
  case whole
  /// The part that a network sees. Of a large JPEG, PNG or BMP only the centre square at this size is kept, made while the file
  /// is decoded; an image too small for a network is refused before its pixels are read.
  case square(size: Int)
  /// The part that a network sees, and that a person sees of it: the centre square, at most `side` pixels wide.
  case picture(size: Int, side: Int)

  /// The part that a model needs of an image, and that a person sees of it where a picture of that side is wanted. A model that
  /// resizes the whole image needs all of it.
  package init(for preprocessing: PreprocessingConfiguration, pictureSide: Int? = nil) {
    let size = preprocessing.size
    self =
      if !preprocessing.keepsCentreSquare { .whole } else if let pictureSide {
        .picture(size: size, side: pictureSide)
      } else { .square(size: size) }
  }

  /// The side of a network's input; nil where the whole image is wanted.
  var networkSize: Int? {
    switch self {
    case .whole: nil
    case .square(let size), .picture(let size, _): size
    }
  }
}

/// Limits of decoding an image file. A file that exceeds one is an error that names the limit, so a hostile file cannot
/// stall a program or take its memory.
///
/// All images that are decoded with the same object share its ``memory``: a caller waits while others use it.
public final class DecodingLimits: Sendable {
  /// The most pixels of an image.
  public let pixels: Int
  /// The most pixels times scans of a JPEG: each scan of a progressive file passes over the whole image.
  public let scannedPixels: Int
  /// The most bytes of pixels and coefficients of all images that are being decoded, on all threads.
  public let memory: Int
  /// The most seconds that decoding an image may take.
  public let seconds: Double
  /// From so many bytes of pixels on an image is not kept whole where only its centre square is wanted.
  let largeByteCount: Int
  /// The memory that is free. The thread that has waited longest is served first. Otherwise a large image might never get enough.
  private let budget: Locked<Budget>

  private struct Budget: Sendable {
    var free: Int
    var waiting: [(byteCount: Int, turn: Semaphore)] = []
  }

  /// The default of ``pixels``, which is Pillow's.
  public static let standardPixels = PixelLimit.count
  /// The default of ``scannedPixels``.
  public static let standardScannedPixels = 2_000_000_000
  /// The default of ``memory``: one gigabyte.
  public static let standardMemory = 1 << 30
  /// The default of ``seconds``.
  public static let standardSeconds = 60.0
  /// The defaults, shared by every caller that names no limits.
  public static let standard = DecodingLimits()

  /// Limits to give to ``DermaFusion/Classifier/classify(encodedImage:metadata:views:frame:limits:)`` and the like. A limit of 0
  /// or less, and a time that is no number, refuses every image. Limits beyond what any machine has (2 to the power of 40
  /// pixels, 2 to the power of 46 bytes, 10 to the power of 9 seconds) are taken as these.
  public convenience init(
    pixels: Int = standardPixels, scannedPixels: Int = standardScannedPixels, memory: Int = standardMemory,
    seconds: Double = standardSeconds
  ) {
    self.init(
      pixels: pixels, scannedPixels: scannedPixels, memory: memory, seconds: seconds, largeByteCount: 64 << 20
    )
  }

  package init(
    pixels: Int = standardPixels, scannedPixels: Int = standardScannedPixels, memory: Int = standardMemory,
    seconds: Double = standardSeconds, largeByteCount: Int
  ) {
    // What is computed from them then fits into 64 bits.
    self.pixels = min(max(pixels, 0), 1 << 40)
    self.scannedPixels = max(scannedPixels, 0)
    self.memory = min(max(memory, 0), 1 << 46)
    self.seconds = seconds > 0 ? min(seconds, 1e9) : 0
    self.largeByteCount = largeByteCount
    budget = Locked(Budget(free: self.memory))
  }

  /// The deadline of decoding that begins now.
  func deadline() -> DecodingDeadline { DecodingDeadline(seconds: seconds) }

  /// Checks a size from a file's header, before anything is allocated for it.
  func check(width: Int, height: Int, part: ImagePart) throws(DermaFusionError) {
    try PixelLimit.check(width: width, height: height, limit: pixels)
    if part.networkSize != nil { try Preprocessor.requireSize(width: width, height: height) }
  }

  /// Waits until so many bytes are free of other images. They are free again when the reservation goes.
  func reserve(_ byteCount: Int, for format: ImageFormat) throws(DermaFusionError) -> DecodingReservation {
    guard byteCount <= memory else {
      throw .tooMuchMemory(format, byteCount: byteCount, limit: memory)
    }
    let turn: Semaphore? = budget.withLock { budget in
      if budget.waiting.isEmpty, budget.free >= byteCount {
        budget.free -= byteCount
        return nil
      }
      let turn = Semaphore()
      budget.waiting.append((byteCount, turn))
      return turn
    }
    turn?.wait()
    let reservation = DecodingReservation(self, byteCount: byteCount)
    guard MemoryProbe.canAllocate(byteCount: byteCount) else { throw .outOfMemory(format) }
    return reservation
  }

  fileprivate func release(_ byteCount: Int) {
    budget.withLock { budget in
      budget.free += byteCount
      while let first = budget.waiting.first, first.byteCount <= budget.free {
        budget.free -= first.byteCount
        budget.waiting.removeFirst()
        first.turn.signal()
      }
    }
  }
}

/// The time by which decoding an image must be over.
struct DecodingDeadline: Sendable {
  private let seconds: Double
  private let end: Double

  fileprivate init(seconds: Double) {
    self.seconds = seconds
    end = MonotonicClock.milliseconds + seconds * 1000
  }

  func check(_ format: ImageFormat) throws(DermaFusionError) {
    if MonotonicClock.milliseconds > end { throw .tooSlow(format, seconds: seconds) }
  }
}

/// Bytes that are in use until this object goes.
final class DecodingReservation: Sendable {
  private let limits: DecodingLimits
  private let byteCount: Int

  fileprivate init(_ limits: DecodingLimits, byteCount: Int) {
    (self.limits, self.byteCount) = (limits, byteCount)
  }

  deinit { limits.release(byteCount) }
}

/// Takes the rows of a large image as they are decoded and keeps its centre square, and the picture of it where one is wanted.
struct SquareRows: ~Copyable {
  /// The parts of a large image that are kept: its centre square, and its picture where one is wanted.
  struct Plan {
    /// The size of the image as it is stored.
    let (width, height): (Int, Int)
    let orientation: Orientation
    /// True if each row comes after the one above it.
    let isInOrder: Bool
    /// The side of the network's input.
    let size: Int
    let pictureSide: Int?

    /// Nil for an image that is to be kept whole.
    init?(
      _ part: ImagePart, storedWidth: Int, storedHeight: Int, orientation: Orientation,
      isInOrder: Bool = true, limits: DecodingLimits
    ) {
      guard let size = part.networkSize, storedWidth * storedHeight * 3 >= limits.largeByteCount else {
        return nil
      }
      (width, height, self.size) = (storedWidth, storedHeight, size)
      (self.orientation, self.isInOrder) = (orientation, isInOrder)
      pictureSide = if case .picture(_, let side) = part { min(side, storedWidth, storedHeight) } else { nil }
    }

    /// The bytes that the image takes on its way through.
    var byteCount: Int {
      [size, pictureSide].compactMap(\.self).reduce(0) {
        $0
          + SquareResizer.byteCount(
            storedWidth: width, storedHeight: height, size: $1,
            keepsSums: orientation.transposes && !isInOrder)
      }
    }
  }

  /// The size of the upright image.
  private let (width, height): (Int, Int)
  private var square: SquareResizer
  /// A resizer to size 1 where no picture is wanted: a value that cannot be copied cannot be optional and changed in a closure.
  private var picture: SquareResizer
  private let hasPicture: Bool

  init(_ plan: Plan) {
    (width, height) = plan.orientation.transposes ? (plan.height, plan.width) : (plan.width, plan.height)
    let resizer = { size in
      SquareResizer(
        storedWidth: plan.width, storedHeight: plan.height, orientation: plan.orientation, size: size)
    }
    square = resizer(plan.size)
    picture = resizer(plan.pictureSide ?? 1)
    hasPicture = plan.pictureSide != nil
  }

  /// Takes the stored row at `index`, `[width, 3]`; each once, in any order.
  mutating func add(_ row: UnsafePointer<UInt8>, at index: Int) {
    square.add(row, at: index)
    if hasPicture { picture.add(row, at: index) }
  }

  /// The image that was kept, after the last row.
  mutating func finish(damage: ImageDamage?, reservation: DecodingReservation) -> DecodedImage {
    DecodedImage(
      square: square.finish(), width: width, height: height, picture: hasPicture ? picture.finish() : nil,
      damage: damage, reservation: reservation)
  }
}
