import ImagePipeline

/// Takes the rows of a large image as they are decoded and keeps its centre square, and the picture of it where one is wanted.
struct SquareRows: ~Copyable {
  /// From so many bytes of pixels on an image is not kept whole where only its centre square is wanted.
  static let largeByteCount = 64 << 20

  /// What is kept of a large image of which only the centre square is wanted, and its picture where one is wanted.
  struct Plan {
    /// Of the image as it is stored.
    let (width, height): (Int, Int)
    let placement: SquareResizer.Placement
    /// Whether each row comes after the one above it.
    let isInOrder: Bool
    /// The side of the network's input.
    let size: Int
    /// The side of the picture.
    let pictureSide: Int?

    /// Nil for an image that is to be kept whole.
    init?(
      _ part: ImagePart, storedWidth: Int, storedHeight: Int, placement: SquareResizer.Placement,
      isInOrder: Bool = true, largeByteCount: Int
    ) {
      guard let size = part.networkSize, storedWidth * storedHeight * 3 >= largeByteCount else { return nil }
      (width, height, self.size) = (storedWidth, storedHeight, size)
      (self.placement, self.isInOrder) = (placement, isInOrder)
      pictureSide = if case .picture(_, let side) = part { min(side, storedWidth, storedHeight) } else { nil }
    }

    /// The bytes that the image takes on its way through.
    var byteCount: Int {
      [size, pictureSide].compactMap(\.self).reduce(0) {
        $0
          + SquareResizer.byteCount(
            storedWidth: width, storedHeight: height, size: $1,
            keepsSums: placement.transposes && !isInOrder)
      }
    }
  }

  /// Of the upright image.
  private let (width, height): (Int, Int)
  private var square: SquareResizer
  /// Of size 1 where no picture is wanted: a value that cannot be copied cannot be optional and changed in a closure.
  private var picture: SquareResizer
  private let hasPicture: Bool

  init(_ plan: Plan) {
    (width, height) = plan.placement.transposes ? (plan.height, plan.width) : (plan.width, plan.height)
    let resizer = { size in
      SquareResizer(
        storedWidth: plan.width, storedHeight: plan.height, placement: plan.placement, size: size)
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

  /// What was kept, after the last row.
  mutating func finish(damage: ImageDamage?, reservation: DecodingReservation) -> DecodedImage {
    DecodedImage(
      square: square.finish(), width: width, height: height, picture: hasPicture ? picture.finish() : nil,
      damage: damage, reservation: reservation)
  }
}
