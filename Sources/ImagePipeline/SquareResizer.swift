/// Crops and resizes an image while it is decoded, row by row, so that the whole is never in memory: equal to the bit to
/// ``Preprocessor`` on the whole image.
///
/// Memory: `[S, size, 3]` bytes for an image whose shorter side is S, and some rows.
@safe package struct SquareResizer: ~Copyable {
  private let orientation: Orientation
  private let storedWidth: Int
  private let storedHeight: Int
  private let size: Int
  /// S: the side of the centre square.
  private let side: Int
  /// The place where the square begins in the upright image.
  private let (left, top): (Int, Int)
  private let weights: ResamplingWeights
  private var rowCount = 0

  /// `[S, size, 3]`: the square, resampled horizontally.
  private let middle: UnsafeMutablePointer<UInt8>
  /// Four upright rows of the square, which are resampled at once, and where each belongs.
  private let words: ResamplingWords
  private var rowPlaces: [Int] = []
  /// The four rows resampled, a byte behind each.
  private let resampled: UnsafeMutablePointer<UInt8>
  private let mirrored: UnsafeMutablePointer<UInt8>
  /// For images whose rows and columns change places: the sums of the output columns that have not had all of their inputs,
  /// `[S, 3]` each, and how many inputs are still to come.
  private var sums: [Int: (values: [Int32], missing: Int)] = [:]

  package init(storedWidth: Int, storedHeight: Int, orientation: Orientation, size: Int) {
    self.orientation = orientation
    self.storedWidth = storedWidth
    self.storedHeight = storedHeight
    self.size = size
    let (width, height) =
      orientation.transposes ? (storedHeight, storedWidth) : (storedWidth, storedHeight)
    side = min(width, height)
    (left, top) = ((width - side) / 2, (height - side) / 2)
    weights = ResamplingWeights(inputSize: side, outputSize: size)
    unsafe middle = .allocate(capacity: side * size * 3)
    words = ResamplingWords(count: side * 3)
    unsafe resampled = .allocate(capacity: 4 * (size * 3 + 1))
    unsafe mirrored = .allocate(capacity: side * 3)
  }

  deinit {
    unsafe middle.deallocate()
    unsafe resampled.deallocate()
    unsafe mirrored.deallocate()
  }

  /// The bytes that an image takes on its way through.
  ///
  /// - Parameter keepsSums: whether all output columns may wait for inputs at once: where rows and columns change places
  ///   and the rows are not in order.
  package static func byteCount(storedWidth: Int, storedHeight: Int, size: Int, keepsSums: Bool) -> Int {
    let side = min(storedWidth, storedHeight)
    return side * size * (keepsSums ? 15 : 3) + side * 51
  }

  /// Takes the stored row at `index`, `[width, 3]`; each once, in any order.
  package mutating func add(_ row: UnsafePointer<UInt8>, at index: Int) {
    precondition((0..<storedHeight).contains(index), "row \(index) of an image of \(storedHeight) rows")
    let place = orientation.mirrorsRows ? storedHeight - 1 - index : index
    rowCount += 1
    if orientation.transposes {
      unsafe addColumn(row, at: place - left)
    } else {
      unsafe addRow(row, at: place - top)
    }
  }

  /// The square at the network's size, after the last row.
  package mutating func finish() -> PixelImage {
    precondition(rowCount == storedHeight, "\(rowCount) rows of an image of \(storedHeight) rows")
    resampleWaitingRows()
    let rowBytes = size * 3
    return unsafe PixelImage(width: size, height: size) { result in
      for y in 0..<size {
        // The same weights serve both directions: the square is as high as it is wide.
        unsafe weights.combineRows(
          middle + weights.starts[y] * rowBytes, stride: rowBytes, count: rowBytes, output: y,
          result + y * rowBytes)
      }
    }
  }

  // MARK: Rows that are rows of the upright image

  private mutating func addRow(_ row: UnsafePointer<UInt8>, at y: Int) {
    guard (0..<side).contains(y) else { return }
    if orientation.mirrorsColumns {
      var source = unsafe row + (storedWidth - 1 - left) * 3
      for x in 0..<side {
        unsafe mirrored[x * 3] = unsafe source[0]
        unsafe mirrored[x * 3 + 1] = unsafe source[1]
        unsafe mirrored[x * 3 + 2] = unsafe source[2]
        unsafe source -= 3
      }
      unsafe words.set(rowPlaces.count, mirrored, for: weights)
    } else {
      unsafe words.set(rowPlaces.count, row + left * 3, for: weights)
    }
    rowPlaces.append(y)
    if rowPlaces.count == 4 { resampleWaitingRows() }
  }

  private mutating func resampleWaitingRows() {
    guard !rowPlaces.isEmpty else { return }
    let rowBytes = size * 3
    unsafe words.resample(weights, resampled, stride: rowBytes + 1)
    for (index, y) in rowPlaces.enumerated() {
      unsafe (middle + y * rowBytes).update(from: resampled + index * (rowBytes + 1), count: rowBytes)
    }
    rowPlaces.removeAll(keepingCapacity: true)
  }

  // MARK: Rows that are columns of the upright image

  private mutating func addColumn(_ row: UnsafePointer<UInt8>, at x: Int) {
    guard (0..<side).contains(x) else { return }
    // The part of the stored row that lies in the square.
    let start = orientation.mirrorsColumns ? storedWidth - top - side : top
    let source = unsafe row + start * 3
    for output in outputs(of: x) {
      var sum =
        unsafe sums.removeValue(forKey: output)
        ?? (
          [Int32](repeating: ResamplingWeights.half, count: side * 3),
          weights.counts[output]
        )
      let weight = unsafe weights.values[output * weights.windowSize + x - weights.starts[output]]
      unsafe sum.values.withUnsafeMutableBufferPointer { values in
        for index in 0..<values.count { unsafe values[index] &+= Int32(source[index]) &* weight }
      }
      sum.missing -= 1
      if sum.missing == 0 { store(sum.values, column: output) } else { sums[output] = sum }
    }
  }

  /// The outputs that the input `x` is a part of.
  private func outputs(of x: Int) -> Range<Int> {
    // Starts and ends never decrease.
    var first = 0
    var end = size
    while first < end {
      let middle = (first + end) / 2
      if unsafe weights.starts[middle] + weights.counts[middle] <= x {
        first = middle + 1
      } else {
        end = middle
      }
    }
    end = first
    while end < size, unsafe weights.starts[end] <= x { end += 1 }
    return first..<end
  }

  private func store(_ values: [Int32], column: Int) {
    for index in 0..<side {
      let y = orientation.mirrorsColumns ? side - 1 - index : index
      let target = unsafe middle + (y * size + column) * 3
      for channel in 0..<3 {
        unsafe target[channel] = UInt8(
          truncatingIfNeeded: min(values[index * 3 + channel] >> ResamplingWeights.precisionBits, 255))
      }
    }
  }
}
