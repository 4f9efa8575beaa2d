/// The share of each pixel of a rectangle that closed shapes cover: antialiasing by exact areas.
///
/// Each edge adds, in the pixels that it passes, the signed area between itself and the right border of the pixel. The
/// running sum along a row is then the winding number of each pixel's area. This is how the rasteriser of font-rs works.
struct Coverage {
  let width: Int
  let height: Int
  /// `[height, width + 1]`: the change from the pixel on the left.
  private var changes: [Float]

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    changes = [Float](repeating: 0, count: (width + 1) * height)
  }

  /// 0...1 for each pixel, `[height, width]`.
  var values: [Float] {
    var values: [Float] = []
    values.reserveCapacity(width * height)
    for row in 0..<height {
      var sum: Float = 0
      for column in 0..<width {
        sum += changes[row * (width + 1) + column]
        values.append(min(abs(sum), 1))
      }
    }
    return values
  }

  /// Adds a polygon's edges; the last point is joined to the first.
  mutating func add(_ polygon: [SIMD2<Float>]) {
    guard var previous = polygon.last else { return }
    for point in polygon {
      addEdge(previous, point)
      previous = point
    }
  }

  private mutating func addEdge(_ start: SIMD2<Float>, _ end: SIMD2<Float>) {
    if start.y == end.y { return }
    let direction: Float = start.y < end.y ? 1 : -1
    let (top, bottom) = start.y < end.y ? (start, end) : (end, start)
    let slope = (bottom.x - top.x) / (bottom.y - top.y)
    let firstRow = max(Int(top.y.rounded(.down)), 0)
    for row in firstRow..<max(min(Int(bottom.y.rounded(.up)), height), firstRow) {
      let upper = max(Float(row), top.y)
      let lower = min(Float(row + 1), bottom.y)
      if lower <= upper { continue }
      addSegment(
        row: row, from: top.x + (upper - top.y) * slope, to: top.x + (lower - top.y) * slope,
        area: (lower - upper) * direction)
    }
  }

  /// - Parameter area: the signed height of the part of an edge that lies in this row.
  private mutating func addSegment(row: Int, from first: Float, to second: Float, area: Float) {
    let limit = Float(width)
    let left = min(max(min(first, second), 0), limit)
    let right = min(max(max(first, second), 0), limit)
    let base = row * (width + 1)
    let firstColumn = Int(left)
    let lastColumn = min(Int(right), width)
    if firstColumn == lastColumn {
      // This pixel is covered by its mean distance to its right border, all to its right wholly.
      let share = 1 - ((left + right) / 2 - Float(firstColumn))
      changes[base + firstColumn] += area * share
      if firstColumn < width { changes[base + firstColumn + 1] += area * (1 - share) }
      return
    }
    let perPixel = area / (right - left)
    for column in firstColumn...lastColumn {
      let from = max(left, Float(column))
      let to = min(right, Float(column + 1))
      if to <= from { continue }
      let part = perPixel * (to - from)
      let share = 1 - ((from + to) / 2 - Float(column))
      changes[base + column] += part * share
      if column < width { changes[base + column + 1] += part * (1 - share) }
    }
  }
}

extension Coverage {
  /// Adds a line of text, whose size is in pixels an em and whose base line begins at `origin`.
  ///
  /// - Parameter isUpward: read from below to above, the text turned by a quarter to the left.
  mutating func add(
    _ text: String, origin: SIMD2<Float>, size: Float, weight: Typeface.Weight, isUpward: Bool = false
  ) {
    let scale = size / Typeface.unitsPerEm
    var pen: Float = 0
    for character in text.unicodeScalars {
      let glyph = Typeface.glyph(of: character, weight: weight)
      for contour in glyph.contours {
        let points = contour.map { point -> (position: SIMD2<Float>, isOnCurve: Bool) in
          let (along, above) = ((pen + point.x) * scale, point.y * scale)
          return (
            isUpward ? SIMD2(origin.x - above, origin.y - along) : SIMD2(origin.x + along, origin.y - above),
            point.isOnCurve
          )
        }
        add(Self.flattened(points))
      }
      pen += glyph.advance
    }
  }

  mutating func addCircle(centre: SIMD2<Float>, radius: Float) {
    // The four control points of quadratic curves would be 2 % off; eight are 0.1 %: less than a grey level of an icon.
    let (c, t): (Float, Float) = (0.70710678, 0.41421356)
    let on: [SIMD2<Float>] = [[1, 0], [c, c], [0, 1], [-c, c], [-1, 0], [-c, -c], [0, -1], [c, -c]]
    let off: [SIMD2<Float>] = [
      [1, t], [t, 1], [-t, 1], [-1, t], [-1, -t], [-t, -1], [t, -1], [1, -t],
    ]
    var points: [(position: SIMD2<Float>, isOnCurve: Bool)] = []
    for index in 0..<8 {
      points.append((position: centre + on[index] * radius, isOnCurve: true))
      points.append((position: centre + off[index] * radius, isOnCurve: false))
    }
    add(Self.flattened(points))
  }

  /// A closed contour of quadratic curves as a polygon.
  private static func flattened(_ points: [(position: SIMD2<Float>, isOnCurve: Bool)]) -> [SIMD2<Float>] {
    guard let first = points.first, let last = points.last else { return [] }
    guard let start = points.firstIndex(where: { $0.isOnCurve }) else {
      // All are control points, as of a dot: between two of them lies a point on the curve.
      return flattened([((last.position + first.position) / 2, true)] + points)
    }
    let count = points.count
    var polygon = [points[start].position]
    var index = 1
    while index <= count {
      let point = points[(start + index) % count]
      if point.isOnCurve {
        polygon.append(point.position)
        index += 1
        continue
      }
      let next = points[(start + index + 1) % count]
      let end = next.isOnCurve ? next.position : (point.position + next.position) / 2
      let from = polygon[polygon.count - 1]
      for step in 1...Self.curveSteps {
        let t = Float(step) / Float(Self.curveSteps)
        polygon.append(from * ((1 - t) * (1 - t)) + point.position * (2 * t * (1 - t)) + end * (t * t))
      }
      index += next.isOnCurve ? 2 : 1
    }
    return polygon
  }

  /// Lines for each curve: at the sizes of captions they stay within a hundredth of a pixel.
  private static let curveSteps = 6
}
