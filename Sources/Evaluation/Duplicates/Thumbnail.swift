import ImagePipeline

/// A rectangle in shares of a picture's width and height. It may reach beyond the picture.
struct Cutout: Hashable {
  var left: Double
  var top: Double
  var right: Double
  var bottom: Double

  static let whole = Cutout(left: 0, top: 0, right: 1, bottom: 1)

  var width: Double { right - left }
  var height: Double { bottom - top }

  /// The whole of the picture that lies at this frame in another one, in shares of itself.
  var surroundings: Cutout {
    Cutout(
      left: -left / width, top: -top / height, right: (1 - left) / width, bottom: (1 - top) / height)
  }
}

/// A grey picture of 64x64 pixels, squeezed to a square, as which photographs are compared.
package struct Thumbnail: Sendable, Equatable {
  static let side = 64
  let values: [UInt8]

  package init(_ image: PixelImage) {
    let small = image.resized(width: Self.side, height: Self.side)
    values = (0..<Self.side * Self.side).map { place in
      let (red, green, blue) = (
        Int(small.pixels[place * 3]), Int(small.pixels[place * 3 + 1]), Int(small.pixels[place * 3 + 2])
      )
      return UInt8((299 * red + 587 * green + 114 * blue + 500) / 1000)
    }
  }
}

extension Thumbnail {
  /// True for the pixels of a dark frame or of the dark around a round field: nearly black at the edge, and what is dark and
  /// joined to that. Photographs share them that share nothing else. A lesion at the edge is brighter.
  var surround: [Bool] {
    let side = Self.side
    let bright = values.sorted()[values.count * 3 / 4]
    var isSurround = [Bool](repeating: false, count: values.count)
    var open: [Int] = []
    func visit(_ place: Int, below limit: UInt8) {
      if isSurround[place] || values[place] >= limit { return }
      isSurround[place] = true
      open.append(place)
    }
    for index in 0..<side {
      for place in [index, (side - 1) * side + index, index * side, index * side + side - 1] {
        visit(place, below: bright / 5)
      }
    }
    while let place = open.popLast() {
      let (y, x) = (place / side, place % side)
      if y > 0 { visit(place - side, below: bright / 2) }
      if y + 1 < side { visit(place + side, below: bright / 2) }
      if x > 0 { visit(place - 1, below: bright / 2) }
      if x + 1 < side { visit(place + 1, below: bright / 2) }
    }
    return isSurround
  }
}

/// The difference in brightness of each cell of a grid from the cells around it.
struct Contrasts {
  /// Row by row, in grey levels.
  var values: [Float]
  /// True for the cells that lie in the picture with half a cell around them, and not in its dark surround.
  var isInside: [Bool]
  /// Mean size of the values inside.
  var mean: Float = 0

  /// A likeness falls by at most this much where contrasts count up to the usual one only. The edge of a dark frame, a
  /// round field or a ruler is the same in many photographs.
  static let tolerance: Float = 0.03

  /// The mean size in a picture without an edge that stands out, for which the median is taken: a dark frame or a ruler makes a
  /// few cells so strong that nothing else would count.
  var usual: Float {
    var sizes: [Float] = []
    for (value, isInside) in zip(values, isInside) where isInside { sizes.append(abs(value)) }
    sizes.sort()
    return sizes.isEmpty ? 0 : 1.2 * sizes[sizes.count / 2]
  }
}

/// Sums over a thumbnail, by which the mean of any rectangle is four reads.
struct ThumbnailSums {
  private static let side = Thumbnail.side
  /// Sums of all pixels above and to the left, `[side + 1, side + 1]`. Whole numbers, so that sums are exact.
  private let sums: [Double]

  init(_ thumbnail: Thumbnail) { self.init(thumbnail.values.map(Double.init)) }

  private init(_ values: [Double]) {
    let stride = Self.side + 1
    var sums = [Double](repeating: 0, count: stride * stride)
    for y in 0..<Self.side {
      var row = 0.0
      for x in 0..<Self.side {
        row += values[y * Self.side + x]
        sums[(y + 1) * stride + x + 1] = sums[y * stride + x + 1] + row
      }
    }
    self.sums = sums
  }

  /// The surround as a picture of ones, whose mean over a rectangle is its share; nil for a picture without one.
  static func surround(of thumbnail: Thumbnail) -> ThumbnailSums? {
    let isSurround = thumbnail.surround
    return isSurround.contains(true) ? ThumbnailSums(isSurround.map { $0 ? 1 : 0 }) : nil
  }

  /// A place between pixels along one axis.
  private struct Place {
    let value: Double
    let index: Int
    let share: Double

    /// - Parameter position: in shares of the picture; what is beyond it counts as its edge.
    init(_ position: Double) {
      value = min(max(position, 0), 1) * Double(ThumbnailSums.side)
      index = min(Int(value), ThumbnailSums.side - 1)
      share = value - Double(index)
    }
  }

  /// A cell along one axis, and the cell with half a cell on each side.
  private struct Cell {
    let inner: (Place, Place)
    let outer: (Place, Place)
    let isInside: Bool

    /// - Parameters:
    ///   - low: where the frame begins.
    ///   - high: where the frame ends; nothing beyond the frame counts.
    static func all(count: Int, from low: Double, to high: Double) -> [Cell] {
      let size = (high - low) / Double(count)
      return (0..<count).map { index in
        let (start, end) = (low + Double(index) * size, low + Double(index + 1) * size)
        let (first, last) = (max(start - size / 2, low), min(end + size / 2, high))
        let tolerance = size / 4
        return Cell(
          inner: (Place(start), Place(end)), outer: (Place(first), Place(last)),
          isInside: first >= -tolerance && last <= 1 + tolerance)
      }
    }
  }

  /// The share of surround around a cell from which on the cell does not count.
  private static let surroundShare = 0.02

  /// The contrasts of the cells of a grid over a frame.
  ///
  /// - Parameter surround: the picture's, whose cells do not count; nil: all count.
  func contrasts(grid: Int, in frame: Cutout, besides surround: ThumbnailSums? = nil) -> Contrasts {
    let across = Cell.all(count: grid, from: frame.left, to: frame.right)
    let down = Cell.all(count: grid, from: frame.top, to: frame.bottom)
    var result = Contrasts(
      values: [Float](repeating: 0, count: grid * grid),
      isInside: [Bool](repeating: false, count: grid * grid))
    var total: Float = 0
    var count: Float = 0
    sums.withUnsafeBufferPointer { sums in
      for (row, y) in down.enumerated() where y.isInside {
        for (column, x) in across.enumerated() where x.isInside {
          if let surround, surround.mean(y.outer, x.outer) > Self.surroundShare { continue }
          let value = Float(
            Self.mean(sums, y.inner, x.inner) - Self.mean(sums, y.outer, x.outer))
          result.values[row * grid + column] = value
          result.isInside[row * grid + column] = true
          total += abs(value)
          count += 1
        }
      }
    }
    result.mean = count > 0 ? total / count : 0
    return result
  }

  private func mean(_ y: (Place, Place), _ x: (Place, Place)) -> Double {
    sums.withUnsafeBufferPointer { Self.mean($0, y, x) }
  }

  private static func mean(
    _ sums: UnsafeBufferPointer<Double>, _ y: (Place, Place), _ x: (Place, Place)
  ) -> Double {
    let area = (y.1.value - y.0.value) * (x.1.value - x.0.value)
    guard area > 0 else { return 0 }
    return (sum(sums, y.1, x.1) - sum(sums, y.0, x.1) - sum(sums, y.1, x.0) + sum(sums, y.0, x.0)) / area
  }

  private static func sum(_ sums: UnsafeBufferPointer<Double>, _ y: Place, _ x: Place) -> Double {
    let place = y.index * (side + 1) + x.index
    let (above, below) = (sums[place], sums[place + side + 1])
    let first = above + x.share * (sums[place + 1] - above)
    let second = below + x.share * (sums[place + side + 2] - below)
    return first + y.share * (second - first)
  }
}
