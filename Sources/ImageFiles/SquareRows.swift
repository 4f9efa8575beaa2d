import ImagePipeline

/// Takes the rows of a large image as they are decoded and keeps its centre square, and the picture of it where one is wanted.
struct SquareRows: ~Copyable {
  /// From so many bytes of pixels on an image is not kept whole where only its centre square is wanted.
  static let largeByteCount = 64 << 20

  /// Of the upright image.
  private let (width, height): (Int, Int)
  private var square: SquareResizer
  /// Of size 1 where no picture is wanted: a value that cannot be copied cannot be optional and changed in a closure.
  private var picture: SquareResizer
  private let hasPicture: Bool

  /// - Parameter size: of the network's input.
  init(
    _ part: ImagePart, size: Int, storedWidth: Int, storedHeight: Int, placement: SquareResizer.Placement
  ) {
    (width, height) =
      placement.transposes ? (storedHeight, storedWidth) : (storedWidth, storedHeight)
    let side = Self.pictureSide(part, storedWidth: storedWidth, storedHeight: storedHeight)
    square = SquareResizer(
      storedWidth: storedWidth, storedHeight: storedHeight, placement: placement, size: size)
    picture = SquareResizer(
      storedWidth: storedWidth, storedHeight: storedHeight, placement: placement, size: side ?? 1)
    hasPicture = side != nil
  }

  private static func pictureSide(_ part: ImagePart, storedWidth: Int, storedHeight: Int) -> Int? {
    guard case .picture(_, let side) = part else { return nil }
    return min(side, storedWidth, storedHeight)
  }

  /// The bytes that an image takes on its way through.
  static func byteCount(_ part: ImagePart, size: Int, storedWidth: Int, storedHeight: Int) -> Int {
    let picture = pictureSide(part, storedWidth: storedWidth, storedHeight: storedHeight)
    return ([size] + (picture.map { [$0] } ?? [])).reduce(0) {
      $0 + SquareResizer.byteCount(storedWidth: storedWidth, storedHeight: storedHeight, size: $1)
    }
  }

  /// Takes the next stored row, `[width, 3]`.
  mutating func add(_ row: UnsafePointer<UInt8>) {
    square.add(row)
    if hasPicture { picture.add(row) }
  }

  /// What was kept, after the last row.
  mutating func finish(damage: ImageDamage?, reservation: DecodingReservation) -> DecodedImage {
    DecodedImage(
      square: square.finish(), width: width, height: height, picture: hasPicture ? picture.finish() : nil,
      damage: damage, reservation: reservation)
  }
}
