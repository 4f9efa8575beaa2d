extension BilinearResizer {
  private static let half = Int32(1) << (ResamplingWeights.precisionBits - 1)

  @inline(__always)
  private static func clipped(_ sum: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(sum >> ResamplingWeights.precisionBits, 255))
  }

  /// Writes `[source.height, weights.counts.count, 3]`.
  static func horizontal(_ source: Rows, _ weights: ResamplingWeights, _ result: UnsafeMutablePointer<UInt8>)
  {
    var target = result
    weights.weights.withUnsafeBufferPointer { values in
      weights.starts.withUnsafeBufferPointer { starts in
        weights.counts.withUnsafeBufferPointer { counts in
          for y in 0..<source.height {
            let row = source.start + y * source.stride
            for output in 0..<starts.count {
              var pixel = row + starts[output] * 3
              var red = half
              var green = half
              var blue = half
              let first = output * weights.windowSize
              for index in first..<first + counts[output] {
                let weight = values[index]
                red &+= Int32(pixel[0]) &* weight
                green &+= Int32(pixel[1]) &* weight
                blue &+= Int32(pixel[2]) &* weight
                pixel += 3
              }
              target[0] = clipped(red)
              target[1] = clipped(green)
              target[2] = clipped(blue)
              target += 3
            }
          }
        }
      }
    }
  }

  /// Writes `[weights.counts.count, source.width, 3]`.
  static func vertical(_ source: Rows, _ weights: ResamplingWeights, _ result: UnsafeMutablePointer<UInt8>) {
    let rowBytes = source.width * 3
    weights.weights.withUnsafeBufferPointer { values in
      for output in 0..<weights.starts.count {
        let row = source.start + weights.starts[output] * source.stride
        let target = result + output * rowBytes
        let first = output * weights.windowSize
        for x in 0..<rowBytes {
          var sum = half
          var pixel = row + x
          for index in first..<first + weights.counts[output] {
            sum &+= Int32(pixel[0]) &* values[index]
            pixel += source.stride
          }
          target[x] = clipped(sum)
        }
      }
    }
  }
}
