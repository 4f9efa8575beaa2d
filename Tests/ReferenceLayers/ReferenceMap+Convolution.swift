/// Zeros around the input of a reference layer.
public enum ReferencePadding: Sendable, Equatable {
  /// TensorFlow's SAME: an output for every `stride`-th input, the zeros shared out with the odd one after.
  case same
  /// So many zeros on each side.
  case symmetric(Int)

  /// Zeros before the input and the number of outputs along one dimension, found by trying: every window must end within
  /// the padded input.
  public func resolve(input: Int, kernelSize: Int, stride: Int) -> (before: Int, count: Int) {
    switch self {
    case .symmetric(let zeros):
      var count = 0
      while count * stride + kernelSize <= input + 2 * zeros { count += 1 }
      return (zeros, count)
    case .same:
      var count = 0
      while count * stride < input { count += 1 }
      var total = 0
      while (count - 1) * stride + kernelSize > input + total { total += 1 }
      return (total / 2, count)
    }
  }
}

extension ReferenceMap {
  /// A convolution.
  ///
  /// - Parameters:
  ///   - weight: `OIHW`: `[bias.count, channels / groups, kernelSize, kernelSize]`.
  ///   - bias: One value for each output channel.
  public func convolution(
    weight: [Float], bias: [Float], kernelSize: Int = 1, stride: Int = 1, groups: Int = 1,
    padding: ReferencePadding = .symmetric(0)
  ) -> ReferenceMap {
    let (top, rows) = padding.resolve(input: height, kernelSize: kernelSize, stride: stride)
    let (left, columns) = padding.resolve(input: width, kernelSize: kernelSize, stride: stride)
    return convolution(
      weight: weight, bias: bias, kernelSize: kernelSize, stride: stride, groups: groups,
      top: top, left: left, outputHeight: rows, outputWidth: columns)
  }

  /// A convolution with so many zeros above and to the left, and so many outputs; zeros lie beyond the other edges too.
  public func convolution(
    weight: [Float], bias: [Float], kernelSize: Int, stride: Int, groups: Int, top: Int,
    left: Int, outputHeight: Int, outputWidth: Int
  ) -> ReferenceMap {
    let perGroup = channels / groups
    let outputsPerGroup = bias.count / groups
    precondition(
      weight.count == bias.count * perGroup * kernelSize * kernelSize,
      "\(weight.count) weights for [\(bias.count), \(perGroup), \(kernelSize), \(kernelSize)]")
    var result = ReferenceMap(height: outputHeight, width: outputWidth, channels: bias.count)
    for y in 0..<outputHeight {
      for x in 0..<outputWidth {
        for output in 0..<bias.count {
          var sum = Double(bias[output])
          var magnitude = abs(sum)
          for ky in 0..<kernelSize {
            let row = y * stride + ky - top
            if row < 0 || row >= height { continue }
            for kx in 0..<kernelSize {
              let column = x * stride + kx - left
              if column < 0 || column >= width { continue }
              for input in 0..<perGroup {
                let tap = ((output * perGroup + input) * kernelSize + ky) * kernelSize + kx
                let factor = Double(weight[tap])
                let place = index(row, column, output / outputsPerGroup * perGroup + input)
                sum += values[place] * factor
                magnitude += magnitudes[place] * abs(factor)
              }
            }
          }
          let place = result.index(y, x, output)
          result.values[place] = sum
          result.magnitudes[place] = magnitude
        }
      }
    }
    return result
  }

  /// A convolution of each channel by a window of its own.
  ///
  /// - Parameter weight: `[channels, 1, kernelSize, kernelSize]`
  public func depthwise(
    weight: [Float], bias: [Float], kernelSize: Int, stride: Int = 1,
    padding: ReferencePadding
  ) -> ReferenceMap {
    convolution(
      weight: weight, bias: bias, kernelSize: kernelSize, stride: stride, groups: channels,
      padding: padding)
  }

  /// A 1x1 convolution, which for one pixel is a dense layer.
  ///
  /// - Parameter weight: `[bias.count, channels]`
  public func pointwise(weight: [Float], bias: [Float]) -> ReferenceMap {
    convolution(weight: weight, bias: bias)
  }

  /// The greatest value under a window; padding is left out.
  public func maxPooling(kernelSize: Int, stride: Int, padding: ReferencePadding) -> ReferenceMap {
    let (top, rows) = padding.resolve(input: height, kernelSize: kernelSize, stride: stride)
    let (left, columns) = padding.resolve(input: width, kernelSize: kernelSize, stride: stride)
    var result = ReferenceMap(height: rows, width: columns, channels: channels)
    for y in 0..<rows {
      for x in 0..<columns {
        for channel in 0..<channels {
          var greatest = -Double.infinity
          for ky in 0..<kernelSize {
            for kx in 0..<kernelSize {
              let (row, column) = (y * stride + ky - top, x * stride + kx - left)
              if row < 0 || row >= height || column < 0 || column >= width { continue }
              greatest = max(greatest, values[index(row, column, channel)])
            }
          }
          result.values[result.index(y, x, channel)] = greatest
        }
      }
    }
    return result
  }

  /// The mean of each channel under a window; what lies outside the map is not counted.
  public func averagePooling(kernelSize: Int, stride: Int, padding: ReferencePadding) -> ReferenceMap {
    let (top, rows) = padding.resolve(input: height, kernelSize: kernelSize, stride: stride)
    let (left, columns) = padding.resolve(input: width, kernelSize: kernelSize, stride: stride)
    var result = ReferenceMap(height: rows, width: columns, channels: channels)
    for y in 0..<rows {
      for x in 0..<columns {
        for channel in 0..<channels {
          var (sum, magnitude, count) = (0.0, 0.0, 0.0)
          for row in y * stride - top..<y * stride - top + kernelSize where (0..<height).contains(row) {
            for column in x * stride - left..<x * stride - left + kernelSize
            where (0..<width).contains(column) {
              sum += values[index(row, column, channel)]
              magnitude += magnitudes[index(row, column, channel)]
              count += 1
            }
          }
          result.values[result.index(y, x, channel)] = sum / count
          result.magnitudes[result.index(y, x, channel)] = magnitude / count
        }
      }
    }
    return result
  }

  /// The channels of this map, then those of another.
  public func joined(with other: ReferenceMap) -> ReferenceMap {
    precondition(height == other.height && width == other.width, "maps of other pixels")
    var result = ReferenceMap(height: height, width: width, channels: channels + other.channels)
    for i in 0..<height * width {
      for c in 0..<result.channels {
        let isOwn = c < channels
        let place = isOwn ? i * channels + c : i * other.channels + c - channels
        result.values[i * result.channels + c] = isOwn ? values[place] : other.values[place]
        result.magnitudes[i * result.channels + c] = isOwn ? magnitudes[place] : other.magnitudes[place]
      }
    }
    return result
  }
}
