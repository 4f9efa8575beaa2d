import SystemModule

/// The rule that makes the network's square of an image of any shape.
package enum Framing: Sendable, Equatable {
  /// The treatment by timm's evaluation of an image that has another shape than the square.
  package enum CropMode: String, Sendable, CaseIterable {
    /// The shorter side is resized, and the square is cut out of the centre.
    case center
    /// Both sides are resized alike, and the square is cut out of the centre.
    case squash
    /// The longer side is resized, and what is left of the square is filled with the mean colour.
    case border
  }

  /// The centre square is cut out and resized: this package's own way.
  case square
  /// timm's evaluation (`transforms_imagenet_eval`): the image is resized to `floor(size / share)`, then cut.
  case timm(CropMode, share: Double)
}

extension Framing {
  /// The side of the square at which an image keeps its own resolution.
  func naturalSide(width: Int, height: Int) -> Int {
    switch self {
    case .square: min(width, height)
    case .timm(.center, let share): max(Int(Double(min(width, height)) * share), 1)
    case .timm(_, let share): max(Int(Double(max(width, height)) * share), 1)
    }
  }

  /// The way from an image of this size to a square.
  func frame(width: Int, height: Int, size: Int) -> Frame {
    switch self {
    case .square:
      let side = min(width, height)
      return Frame(
        region: .init(left: (width - side) / 2, top: (height - side) / 2, width: side, height: side),
        width: size, height: size, window: .init(left: 0, top: 0, width: size, height: size), size: size)
    case .timm(let mode, let share):
      let scaled = Int((Double(size) / share).rounded(.down))
      let (resizedWidth, resizedHeight) = Self.resizedSize(mode, width, height, to: scaled)
      let (left, keptWidth) = Self.centre(of: resizedWidth, size: size)
      let (top, keptHeight) = Self.centre(of: resizedHeight, size: size)
      return Frame(
        region: .init(left: 0, top: 0, width: width, height: height), width: resizedWidth,
        height: resizedHeight, window: .init(left: left, top: top, width: keptWidth, height: keptHeight),
        size: size)
    }
  }

  private static func resizedSize(
    _ mode: CropMode, _ width: Int, _ height: Int, to side: Int
  ) -> (width: Int, height: Int) {
    switch mode {
    case .center:
      // torchvision's Resize: Int(side * long / short), a quotient in Double that is cut off.
      let long = Int(Double(side * max(width, height)) / Double(min(width, height)))
      return width <= height ? (side, long) : (long, side)
    case .squash: return (side, side)
    case .border:
      // timm's ResizeKeepRatio: Python's round of a quotient by a quotient.
      let ratio = max(Double(height) / Double(side), Double(width) / Double(side))
      func resized(_ length: Int) -> Int {
        max(Int((Double(length) / ratio).rounded(.toNearestOrEven)), 1)
      }
      return (resized(width), resized(height))
    }
  }

  /// The middle of a line: torchvision's `center_crop`, whose start is Python's round of half the rest.
  private static func centre(of length: Int, size: Int) -> (start: Int, count: Int) {
    guard length > size else { return (0, length) }
    return (Int((Double(length - size) / 2).rounded(.toNearestOrEven)), size)
  }
}

/// A way from one image's pixels to a square: a part of the image is resized, and a part of that is kept.
struct Frame: Equatable {
  var region: ImageResizer.Region
  /// The size that the region is resized to, in pixels.
  var (width, height): (Int, Int)
  /// The part of the resized region that is kept.
  var window: ImageResizer.Region
  /// The side of the square that the kept part lies in the middle of.
  var size: Int
}
