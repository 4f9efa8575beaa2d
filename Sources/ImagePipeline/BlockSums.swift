/// The blocks that an image is measured by, rather than by its pixels.
enum BlockSums {
  /// Pixels of a side of a block.
  private static let side = 20
  /// Pixels of a block.
  static let pixelCount = side * side

  /// The sums of red, green and blue of every whole block, row-major.
  static func of(_ image: PixelImage) -> [SIMD3<Int>] {
    let (count, stride) = (image.width / side, image.width * 3)
    var sums: [SIMD3<Int>] = []
    sums.reserveCapacity(count * count)
    image.pixels.withUnsafeBufferPointer { pixels in
      withUnsafeTemporaryAllocation(of: UInt16.self, capacity: stride) { columns in
        for blockRow in 0..<count {
          // Whole rows first, which is one vector instruction for many values: 20 x 255 fits.
          columns.initialize(repeating: 0)
          for row in blockRow * side..<(blockRow + 1) * side {
            let line = UnsafeBufferPointer(rebasing: pixels[row * stride..<(row + 1) * stride])
            for index in 0..<stride { columns[index] &+= UInt16(line[index]) }
          }
          for blockColumn in 0..<count {
            var (red, green, blue) = (0, 0, 0)
            for column in blockColumn * side..<(blockColumn + 1) * side {
              red += Int(columns[column * 3])
              green += Int(columns[column * 3 + 1])
              blue += Int(columns[column * 3 + 2])
            }
            sums.append(SIMD3(red, green, blue))
          }
        }
      }
    }
    return sums
  }
}
